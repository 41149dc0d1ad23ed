#include "external/foreign_memory.hpp"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

#include "external/foreign_uses.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/ordering/array_text.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "ordering/capture.hpp"
#include "runtime/other_runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Nodes outlive their runtime, because stale references may read them.
allocation* new_node() {
  static std::mutex mutex;
  static auto* all = new std::list<allocation>;
  std::lock_guard lock(mutex);
  return &all->emplace_back();
}

// Bytes reserved as pinned; the destructor releases those that are not used.
struct pin_booking {
  memory_accounting& books;
  std::size_t bytes = 0;
  ~pin_booking() { books.pools().remove_pinned(bytes); }
};

}  // namespace

foreign_memory::foreign_memory(runtime& m)
    : memory_resource(m.backend()),
      runtime_(m),
      ranges_(m.backend(), [this](auto leaving, const auto& change) { while_unused(leaving, change); }),
      giving_back_(m.devices().size(), nullptr) {}

foreign_memory::~foreign_memory() {
  run_deleters(true);
  for (timeline* t : giving_back_)
    if (t) runtime_.streams().give_back(*t);
}

std::size_t foreign_memory::count() const {
  std::lock_guard lock(mutex_);
  return entries_.size();
}

allocation* foreign_memory::at(const std::byte* p) const {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  // The lock may be held while the end of a borrow waits for work: a check must not wait for that.
  if (!lock) return nullptr;
  for (const entry& e : entries_)
    if (!e.ending && e.bytes.begin <= p && p < e.bytes.end) return e.what;
  return nullptr;
}

void foreign_memory::check_stream(const borrow_options& how) const {
  if (!how.stream) return;
  timeline& line = how.stream->timeline();
  if (&line.registry() != &runtime_.streams()) throw_other_runtime("the stream");
  if (line.is_special()) refuse_special(line);
}

const char* foreign_memory::name_of(verb v) {
  switch (v) {
    case verb::borrow: return "borrow";
    case verb::pin: return "pin";
    case verb::adopt: return "adopt";
  }
  return "?";
}

foreign_memory::known_memory foreign_memory::look_at(byte_range bytes, memory_kind kind, verb of,
                                                     const std::string& name) const {
  const bool pin = of == verb::pin;
  pointer_attributes first = backend().attributes(bytes.begin), last = backend().attributes(bytes.end - 1);
  if (pin)  // the range may be pinned already, by another pin
    for (const auto& [end, what] : {std::pair{bytes.begin, &first}, {bytes.end - 1, &last}})
      if (ranges_.has(end)) *what = {};
  const std::string what = std::string(name_of(of)) + " of " + text_of(bytes, name);
  if (first.is_known != last.is_known || (first.is_known && (first.kind != last.kind || first.device != last.device)))
    throw invalid_argument(what + ": they begin and end in different memory: check the extents");
  if (first.is_known && first.kind != kind && pin)
    throw invalid_argument(what + ": this is " + kind_name(first.kind) +
                           " memory, and only memory of the CPU is pinned: use it as it is with ferry::borrow<ferry::"
                           "memory_kind::" +
                           kind_name(first.kind) + ">(pointer, extents)");
  if (first.is_known && first.kind != kind)
    throw invalid_argument(what + ": this is " + kind_name(first.kind) + " memory, and was taken for " +
                           kind_name(kind) + " memory: write ferry::" + name_of(of) +
                           "<ferry::memory_kind::" + kind_name(first.kind) + ">(...)");
  return {first.is_known, first.device};
}

// Throws invalid_argument if the bytes belong to a pool of ferry: two access histories that do not see each other would
// order work on them. Searches all blocks.
void foreign_memory::refuse_own(byte_range bytes, verb of) const {
  const pointer_attributes memory = backend().attributes(bytes.begin);
  if (!memory.is_known) return;  // pools contain only memory that the driver reports
  std::optional<block_info> own;
  runtime_.memory().pools().each([&](memory_source& s) {
    if (own || s.kind() != memory.kind || (memory.kind == memory_kind::device && s.device() != memory.device)) return;
    s.each_block([&](const block_info& b) {
      if (!own && byte_range{b.begin, b.begin + b.bytes}.overlaps(bytes)) own = b;
    });
  });
  if (!own) return;
  const std::string what = std::string(name_of(of)) + " of " + text_of(bytes, {}) + ": ";
  if (own->is_free || own->is_kept)
    throw invalid_argument(what + "they are of a pool of ferry, and the array that had them is gone");
  throw invalid_argument(
      what + "they belong to " + quoted_name(label_text(label_kind::name, own->name)) + " of ferry (" +
      kind_name(memory.kind) + " memory, " + std::to_string(own->bytes) +
      " bytes), and their work would not be ordered against that of the array: use the array itself, "
      "or a view of it (slice, reshape)");
}

