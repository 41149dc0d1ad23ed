#include "ferry/core/copy.hpp"

#include <algorithm>
#include <deque>
#include <optional>

#include "backend/cpu_strided.hpp"
#include "copies/copy_operation.hpp"
#include "ferry/core/detail/copies/begun_upload.hpp"
#include "ferry/core/detail/copies/out_of_reach.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/fill.hpp"
#include "ordering/capture.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

int home_of(const copy_side& s) { return s.owner->get(s.at).device; }

// The graph would hold an address of the CPU, and no call could wait until it is read or written.
void refuse_memory_of_the_cpu_in_capture(const copy_side& to, const copy_side& from) {
  if (!this_thread_state.capture || (is_array(to) && is_array(from))) return;
  const copy_side& known = is_array(to) ? to : from;
  const access use{&known.owner->get(known.at), known.bytes, is_array(to), false, known.at};
  this_thread_state.capture->refuse("a copy to or from memory of the CPU", {&use, 1});
}

// Fast path for contiguous bytes that one backend call copies: no plan and no allocation. Returns false if it does not
// apply.
bool copy_at_once(stream_ref s, const copy_side& to, const copy_side& from, std::size_t bytes) {
  if (!is_array(to) || !is_array(from) || !to.contiguous || !from.contiguous) return false;
  runtime& m = runtime::current();
  const int here = s.timeline().device();
  const planned_route plan(m.copies(), here, to, from, bytes);
  if (!plan.is_one_call()) return false;
  access_list<2> uses;
  uses.add(*to.owner, to.bytes, true, false, to.at);
  uses.add(*from.owner, from.bytes, false, false, from.at);
  const stream_ref given = plan.on == here ? s : default_stream(device(plan.on));
  submit_ordered(given, uses.get(), reach::by_copy, [&](native_stream n) {
    if (plan.way.kind == route_kind::peer)
      m.backend().copy_peer(n, to.data, plan.to.on, from.data, plan.from.on, bytes);
    else
      m.backend().copy(n, to.data, from.data, bytes);
  });
  return true;
}

strided_bytes strided(const copy_side& s) { return {s.data, s.stride_bytes}; }

// Copies elements on the CPU, when the two sides do not overlap.
void copy_apart(const copy_request& w) {
  if (w.converts())
    convert_on_cpu(strided(w.to), strided(w.from), w.shape, converter(w.to_type, w.from_type));
  else
    copy_on_cpu(strided(w.to), strided(w.from), w.shape);
}

// Allocates contiguous memory in `memory`, and returns a side of it with the shape of a request.
copy_side packed_in(std::vector<std::byte>& memory, const strided_shape& shape, std::size_t element_bytes) {
  strided_shape packed = shape;
  packed.element_bytes = element_bytes;
  memory.resize(bytes_of(packed));
  copy_side side;
  side.data = memory.data();
  row_major_strides(side, shape, element_bytes);
  return side;
}

// For a side that is no array and that the CPU accesses: throws invalid_argument if it is device memory.
void need_memory_of_the_cpu(const copy_side& side) {
  const pointer_attributes p = runtime::current().backend().attributes(side.data);
  if (p.is_known && p.kind == memory_kind::device)
    throw invalid_argument(concat("copy of memory of the CPU: a span or mdspan is of memory of device ", p.device,
                                  ": give the array, or ferry::borrow it first"));
}

