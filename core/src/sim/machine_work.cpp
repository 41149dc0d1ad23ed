// Work: copies, fills, host tasks, kernels.
#include <algorithm>
#include <cstring>

#include "ferry/core/error.hpp"
#include "machine.hpp"
#include "strided.hpp"

namespace ferry::sim {
namespace {

kernel_use reads(const void* p, std::size_t bytes) { return {static_cast<const std::byte*>(p), bytes, true, false}; }
kernel_use writes(const void* p, std::size_t bytes) { return {static_cast<const std::byte*>(p), bytes, false, true}; }

void check_shape(const strided_shape& shape) {
  if (shape.rank > max_rank)
    throw invalid_argument("ferry: a strided operation of rank " + std::to_string(shape.rank) + "; at most " +
                           std::to_string(max_rank));
}

}  // namespace

void machine::give(call& c, stream& s, work w) {
  if (s.in) return s.in->add(s.id, s.device, std::make_shared<work>(std::move(w)));
  const auto to = s.line;  // the stream may go while others run
  if (schedule_.is_eager()) return schedule_.run_now(c.lock, *to, [&] { run_whole(w, to->device, memory_); });
  const auto done = w.done;
  for (operation& op : to_operations(std::make_shared<work>(std::move(w)), to->device, memory_))
    schedule_.push(c.lock, *to, std::move(op));
  schedule_.run_lazily(c.lock);
  if (!done) return;
  schedule_.wait(c.lock, done->who, [&] { return done->fired; });
  schedule_.check(to->device);
}

void machine::copy(native_stream s, void* to, const void* from, std::size_t bytes) {
  call c(*this);
  stream& on = find_working(s);
  may_fail(failing_verb::copy, c.lock, on.device);
  if (bytes == 0) return;
  const bool from_pageable = memory_.at(from).state == address_state::pageable;
  const bool to_pageable = memory_.at(to).state == address_state::pageable;
  if (on.in && (from_pageable || to_pageable))
    refuse_in_capture(*on.in, "a copy that blocks the CPU for its pageable memory");
  work w{"copy", reach::copied, {reads(from, bytes), writes(to, bytes)}, {}};
  if (from_pageable && !schedule_.is_eager()) {
    const auto* first = static_cast<const std::byte*>(from);
    auto staged = std::make_shared<std::vector<std::byte>>(first, first + bytes);
    w.run = [to, staged](const relocation&) { std::memcpy(to, staged->data(), staged->size()); };
  } else {
    w.run = [to, from, bytes](const relocation&) { std::memmove(to, from, bytes); };
  }
  if (to_pageable) {
    w.done = std::make_shared<signal>();
    w.done->who = "a copy to pageable memory on stream " + std::to_string(on.id);
  }
  give(c, on, std::move(w));
}

void machine::copy_peer(native_stream s, void* to, int to_device, const void* from, int from_device,
                        std::size_t bytes) {
  call c(*this);
  stream& on = find_working(s);
  for (const auto& [p, device] : {std::pair<const void*, int>{to, to_device}, {from, from_device}}) {
    check_device(device);
    schedule_.check(device);
    const place here = memory_.at(p);
    const bool is_own =
        here.state != address_state::pageable && here.kind == memory_kind::device && here.device == device;
    if (bytes != 0 && !is_own)
      throw invalid_argument("ferry: copy_peer: " + readable_address(p) + " is not memory of device " +
                             std::to_string(device));
  }
  may_fail(failing_verb::copy, c.lock, on.device);
  if (bytes == 0) return;
  const auto run = [to, from, bytes](const relocation&) { std::memmove(to, from, bytes); };
  give(c, on, {"peer copy", reach::copied, {reads(from, bytes), writes(to, bytes)}, run});
}

void machine::copy_strided(native_stream s, const strided_bytes& to, const strided_bytes& from,
                           const strided_shape& shape) {
  call c(*this);
  stream& on = find_working(s);
  check_shape(shape);
  may_fail(failing_verb::copy, c.lock, on.device);
  if (is_empty(shape)) return;
  const auto run = [to, from, shape](const relocation&) { copy_elements(to, from, shape); };
  give(c, on, {"strided copy", reach::mapped, {hull(from, shape, false), hull(to, shape, true)}, run});
}

void machine::fill_strided(native_stream s, const strided_bytes& to, const strided_shape& shape, const void* element) {
  call c(*this);
  stream& on = find_working(s);
  check_shape(shape);
  std::array<std::byte, 16> value{};
  if (shape.element_bytes > value.size())
    throw invalid_argument("ferry: fill of elements of " + std::to_string(shape.element_bytes) + " bytes; at most 16");
  if (is_empty(shape)) return;
  std::memcpy(value.data(), element, shape.element_bytes);
  const auto run = [to, shape, value](const relocation&) { fill_elements(to, shape, value.data()); };
  give(c, on, {"fill", reach::mapped, {hull(to, shape, true)}, run});
}

void machine::run_on_host(native_stream s, std::function<void()> task) {
  call c(*this);
  stream& on = find_working(s);
  give(c, on, {"host task", reach::copied, {}, [task = std::move(task)](const relocation&) { task(); }});
}

void machine::launch(native_stream s, const host_kernel& kernel) {
  call c(*this);
  stream& on = find_working(s);
  may_fail(failing_verb::launch, c.lock, on.device);
  give(c, on, {"kernel", reach::mapped, {kernel.uses.begin(), kernel.uses.end()}, kernel.body, kernel.name, true});
}

void machine::check_launch(native_stream s, std::string_view) {
  call c(*this);
  find_working(s);
}

}  // namespace ferry::sim
