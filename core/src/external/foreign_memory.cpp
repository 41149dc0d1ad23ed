#include "external/foreign_memory.hpp"

#include <exception>
#include <mutex>
#include <utility>

#include "external/foreign_checks.hpp"
#include "ferry/core/detail/accounting/memory_accounting.hpp"
#include "ferry/core/detail/ordering/access_guard.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "ordering/capture.hpp"
#include "pools/block_uses.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Bytes reserved as pinned; the destructor releases those that are not used.
struct pinned_reservation {
  memory_accounting& accounting;
  std::size_t bytes = 0;
  ~pinned_reservation() { accounting.pools().remove_pinned(bytes); }
};

}  // namespace

foreign_memory::foreign_memory(runtime& m)
    : memory_resource(m.backend()),
      runtime_(m),
      blocks_(*this),
      ranges_(m.backend(), [this](auto leaving, const auto& change) { blocks_.while_unused(leaving, change); }),
      deleters_(m.streams(), m.devices().size(), blocks_) {}

std::size_t foreign_memory::count() const {
  std::lock_guard lock(blocks_);
  return blocks_.size();
}

allocation* foreign_memory::at(const std::byte* p) const {
  const std::unique_lock lock(blocks_, std::try_to_lock);
  // The lock may be held while the end of a borrow waits for work: a check must not wait for that.
  if (!lock) return nullptr;
  for (const foreign_block& e : blocks_)
    if (!e.is_ending && e.bytes.begin <= p && p < e.bytes.end) return e.what;
  return nullptr;
}

allocation_ref foreign_memory::borrow(byte_range bytes, memory_kind kind, const borrow_options& how,
                                      borrow_method way) {
  const bool pin = way == borrow_method::pinned;
  const foreign_verb of = pin ? foreign_verb::pin : foreign_verb::borrow;
  refuse_inside_submission(name_of(of));
  refuse_inside_capture(name_of(of));
  check_stream(runtime_, how);
  refuse_own(runtime_, bytes, of);
  pinned_reservation reserved{runtime_.memory()};
  std::unique_lock lock(blocks_);
  known_memory memory = known_memory_at(backend(), ranges_, bytes, kind, of, how.name);
  // No lock is held during the reservation, because callbacks of the program may end borrows in it. Meanwhile other
  // threads may unpin ranges that this pin was to share: then more bytes must be reserved.
  for (std::size_t more = 0; pin && !memory.is_known && (more = ranges_.growth(bytes)) > reserved.bytes;) {
    lock.unlock();
    const std::size_t missing = more - reserved.bytes;
    runtime_.memory().reserve_pinned(missing, how.stream ? how.stream->timeline().device() : default_device().index());
    reserved.bytes = more;
    lock.lock();
    memory = known_memory_at(backend(), ranges_, bytes, kind, of, how.name);
  }
  deleters_.take_over_late_ones();
  if (way == borrow_method::known && !memory.is_known)
    throw invalid_argument("borrow of " + text_of(bytes, how.name) +
                           ": this is memory of the CPU, which is not registered with the driver (malloc, new, "
                           "std::vector): pin it with ferry::pin(span), or copy it into an array with array::from");
  const int device = memory.is_known && kind != memory_kind::host ? memory.device
                     : how.stream                                 ? how.stream->timeline().device()
                                                                  : default_device().index();
  const auto e = blocks_.enter(bytes, kind, device, how);
  try {
    if (pin && !memory.is_known) {
      const std::size_t pinned_before = ranges_.bytes();
      ranges_.add(bytes);
      reserved.bytes -= ranges_.bytes() - pinned_before;
    }
  } catch (...) {
    if (e->borrows == 0) blocks_.erase(e);
    throw;
  }
  allocation_ref owner = e->borrows == 0 ? allocation_ref::first(*e->what) : allocation_ref::another(*e->what);
  ++e->borrows;
  return owner;
}

allocation_ref foreign_memory::adopt(byte_range bytes, memory_kind kind, const borrow_options& how, bool wants_stream,
                                     block_deleter deleter) {
  refuse_inside_submission("adopt");
  refuse_inside_capture("adopt");
  check_stream(runtime_, how);
  refuse_own(runtime_, bytes, foreign_verb::adopt);
  collect();
  std::lock_guard lock(blocks_);
  deleters_.take_over_late_ones();
  const known_memory memory = known_memory_at(backend(), ranges_, bytes, kind, foreign_verb::adopt, how.name);
  if (!memory.is_known)
    throw invalid_argument(
        "adopt of " + text_of(bytes, how.name) +
        ": this is memory of the CPU, which is not registered with the driver (malloc, new, std::vector): copy it "
        "into an array with array::from, or pin it with ferry::pin(span) for as long as it is used");
  for (const foreign_block& e : blocks_)
    if (!e.is_ending && e.bytes.overlaps(bytes))
      throw invalid_argument("adopt of " + text_of(bytes, how.name) +
                             ": some of them are borrowed, pinned or adopted already, and would be freed under their "
                             "user: end that first");
  const int device = kind == memory_kind::host ? default_device().index() : memory.device;
  const auto e = blocks_.enter(bytes, kind, device, how);
  e->wants_stream = wants_stream;
  e->deleter = std::move(deleter);
  return allocation_ref::first(*e->what);
}

void foreign_memory::end(allocation_ref& owner, byte_range bytes, bool pinned, const stream_ref* before, freed_by how) {
  refuse_inside_submission("end a borrow");
  allocation& a = *owner.unchecked();
  bool is_last = false;
  {
    std::lock_guard lock(blocks_);
    const auto e = blocks_.find(a);
    is_last = --e->borrows == 0;
    e->is_ending = is_last;
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
    std::lock_guard lock(blocks_);
    const std::size_t pinned_before = ranges_.bytes();
    try {
      if (pinned) ranges_.remove(bytes);
    } catch (const error&) {
      if (!failed) failed = std::current_exception();
    }
    runtime_.memory().pools().remove_pinned(pinned_before - ranges_.bytes());
    if (is_last) blocks_.erase(blocks_.find(a));
  }
  owner = {};
  if (failed) std::rethrow_exception(failed);
}

}  // namespace ferry::inline FERRY_ABI::detail