// Copies between two sides that are no arrays, on the CPU. Uses several threads for large contiguous sides.
void copy_of_the_cpu(const stream_ref* s, const copy_request& w) {
  refuse_inside_submission("copy");
  if (this_thread_state.capture) this_thread_state.capture->refuse("a copy between memory of the CPU", {});
  for (const copy_side* side : {&w.to, &w.from}) need_memory_of_the_cpu(*side);
  if (s) s->synchronize();
  strided_shape target = w.shape;
  if (w.converts()) target.element_bytes = size_of(w.to_type);
  const kernel_use to = bounding_range(strided(w.to), target, true),
                   from = bounding_range(strided(w.from), w.shape, false);
  if (to.begin < from.begin + from.bytes && from.begin < to.begin + to.bytes) {
    copy_request part = w;
    std::vector<std::byte> memory;
    part.to = packed_in(memory, w.shape, target.element_bytes);
    copy_apart(part);
    part.to = w.to, part.from = packed_in(memory, w.shape, target.element_bytes);
    part.from_type = w.to_type, part.shape = target;
    return copy_apart(part);
  }
  copy_engine& engine = runtime::current().copies();
  const route_choice way = engine.choose(pageable_memory, pageable_memory, from.bytes);
  if (w.converts() || !w.to.contiguous || !w.from.contiguous || way.kind != route_kind::parallel) return copy_apart(w);
  copy_workers::job all{w.to.data, w.from.data, from.bytes};
  copy_workers& workers = engine.workers(0);
  workers.start(all);
  workers.wait(all);
}

// Copies strided memory of the CPU through contiguous memory of the CPU. The copy between that and the array blocks.
void copy_packed(const stream_ref* s, const copy_request& w) {
  need_memory_of_the_cpu(is_array(w.to) ? w.from : w.to);
  std::vector<std::byte> memory;
  copy_request part = w;
  part.to_type = part.from_type = number_type::none;
  if (is_array(w.to)) {
    part.to = packed_in(memory, w.shape, w.shape.element_bytes);
    copy_apart(part);
    return copy_elements(s, w.to, part.to, w.shape, w.to_type, w.from_type);
  }
  part.shape.element_bytes = w.converts() ? size_of(w.to_type) : w.shape.element_bytes;
  part.from = packed_in(memory, w.shape, part.shape.element_bytes);
  copy_elements(s, part.from, w.from, w.shape, w.to_type, w.from_type);
  copy_apart(part);
}

// Throws if the copy cannot be submitted.
void need_sides(stream_ref s, const copy_side& to, const copy_side& from) {
  refuse_inside_submission("copy");
  refuse_memory_of_the_cpu_in_capture(to, from);
  access_list<2> sides;
  for (const copy_side* side : {&to, &from})
    if (is_array(*side)) sides.add(*side->owner, side->bytes, side == &to, false, side->at);
  need_current(s, sides.get());
}

void count_copied(std::size_t bytes) { runtime::current().copies().count(bytes); }

void enqueue_to(stream_ref s, copy_operation& whole) {
  std::vector<access> uses;
  whole.add_uses(uses);
  submit_ordered(s, uses, reach::by_copy, [&](native_stream n) { whole.enqueue(n); });
}

// Waits after uploads, too: a span given to ferry may be pinned memory, which is read later (host_span, MPI). Returns
// false if the copy must be repeated: the stream has lost work (R19) and the copy with it, but the source is intact. It
// repeats at most once for each failed device.
bool enqueue_and_wait(stream_ref s, copy_operation& whole, const copy_side& to, const copy_side& from) {
  enqueue_to(s, whole);
  if (!whole.needs_wait()) return true;
  timeline& on = s.timeline();
  const ticket at = on.last();
  on.wait(at);
  if (const timelines& streams = on.registry(); streams.task_failures()->any()) [[unlikely]]
    streams.raise_task_failures(
        is_array(from) ? use_text({&from.owner->get(from.at), from.bytes, false, false, from.at}) : std::string());
  if (!on.is_lost(at)) return true;
  if (!is_array(to)) {
    allocation& source = from.owner->get(from.at);
    std::lock_guard lock(source.history);
    refuse_lost(source, from.bytes, from.at);
    return false;
  }
  on.throw_lost("what was copied", at);
}

}  // namespace

