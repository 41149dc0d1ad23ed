#include "copies/copy_operation.hpp"

#include <algorithm>

#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "ordering/capture.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Up to this size one kernel over the link is faster than packing, with its launches and forks.
constexpr std::size_t small_view = std::size_t{256} << 10;

// If memory is short, parts are halved down to this size.
constexpr std::size_t least_scratch = std::size_t{256} << 10;

int device_of(const copy_side& s) { return s.owner->get().device; }
bool in_device_memory(const copy_side& s) { return is_array(s) && s.owner->get().kind == memory_kind::device; }

int device_to_copy_on(copy_engine& engine, int here, const copy_end& to, const copy_end& from) {
  const copy_end& e = to.where == copy_end::memory::device ? to : from;
  if (!this_thread_state.capture || e.where != copy_end::memory::device || e.on == here) return here;
  return engine.links(here, e.on, *e.sort) ? here : e.on;
}

bool same_bytes(const copy_side& a, const copy_side& b) {
  return is_array(a) && is_array(b) && &a.owner->get() == &b.owner->get() && a.bytes.overlaps(b.bytes);
}

std::size_t element_bytes_to(const copy_request& w) {
  return w.converts() ? size_of(w.to_type) : w.shape.element_bytes;
}

strided_shape with_elements(strided_shape shape, std::size_t bytes) {
  shape.element_bytes = bytes;
  return shape;
}

// Returns the part with indices [first, first + count) of one dimension.
copy_request part_of(copy_request w, std::size_t dimension, std::size_t first, std::size_t count) {
  for (copy_side* side : {&w.to, &w.from})
    side->data += static_cast<std::ptrdiff_t>(first) * side->stride_bytes[dimension];
  w.shape.extent[dimension] = count;
  return w;
}

// A part that goes through scratch memory: some indices of one dimension, at one index of each dimension before it.
struct slab {
  std::size_t dimension = 0, indices = 1, bytes = 0;
};

// Returns the largest slab of at most `most` bytes, but at least one element.
slab slab_of(const strided_shape& shape, std::size_t most) {
  std::size_t row = bytes_of(shape);
  if (shape.rank == 0 || row <= most) return {0, shape.extent[0], row};
  for (std::size_t d = 0;; ++d) {
    row /= shape.extent[d];
    if (row > most && d + 1 < shape.rank) continue;
    const std::size_t indices = std::clamp(most / row, std::size_t{1}, shape.extent[d]);
    return {d, indices, indices * row};
  }
}

std::size_t slabs_along(const slab& s, const strided_shape& shape) {
  return (shape.extent[s.dimension] + s.indices - 1) / s.indices;
}

std::size_t number_of(const slab& s, const strided_shape& shape) {
  if (shape.rank == 0) return 1;
  std::size_t n = slabs_along(s, shape);
  for (std::size_t d = 0; d < s.dimension; ++d) n *= shape.extent[d];
  return n;
}

// Allocates memory for slabs of the greatest size that options and memory allow. Splits the copy only if in_parts is
// set.
template <class Take>
slab take_slabs(const strided_shape& shape, std::size_t most, bool in_parts, Take take) {
  slab s = slab_of(shape, in_parts ? most : bytes_of(shape));
  for (;;) {
    try {
      take(s);
      return s;
    } catch (const out_of_memory&) {
      const slab less = slab_of(shape, std::max(s.bytes / 2, least_scratch));
      if (!in_parts || less.bytes >= s.bytes) throw;
      s = less;
    }
  }
}

// Returns slab i in row-major order.
copy_request part_of(copy_request w, const slab& s, std::size_t i) {
  if (w.shape.rank == 0) return w;
  const std::size_t along = slabs_along(s, w.shape), first = i % along * s.indices;
  i /= along;
  w = part_of(w, s.dimension, first, std::min(s.indices, w.shape.extent[s.dimension] - first));
  for (std::size_t d = s.dimension; d-- > 0;) {
    const std::size_t extent = w.shape.extent[d];
    w = part_of(w, d, i % extent, 1);
    i /= extent;
  }
  return w;
}

}  // namespace

std::size_t bytes_of(const strided_shape& shape) {
  std::size_t n = shape.element_bytes;
  for (std::size_t d = 0; d < shape.rank; ++d) n *= shape.extent[d];
  return n;
}

void row_major_strides(copy_side& side, const strided_shape& shape, std::size_t element_bytes) {
  auto step = static_cast<std::ptrdiff_t>(element_bytes);
  for (std::size_t d = shape.rank; d-- > 0;) {
    side.stride_bytes[d] = step;
    step *= static_cast<std::ptrdiff_t>(shape.extent[d]);
  }
}

copy_end end_of(const copy_side& s) {
  using memory = copy_end::memory;
  if (!is_array(s)) {
    const pointer_attributes p = runtime::current().backend().attributes(s.data);
    return {!p.is_known ? memory::pageable : p.kind == memory_kind::unified ? memory::unified : memory::pinned, 0};
  }
  return end_of(s.owner->get());
}