allocation_ref foreign_memory::borrow(byte_range bytes, memory_kind kind, const borrow_options& how,
                                      borrow_method way) {
  const bool pin = way == borrow_method::pinned;
  const verb of = pin ? verb::pin : verb::borrow;
  refuse_inside_submission(name_of(of));
  refuse_inside_capture(name_of(of));
  check_stream(how);
  refuse_own(bytes, of);
  pin_booking booked{runtime_.memory()};
  std::unique_lock lock(mutex_);
  known_memory memory = look_at(bytes, kind, of, how.name);
  // No lock is held during the reservation, because callbacks of the program may end borrows in it. Meanwhile other
  // threads may unpin ranges that this pin was to share: then more bytes must be reserved.
  for (std::size_t more = 0; pin && !memory.is_known && (more = ranges_.growth(bytes)) > booked.bytes;) {
    lock.unlock();
    const std::size_t missing = more - booked.bytes;
    runtime_.memory().reserve_pinned(missing, how.stream ? how.stream->timeline().device() : default_device().index());
    booked.bytes = more;
    lock.lock();
    memory = look_at(bytes, kind, of, how.name);
  }
  take_over_late_ones();
  if (way == borrow_method::known && !memory.is_known)
    throw invalid_argument("borrow of " + text_of(bytes, how.name) +
                           ": this is memory of the CPU that the driver does not know (malloc, new, std::vector): pin "
                           "it with ferry::pin(span), or copy it into an array with array::from");
  const int device = memory.is_known && kind != memory_kind::host ? memory.device
                     : how.stream                                 ? how.stream->timeline().device()
                                                                  : default_device().index();
  const auto e = enter(bytes, kind, device, how);
  try {
    if (pin && !memory.is_known) {
      const std::size_t pinned_before = ranges_.bytes();
      ranges_.add(bytes);
      booked.bytes -= ranges_.bytes() - pinned_before;
    }
  } catch (...) {
    if (e->loans == 0) erase(e);
    throw;
  }
  allocation_ref owner = e->loans == 0 ? allocation_ref::first(*e->what) : allocation_ref::another(*e->what);
  ++e->loans;
  return owner;
}

// Returns the entry of bytes that are about to be borrowed or adopted: a new one, or that of a borrow which overlaps
// them.
foreign_memory::entries::iterator foreign_memory::enter(byte_range bytes, memory_kind kind, int device,
                                                        const borrow_options& how) {
  auto shared = entries_.end();
  for (auto e = entries_.begin(); e != entries_.end(); ++e) {
    if (e->ending || !e->bytes.overlaps(bytes)) continue;
    if (e->loans == 0)
      throw invalid_argument(text_of(bytes, how.name) + " belong to " + array_text(*e->what) +
                             ", which adopted them: use that array, or views of it");
    if (shared != entries_.end())
      throw invalid_argument(
          text_of(bytes, how.name) +
          " overlap several borrows, whose work is not ordered against each other: borrow or pin the "
          "whole first, and then the parts");
    shared = e;
  }
  if (shared == entries_.end()) {
    if (spare_.empty()) {
      spare_.reserve(++nodes_);  // giving nodes back must not fail
      spare_.push_back(new_node());
    }
    shared = entries_.insert(entries_.end(), entry{spare_.back(), bytes});
    spare_.pop_back();
    allocation& a = *shared->what;
    a.resource = this;
    a.begin = const_cast<std::byte*>(bytes.begin);
    a.bytes = bytes.size();
    a.kind = kind;
    a.device = static_cast<std::int8_t>(device);
    a.name = how.name;
    a.history.invalidate();
  } else {
    allocation& a = *shared->what;
    std::lock_guard lock(a.history);  // other threads may use it: see range_now
    a.history.invalidate();           // earlier host access checks do not cover the additional bytes
    shared->bytes = {std::min(shared->bytes.begin, bytes.begin, std::less<>{}),
                     std::max(shared->bytes.end, bytes.end, std::less<>{})};
    a.begin = const_cast<std::byte*>(shared->bytes.begin);
    a.bytes = shared->bytes.size();
  }
  try {
    take_over_uses(*shared->what, bytes);
    if (!how.stream) return shared;
    timeline& line = how.stream->timeline();
    access_history& log = shared->what->history;
    std::lock_guard lock(log);
    log.reserve(1);
    log.add_beside(line, line.fence(), bytes, true);  // fenced with the history locked: it contains no later ticket yet
    if (line.records_always()) line.record_event();
  } catch (...) {
    if (shared->loans == 0) erase(shared);
    throw;
  }
  return shared;
}