struct begun_upload::parts {
  parts(stream_ref s, const copy_side& to, const copy_side& from, const strided_shape& shape)
      : owner(*to.owner),
        on(s),
        bytes(bytes_of(shape)) {
    whole.emplace(s, copy_request{owned(to), from, shape}, true);
    read_later = whole->needs_wait();
  }
  copy_side owned(copy_side side) const {
    side.owner = &owner;
    return side;
  }
  const allocation_ref owner;
  const stream_ref on;
  const std::size_t bytes;
  std::optional<copy_operation> whole;  // until it is enqueued
  bool read_later = false;
  ticket at = 0;
};

begun_upload::begun_upload(stream_ref s, const copy_side& to, const copy_side& from, const strided_shape& shape) {
  need_sides(s, to, from);
  parts_ = make_owning<parts>(s, to, from, shape);
}
begun_upload::~begun_upload() = default;
begun_upload::begun_upload(begun_upload&&) noexcept = default;

void begun_upload::enqueue() {
  struct give_back {  // Returns resources that others can use now. After an exception, a part may have been enqueued.
    parts& p;
    ~give_back() {
      p.at = p.on.timeline().last();
      p.whole.reset();
    }
  } after{*parts_};
  count_copied(parts_->bytes);
  enqueue_to(parts_->on, *parts_->whole);
}

bool begun_upload::is_read_later() const { return parts_->read_later; }

void begun_upload::wait_until_read() { parts_->on.timeline().wait_checked(parts_->at); }

void throw_shapes_differ(const std::string& from, const std::string& to, source_line at) {
  throw invalid_argument("copy from " + from + " to " + to + in_line(at) + ": the shapes must be equal");
}

void throw_counts_differ(const std::string& from, const std::string& to, source_line at) {
  throw invalid_argument("copy from " + from + " to " + to + in_line(at) + ": the numbers of elements must be equal");
}

void copy_elements(const stream_ref* given, const copy_side& to, const copy_side& from, const strided_shape& shape,
                   number_type to_type, number_type from_type) {
  const std::size_t bytes = bytes_of(shape);
  if (!is_array(to) && !is_array(from)) {
    copy_of_the_cpu(given, {to, from, shape, to_type, from_type});
    return count_copied(bytes);
  }
  const stream_ref s = given ? *given : default_stream(device(home_of(is_array(to) ? to : from)));
  need_sides(s, to, from);
  if ((!is_array(to) && !to.contiguous) || (!is_array(from) && !from.contiguous))
    return copy_packed(&s, {to, from, shape, to_type, from_type});
  const bool same = is_array(to) && is_array(from) && &to.owner->get() == &from.owner->get();
  if (same && to.data == from.data && to.stride_bytes == from.stride_bytes && to_type == from_type) return;
  count_copied(bytes);
  if (to_type == from_type && !(same && to.bytes.overlaps(from.bytes)) && copy_at_once(s, to, from, bytes)) return;
  for (bool done = false; !done;) {
    copy_operation whole(s, {to, from, shape, to_type, from_type});
    if (this_thread_state.capture) return whole.submit_captured();
    done = enqueue_and_wait(s, whole, to, from);
  }
}

void read_element(const allocation_ref& owner, const void* from, void* to, std::size_t bytes, source_line at) {
  if (owner) (void)owner.get(at);
  copy_side side, cpu;
  side.owner = &owner;
  side.data = const_cast<std::byte*>(static_cast<const std::byte*>(from));
  side.bytes = {side.data, side.data + bytes};
  side.at = at;
  cpu.data = static_cast<std::byte*>(to);
  copy_elements(nullptr, cpu, side, {bytes, 0, {}});
}