copy_end end_of(const allocation& a) {
  using memory = copy_end::memory;
  switch (a.kind) {
    case memory_kind::device: return {memory::device, a.device, a.peer_class()};
    case memory_kind::unified: return {memory::unified, a.device};
    case memory_kind::host: return {memory::pinned, a.device};
  }
  return {};
}

copy_operation::copy_operation(stream_ref s, const copy_request& what, bool in_turn)
    : engine_(runtime::current().copies()),
      s_(s),
      here_(s.timeline().device()),
      whole_(what),
      lanes_(engine_.lanes(), here_, in_turn ? s.timeline().stream() : native_stream{}) {
  plan(whole_);
  if (!steps_.empty() && steps_.front().move) steps_.front().move->begin_reading();
}

bool copy_operation::reaches(int device, const copy_side& side) {
  return is_array(side) && engine_.reaches(device, side.owner->get());
}

void copy_operation::plan(const copy_request& w) {
  const int home = device_of(is_array(w.from) ? w.from : w.to);
  if (same_bytes(w.to, w.from)) return plan_through(w, true, home, true, home);
  if (w.to.contiguous && w.from.contiguous && !w.converts()) return move(w);
  const bool across = in_device_memory(w.to) && in_device_memory(w.from) && device_of(w.to) != device_of(w.from);
  const bool small = bytes_of(w.shape) <= small_view;
  if (reaches(here_, w.to) && reaches(here_, w.from) && (!across || small)) return kernel(w, here_);
  if (!is_array(w.from)) return plan_through(w, false, 0, true, device_of(w.to));
  if (!is_array(w.to)) return plan_through(w, true, device_of(w.from), false, 0);
  if (!across) {
    const int on = device_of(in_device_memory(w.to) ? w.to : w.from);
    return kernel(w, on);
  }
  // Whole rows cross a link well: as stores by the source's device, or as loads by the destination's.
  const int a = device_of(w.from), b = device_of(w.to);
  if (w.to.contiguous && reaches(a, w.to)) return kernel(w, a);
  if (w.from.contiguous && reaches(b, w.from)) return kernel(w, b);
  plan_through(w, !w.from.contiguous || (w.converts() && w.to.contiguous), a, !w.to.contiguous, b);
}

// Plans source -> scratch beside it -> scratch beside the destination -> destination, without the unneeded steps. Works
// in parts if the scratch would need much memory.
void copy_operation::plan_through(const copy_request& w, bool pack, int pack_on, bool unpack, int unpack_on) {
  const bool convert_first = pack && w.converts(), arrives = unpack && !(pack && pack_on == unpack_on);
  const std::size_t between = convert_first ? element_bytes_to(w) : w.shape.element_bytes;
  const number_type type = convert_first ? w.to_type : w.from_type;
  const auto take = [&](const slab& s) {
    packed_.reset(), arrived_.reset();
    if (pack) packed_.emplace(s.bytes, pack_on);
    if (arrives) arrived_.emplace(s.bytes, unpack_on);
  };
  // Views that overlap are not split: parts would be written before others are read.
  const slab each =
      take_slabs(with_elements(w.shape, between), engine_.options().scratch_bytes, !same_bytes(w.to, w.from), take);
  const std::size_t parts = number_of(each, w.shape);
  for (std::size_t i = 0; i < parts; ++i) {
    const copy_request part = part_of(w, each, i);
    copy_request now = part;
    if (pack) {
      now.to = in_scratch(*packed_, part.shape, between);
      now.to_type = type;
      if (now.from.contiguous && !now.converts())
        move(now);
      else
        kernel(now, pack_on);
      now.from = now.to, now.from_type = type, now.shape.element_bytes = between;
    }
    if (arrives) {
      now.to = in_scratch(*arrived_, part.shape, between);
      now.to_type = now.from_type;
      move(now);
      now.from = now.to;
    }
    now.to = part.to, now.to_type = part.to_type;
    if (now.to.contiguous && !now.converts())
      move(now);
    else
      kernel(now, unpack_on);
  }
}

copy_side copy_operation::in_scratch(scratch& memory, const strided_shape& shape, std::size_t element_bytes) {
  copy_side side = side_of(memory.bytes);
  row_major_strides(side, shape, element_bytes);
  return side;
}

// A stream of another device needs a grant for memory of the driver's pools, even to copy it.
bool may_copy_on(int device, const copy_side& side) {
  if (!in_device_memory(side)) return true;
  const allocation& a = side.owner->get();
  return a.device == device || !a.resource->needs_grant(device) || runtime::current().copies().reaches(device, a);
}

planned_route::planned_route(copy_engine& engine, int here, const copy_side& to_side, const copy_side& from_side,
                             std::size_t bytes)
    : to(end_of(to_side)),
      from(end_of(from_side)),
      way(engine.choose(from, to, bytes)),
      on(device_to_copy_on(engine, here, to, from)),
      to_side_(to_side),
      from_side_(from_side) {
  if (way.kind != route_kind::peer) return;
  (void)engine.reaches(to.on, from_side.owner->get());
  (void)engine.reaches(from.on, to_side.owner->get());
}

