#include "ferry/core/copy.hpp"

#include "capture.hpp"
#include "ferry/core/array.hpp"

namespace ferry::detail {
namespace {

bool is_array(const copy_side& s) { return s.owner != nullptr; }
const allocation& of(const copy_side& s) { return s.owner->get(); }
int device_of(const copy_side& s) { return of(s).device; }
bool in_device_memory(const copy_side& s) { return is_array(s) && of(s).kind == memory_kind::device; }
bool same_bytes(const copy_side& a, const copy_side& b) {
  return is_array(a) && is_array(b) && &of(a) == &of(b) && a.bytes.overlaps(b.bytes);
}

std::size_t bytes_of(const strided_shape& shape) {
  std::size_t n = shape.element_bytes;
  for (std::size_t d = 0; d < shape.rank; ++d) n *= shape.extent[d];
  return n;
}

strided_bytes layout(const copy_side& s) { return {s.data, s.stride_bytes}; }

// Contiguous scratch in the memory of a device, in the shape of what passes through it.
struct scratch {
  basic_array<std::byte, 1, memory_kind::device> bytes;
  copy_side side;
  scratch(const strided_shape& shape, int on) : bytes(extents<1>{bytes_of(shape)}, device(on)) {
    side = side_of(bytes);
    auto step = static_cast<std::ptrdiff_t>(shape.element_bytes);
    for (std::size_t d = shape.rank; d-- > 0;) {
      side.stride_bytes[d] = step;
      step *= static_cast<std::ptrdiff_t>(shape.extent[d]);
    }
  }
};

access_list<2> uses_of(const copy_side& to, const copy_side& from) {
  access_list<2> uses;
  if (is_array(to)) uses.add(*to.owner, to.bytes, true);
  if (is_array(from)) uses.add(*from.owner, from.bytes, false);
  return uses;
}

void copy_contiguous(stream_ref s, const copy_side& to, const copy_side& from, std::size_t bytes) {
  backend& verbs = machine::current().verbs();
  auto uses = uses_of(to, from);
  submit_ordered(s, uses.get(), reach::by_copy, [&](native_stream n) {
    if (in_device_memory(to) && in_device_memory(from) && device_of(to) != device_of(from))
      verbs.copy_peer(n, to.data, device_of(to), from.data, device_of(from), bytes);
    else
      verbs.copy(n, to.data, from.data, bytes);
  });
  // Also behind uploads: memory that ferry was given as a span may be pinned, and is then read later (host_span, MPI).
  if (!is_array(to) || !is_array(from)) s.line().wait(s.line().last());
}

void copy_strided(stream_ref s, const copy_side& to, const copy_side& from, const strided_shape& shape) {
  auto uses = uses_of(to, from);
  submit_ordered(s, uses.get(), reach::by_kernel,
                 [&](native_stream n) { machine::current().verbs().copy_strided(n, layout(to), layout(from), shape); });
}

// Work that the given stream cannot do, on a stream of another device: forked from the given one, and joined.
template <class Work>
void beside(stream_ref s, int on, Work work) {
  const stream_ref other = default_stream(device(on));
  if (other == s || this_thread_state.capture) return work(other);  // a capture orders by its arrays, and joins all
  other.wait(s);
  work(other);
  s.wait(other);
}

// The graph would hold an address of the CPU, and nobody could wait for it.
void refuse_memory_of_the_cpu_in_capture(const copy_side& to, const copy_side& from) {
  if (!this_thread_state.capture || (is_array(to) && is_array(from))) return;
  const copy_side& known = is_array(to) ? to : from;
  const access use{&known.owner->get(), known.bytes, is_array(to)};
  this_thread_state.capture->refuse("a copy to or from memory of the CPU", {&use, 1});
}

bool reachable(int device, const copy_side& side) {
  return is_array(side) && (!in_device_memory(side) || machine::current().can_reach(device, device_of(side)));
}

}  // namespace

void copy_elements(const stream_ref* given, const copy_side& to, const copy_side& from, const strided_shape& shape) {
  const stream_ref s = given ? *given : default_stream(device(device_of(is_array(to) ? to : from)));
  const std::size_t bytes = bytes_of(shape);
  refuse_memory_of_the_cpu_in_capture(to, from);
  if (same_bytes(to, from)) {
    if (to.data == from.data && to.stride_bytes == from.stride_bytes) return;
    const scratch between(shape, device_of(from));
    copy_elements(&s, between.side, from, shape);
    copy_elements(&s, to, between.side, shape);
    return;
  }
  machine::current().copied_bytes.fetch_add(bytes, std::memory_order_relaxed);
  if (to.contiguous && from.contiguous) return copy_contiguous(s, to, from, bytes);
  const int here = s.line().device();
  if (reachable(here, to) && reachable(here, from)) return copy_strided(s, to, from, shape);
  // Pack beside the source, move, unpack beside the destination, each on a device that reaches its memory.
  const auto strided = [&](int on, const copy_side& t, const copy_side& f) {
    if (reachable(here, t) && reachable(here, f)) return copy_strided(s, t, f, shape);
    beside(s, on, [&](stream_ref other) { copy_strided(other, t, f, shape); });
  };
  const int there = is_array(from) ? device_of(from) : device_of(to);
  const scratch packed(shape, there);
  if (from.contiguous)
    copy_contiguous(s, packed.side, from, bytes);
  else
    strided(there, packed.side, from);
  if (to.contiguous) return copy_contiguous(s, to, packed.side, bytes);
  if (device_of(to) == there) return strided(there, to, packed.side);
  const scratch arrived(shape, device_of(to));
  copy_contiguous(s, arrived.side, packed.side, bytes);
  strided(device_of(to), to, arrived.side);
}

void fill_elements(const stream_ref* given, const copy_side& to, const strided_shape& shape, const void* element) {
  if (bytes_of(shape) == 0) return;
  const stream_ref s = given ? *given : default_stream(device(device_of(to)));
  if (shape.element_bytes > 16) {
    const auto* one = static_cast<const std::byte*>(element);
    std::vector<std::byte> all(bytes_of(shape));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = one[i % shape.element_bytes];
    copy_side from;
    from.data = all.data();
    auto step = static_cast<std::ptrdiff_t>(shape.element_bytes);
    for (std::size_t d = shape.rank; d-- > 0;) {
      from.stride_bytes[d] = step;
      step *= static_cast<std::ptrdiff_t>(shape.extent[d]);
    }
    return copy_elements(&s, to, from, shape);
  }
  auto uses = uses_of(to, {});
  submit_ordered(s, uses.get(), reach::by_kernel,
                 [&](native_stream n) { machine::current().verbs().fill_strided(n, layout(to), shape, element); });
}

}  // namespace ferry::detail