void fill_elements(const stream_ref* given, const copy_side& to, const strided_shape& shape, const void* element) {
  if (bytes_of(shape) == 0) return;
  const stream_ref s = given ? *given : default_stream(device(home_of(to)));
  if (shape.element_bytes > 16) {
    const auto* one = static_cast<const std::byte*>(element);
    std::vector<std::byte> all(bytes_of(shape));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = one[i % shape.element_bytes];
    copy_side from;
    from.data = all.data();
    row_major_strides(from, shape, shape.element_bytes);
    return copy_elements(&s, to, from, shape);
  }
  access_list<1> uses;
  uses.add(*to.owner, to.bytes, true, to.contiguous, to.at);
  runtime& m = runtime::current();
  const auto enqueue = [&](native_stream n) {
    m.backend().fill_strided(n, {to.data, to.stride_bytes}, shape, element);
  };
  if (!needs_staging(s, uses.get())) return submit_ordered(s, uses.get(), reach::by_kernel, enqueue);
  // No copy-in is needed: the owner's device fills the memory.
  if (this_thread_state.capture)
    return submit_ordered(default_stream(device(home_of(to))), uses.get(), reach::by_copy, enqueue);
  const int owner = home_of(to), here = s.timeline().device();
  const lane_lease beside = m.copies().lanes().take({memory_kind::device, owner, owner, owner, 0, 0}, here);
  submit_ordered(s, uses.get(), reach::by_copy, [&](native_stream n) {
    beside->fork(n, here);
    enqueue(beside->in());
    beside->join(n);
  });
}

}  // namespace ferry::inline FERRY_ABI::detail

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

struct touched {
  byte_range where;
  std::size_t by;
  bool write;
};

// True if no task reads or writes bytes that another one writes.
bool are_independent(std::span<const copy_task> tasks) {
  std::vector<touched> all;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    all.push_back({tasks[i].to().bytes, i, true});
    all.push_back({tasks[i].from().bytes, i, false});
  }
  std::sort(all.begin(), all.end(),
            [](const touched& a, const touched& b) { return std::less<>{}(a.where.begin, b.where.begin); });
  touched read{}, written{};  // the ranges with the greatest end so far
  for (const touched& t : all) {
    if (t.where.begin == t.where.end) continue;
    if (t.where.begin < written.where.end || (t.write && t.where.begin < read.where.end)) return false;
    touched& furthest = t.write ? written : read;
    if (furthest.where.end < t.where.end) furthest = t;
  }
  return true;
}

}  // namespace

void copy_many(stream_ref s, std::span<const copy_task> tasks) {
  using namespace detail;
  refuse_inside_submission("copy");
  const auto is_empty = [](const copy_task& t) { return bytes_of(t.shape()) == 0; };
  if (this_thread_state.capture || !are_independent(tasks)) {
    for (const copy_task& t : tasks)
      if (!is_empty(t)) copy_elements(&s, t.to(), t.from(), t.shape());
    return;
  }
  runtime& m = runtime::current();
  std::vector<copy_part> batch;
  std::vector<access> uses;
  std::deque<copy_operation> others;
  for (const copy_task& t : tasks) {
    if (is_empty(t)) continue;
    const copy_side to = t.to(), from = t.from();
    const std::size_t first = uses.size(), bytes = bytes_of(t.shape());
    uses.push_back({&to.owner->get(to.at), to.bytes, true, false, to.at});
    uses.push_back({&from.owner->get(from.at), from.bytes, false, false, from.at});
    need_current(s, std::span(uses).subspan(first));
    m.copies().count(bytes);
    const route_kind way = m.copies().choose(end_of(from), end_of(to), bytes).kind;
    const int here = s.timeline().device();
    if (to.contiguous && from.contiguous && (way == route_kind::direct || way == route_kind::peer) &&
        may_copy_on(here, to) && may_copy_on(here, from)) {
      batch.push_back({to.data, from.data, bytes});
    } else {
      uses.resize(first);
      others.emplace_back(s, copy_request{to, from, t.shape()}).add_uses(uses);
    }
  }
  if (uses.empty()) return;
  submit_ordered(s, uses, reach::by_copy, [&](native_stream n) {
    if (!batch.empty()) m.backend().copy_batch(n, batch);
    for (copy_operation& o : others) o.enqueue(n);
  });
}

}  // namespace ferry::inline FERRY_ABI