bool planned_route::is_one_call() const {
  return way.kind == route_kind::peer ||
         (way.kind == route_kind::direct && may_copy_on(on, to_side_) && may_copy_on(on, from_side_));
}

void copy_operation::move(const copy_request& w) {
  const std::size_t bytes = bytes_of(w.shape);
  planned_route plan(engine_, here_, w.to, w.from, bytes);
  const auto address = [](const copy_side& s, const copy_end& e) {
    return copy_address{s.data, e.where == copy_end::memory::device ? e.on : -1};
  };
  const int near = device_of(is_array(w.to) ? w.to : w.from);
  step& st = steps_.emplace_back(step{w, std::nullopt, plan.on});
  if (plan.way.why == route_choice::reason::in_graph) {
    st.between.emplace(extents<1>{bytes}, device(plan.from.on));
    return;
  }
  const auto take = [&] {
    st.move.emplace(engine_, lanes_, plan.way, address(w.to, plan.to), address(w.from, plan.from), bytes, here_, near);
    if (plan.way.kind == route_kind::direct && !plan.is_one_call())
      enqueue_beside(st, device_of(in_device_memory(w.to) ? w.to : w.from));
  };
  try {
    take();
  } catch (const out_of_memory&) {  // no memory for its chunks: the driver uses its own
    plan.way.kind = route_kind::direct;
    take();
  }
  // The CPU reads the result or the source afterwards, so both must be intact (R19).
  if (!is_array(w.to) || (!is_array(w.from) && plan.way.kind != route_kind::parallel)) needs_wait_ = true;
}

void copy_operation::kernel(const copy_request& w, int on) {
  enqueue_beside(steps_.emplace_back(step{w, std::nullopt, on}), on);
}

void copy_operation::enqueue_beside(step& st, int on) {
  st.on = on;
  if (on != here_ && !this_thread_state.capture) st.beside = &lanes_.get({memory_kind::device, on, on, on, 0, 0});
}

void copy_operation::add_uses(std::vector<access>& uses) const {
  const auto add = [&](const copy_side& side, bool write) {
    if (is_array(side)) uses.push_back({&side.owner->get(), side.bytes, write, false, side.at});
  };
  add(whole_.to, true);
  add(whole_.from, false);
  for (const auto* memory : {&packed_, &arrived_})
    if (*memory) uses.push_back({&(*memory)->bytes.owner().get(), (*memory)->bytes.bytes(), true});
}

void copy_operation::enqueue(native_stream s) {
  lanes_.each_device([&](int d) { takes_part(s_.timeline(), d); });
  for (step& st : steps_) enqueue(st, s);
}

void copy_operation::enqueue(step& st, native_stream s) {
  const auto run = [&](native_stream on) {
    if (st.move) return st.move->enqueue(on);
    const copy_request& w = st.what;
    const strided_bytes to{w.to.data, w.to.stride_bytes}, from{w.from.data, w.from.stride_bytes};
    if (w.converts())
      engine_.backend().convert_strided(on, to, w.to_type, from, w.from_type, w.shape);
    else
      engine_.backend().copy_strided(on, to, from, w.shape);
  };
  if (!st.beside) return run(s);
  st.beside->fork(s, here_);
  run(st.beside->in());
  st.beside->join(s);
}

void stage_in_capture(host_array<std::byte>& between, const access& to, const access& from) {
  detail::backend& backend = runtime::current().backend();
  const auto half = [&](int on, const access& t, const access& f) {
    std::array<access, 2> uses{t, f};
    submit_ordered(default_stream(device(on)), uses, reach::by_copy, [&](native_stream s) {
      backend.copy(s, const_cast<std::byte*>(t.where.begin), f.where.begin, t.where.size());
    });
  };
  access middle{&between.owner().get(), between.bytes(), true};
  half(from.what->device, middle, from);
  middle.write = false;
  half(to.what->device, to, middle);
}

void copy_operation::submit_captured() {
  for (step& st : steps_) {
    if (st.between) {
      const auto side = [&](const copy_side& s, bool write) {
        return access{&s.owner->get(), {s.data, s.data + bytes_of(st.what.shape)}, write};
      };
      stage_in_capture(*st.between, side(st.what.to, true), side(st.what.from, false));
      continue;
    }
    std::vector<access> uses{};
    if (is_array(st.what.to)) uses.push_back({&st.what.to.owner->get(), st.what.to.bytes, true});
    if (is_array(st.what.from)) uses.push_back({&st.what.from.owner->get(), st.what.from.bytes, false});
    const stream_ref on = st.on == here_ ? s_ : default_stream(device(st.on));
    submit_ordered(on, uses, reach::by_copy, [&](native_stream s) {
      lanes_.each_device([&](int d) { takes_part(on.timeline(), d); });
      enqueue(st, s);
    });
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