// Borrows of these bytes that are ending may still be in use.
void foreign_memory::take_over_uses(allocation& a, byte_range bytes) {
  for (const entry& e : entries_) {
    if (!e.ending || e.what == &a || !e.bytes.overlaps(bytes)) continue;
    const bool in_order = std::less<>{}(&a, e.what);  // as guards lock them
    std::lock_guard first(in_order ? a.history : e.what->history);
    std::lock_guard second(in_order ? e.what->history : a.history);
    a.history.merge(e.what->history);
  }
}

void foreign_memory::end(allocation_ref& owner, byte_range bytes, bool pinned, const stream_ref* before, freed_by how) {
  refuse_inside_submission("end a borrow");
  allocation& a = *owner.unchecked();
  bool is_last = false;
  {
    std::lock_guard lock(mutex_);
    const auto e = find(a);
    is_last = --e->loans == 0;
    e->ending = is_last;
  }
  if (is_last) owner.free(how);  // views are stale from here on
  std::exception_ptr failed;
  try {
    if (before)
      follow_all_uses(before->timeline(), a, bytes);
    else
      wait_for_all_uses(a, bytes);
  } catch (const error&) {
    failed = std::current_exception();
  }
  {
    std::lock_guard lock(mutex_);
    const std::size_t pinned_before = ranges_.bytes();
    try {
      if (pinned) ranges_.remove(bytes);
    } catch (const error&) {
      if (!failed) failed = std::current_exception();
    }
    runtime_.memory().pools().remove_pinned(pinned_before - ranges_.bytes());
    if (is_last) erase(find(a));
  }
  owner = {};
  if (failed) std::rethrow_exception(failed);
}

// Parts that stay pinned may be in use again at any time. So the histories are locked during the change.
void foreign_memory::while_unused(std::span<const byte_range> ranges, const std::function<void()>& change) {
  std::vector<allocation*> users;
  for (const entry& e : entries_)
    if (std::any_of(ranges.begin(), ranges.end(), [&](const byte_range& r) { return r.overlaps(e.bytes); }))
      users.push_back(e.what);
  std::sort(users.begin(), users.end(), std::less<>{});
  struct unlock {
    const std::vector<allocation*>& users;
    ~unlock() {
      for (allocation* a : users) a->history.unlock();
    }
  };
  for (;;) {
    for (allocation* a : users) wait_for_all_uses(*a, a->range());
    for (allocation* a : users) a->history.lock();
    const unlock later{users};
    const bool unused = std::all_of(users.begin(), users.end(), [](allocation* a) {
      const auto& uses = a->history.uses();
      return std::all_of(uses.begin(), uses.end(), [](const access_record& u) { return u.by->finished(u.at); });
    });
    if (unused) return change();
  }
}

foreign_memory::entries::iterator foreign_memory::find(const allocation& a) {
  return std::find_if(entries_.begin(), entries_.end(), [&](const entry& e) { return e.what == &a; });
}

void foreign_memory::erase(entries::iterator e) noexcept {
  allocation& a = *e->what;
  {
    std::lock_guard lock(a.history);
    a.history.invalidate();
    a.history.clip_to({});
  }
  a.begin = nullptr;
  a.bytes = 0;
  spare_.push_back(&a);
  entries_.erase(e);
}

}  // namespace ferry::inline FERRY_ABI::detail
