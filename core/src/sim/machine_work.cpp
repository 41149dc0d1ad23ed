// Work: copies, fills, host tasks, kernels.
#include <algorithm>
#include <cstring>

#include "backend/cpu_scatter.hpp"
#include "backend/cpu_strided.hpp"
#include "cpu_sorting/sort_on_cpu.hpp"
#include "ferry/core/detail/operations/functor_definition.hpp"
#include "ferry/core/detail/operations/owned_evaluation.hpp"
#include "ferry/core/detail/operations/owned_reduction.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "interpreter/index_outside.hpp"
#include "interpreter/interpret.hpp"
#include "interpreter/reduce.hpp"
#include "machine.hpp"
#include "surroundings.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {
namespace {

kernel_use reads(const void* p, std::size_t bytes) { return {static_cast<const std::byte*>(p), bytes, true, false}; }
kernel_use writes(const void* p, std::size_t bytes) { return {static_cast<const std::byte*>(p), bytes, false, true}; }

void check_shape(const strided_shape& shape) {
  if (shape.rank > max_rank)
    throw invalid_argument(concat("a strided operation of rank ", shape.rank, "; at most ", max_rank));
}

// Names of the gathered operands, by number, for errors. Empty if there are none.
std::vector<array_label> gathered_names(const evaluation& e, std::span<const kernel_use> uses) {
  std::vector<array_label> names;
  for (const evaluation_operand& o : e.operands) {
    if (!o.is_gathered) continue;
    names.resize(e.operands.size());
    for (const kernel_use& u : uses)
      if (u.reads && o.data >= u.begin && o.data < u.begin + u.bytes)
        names[static_cast<std::size_t>(&o - e.operands.data())] = u.array;
  }
  return names;
}

// Adds the array's name to the error of an index.
template <class F>
void naming_arrays(const std::vector<array_label>& names, F run) {
  try {
    run();
  } catch (const index_outside& error) {
    const char* const name = error.operand() < names.size() ? names[error.operand()].text() : "";
    throw invalid_argument(quoted_name(name) + ": " + plain_what(error));
  }
}

}  // namespace

void machine::enqueue(call& c, stream& s, work w) {
  if (s.in) return s.in->add(s.id, s.device, std::make_shared<work>(std::move(w)));
  const auto to = s.line;  // the stream may be destroyed while operations run
  const auto touches = footprint_of(w);
  const auto done = w.done;
  if (schedule_.is_eager()) {
    const auto run = [&] {
      const worker_scope scope(workers_of(to->device), options_.indices);
      run_whole(w, to->device, memory_);
    };
    if (w.is_kernel) {
      const work* const one = &w;
      schedule_.run_now(c.lock, *to, run, touches, &surroundings::of({&one, 1}, memory_));
    } else {
      schedule_.run_now(c.lock, *to, run, touches);
    }
    if (done) schedule_.seen_by_cpu(c.lock, to->clock);
    return;
  }
  auto entries = to_operations(std::make_shared<work>(std::move(w)), to->device, memory_, mode(to->device));
  entries.front().touches = touches;
  for (operation& op : entries) schedule_.push(c.lock, *to, std::move(op));
  schedule_.run_lazily(c.lock);
  if (!done) return;
  schedule_.wait(
      c.lock, done->who, [&] { return done->fired; }, to);
  schedule_.seen_by_cpu(c.lock, done->clock);
  schedule_.check(to->device);
}

// As CUDA does, even for a copy that needs no peer access: between two blocks of another device's pool. copy_peer needs
// no grant.
void machine::refuse_ungranted(const stream& on, std::span<const kernel_use> uses) const {
  for (const kernel_use& use : uses)
    if (!memory_.may_copy(on.device, use.begin))
      throw invalid_argument(concat("copy: invalid argument: memory of a pool of another device, which stream ", on.id,
                                    " of device ", on.device, " was granted no access to"));
}

void machine::copy(native_stream s, void* to, const void* from, std::size_t bytes) {
  call c(*this);
  stream& on = find_working(s);
  may_fail(failing_verb::copy, c.lock, on.device);
  if (bytes == 0) return;
  // Memory that kernels can access is not read before the copy runs.
  const auto is_pageable = [&](const void* p) {
    return memory_.at(p).state == address_state::pageable && !options_.pageable_access;
  };
  const bool from_pageable = is_pageable(from), to_pageable = is_pageable(to);
  if (on.in && (from_pageable || to_pageable))
    refuse_in_capture(*on.in, "a copy that blocks the CPU for its pageable memory");
  work w{"copy", reach::copied, {reads(from, bytes), writes(to, bytes)}, {}};
  refuse_ungranted(on, w.uses);
  constexpr std::size_t most_staged = std::size_t{64} << 10;  // as CUDA does: larger copies block
  const bool is_read_later = schedule_.is_eager() || (schedule_.overlaps() && bytes > most_staged);
  if (from_pageable && !is_read_later) {
    const auto* first = static_cast<const std::byte*>(from);
    auto staged = std::make_shared<std::vector<std::byte>>(first, first + bytes);
    w.run = [to, staged](const relocation&) { std::memcpy(to, staged->data(), staged->size()); };
  } else {
    w.run = [to, from, bytes](const relocation&) { move_on_cpu(to, from, bytes); };
  }
  if (to_pageable || (from_pageable && schedule_.overlaps() && is_read_later)) {
    w.done = std::make_shared<signal>();
    w.done->who = concat("a copy of pageable memory on stream ", on.id);
  }
  enqueue(c, on, std::move(w));
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
      throw invalid_argument(concat("copy_peer: ", readable_address(p), " is not memory of device ", device));
  }
  may_fail(failing_verb::copy, c.lock, on.device);
  if (bytes == 0) return;
  const std::array<kernel_use, 2> uses{reads(from, bytes), writes(to, bytes)};
  if (on.in && !may_reach(to_device, from, memory_.at(from)) && !may_reach(from_device, to, memory_.at(to)))
    refuse_in_capture(*on.in, "a copy between devices that were not granted each other's memory");
  const bool lost = are_lost(to_device, uses) || are_lost(from_device, uses);
  const auto run = [to, from, bytes, lost](const relocation&) {
    if (!lost) move_on_cpu(to, from, bytes);
  };
  enqueue(c, on, {"peer copy", reach::copied, {uses.begin(), uses.end()}, run});
}

void machine::copy_batch(native_stream s, std::span<const copy_part> parts) {
  call c(*this);
  stream& on = find_working(s);
  may_fail(failing_verb::copy, c.lock, on.device);
  std::vector<kernel_use> uses;
  for (const copy_part& p : parts) {
    if (p.bytes == 0) continue;
    for (const void* side : {static_cast<const void*>(p.to), p.from})
      if (memory_.at(side).state == address_state::pageable)
        throw invalid_argument("copy_batch: " + readable_address(side) + " is pageable memory");
    uses.push_back(reads(p.from, p.bytes)), uses.push_back(writes(p.to, p.bytes));
  }
  if (uses.empty()) return;
  refuse_ungranted(on, uses);
  const bool lost = are_lost(on.device, uses);
  // In reverse order, to expose programs that rely on the order of the list.
  const auto run = [all = std::vector<copy_part>(parts.begin(), parts.end()), lost](const relocation&) {
    for (std::size_t i = lost ? 0 : all.size(); i-- > 0;) move_on_cpu(all[i].to, all[i].from, all[i].bytes);
  };
  enqueue(c, on, {"batch of copies", reach::copied, std::move(uses), run});
}

void machine::convert_strided(native_stream s, const strided_bytes& to, number_type to_type, const strided_bytes& from,
                              number_type from_type, const strided_shape& shape) {
  call c(*this);
  stream& on = find_working(s);
  check_shape(shape);
  may_fail(failing_verb::copy, c.lock, on.device);
  if (is_empty(shape)) return;
  const auto one = converter(to_type, from_type);
  const auto sized = [&](number_type t) {
    strided_shape with = shape;
    with.element_bytes = size_of(t);
    return with;
  };
  std::vector<kernel_use> uses{bounding_range(from, sized(from_type), false), bounding_range(to, sized(to_type), true)};
  const bool lost = are_lost(on.device, uses);
  const auto run = [to, from, shape, one, lost](const relocation&) {
    if (!lost) convert_on_cpu(to, from, shape, one);
  };
  enqueue(c, on, {"converting copy", reach::mapped, std::move(uses), run});
}

void machine::copy_strided(native_stream s, const strided_bytes& to, const strided_bytes& from,
                           const strided_shape& shape) {
  call c(*this);
  stream& on = find_working(s);
  check_shape(shape);
  may_fail(failing_verb::copy, c.lock, on.device);
  if (is_empty(shape)) return;
  const std::array<kernel_use, 2> uses{bounding_range(from, shape, false), bounding_range(to, shape, true)};
  const bool lost = are_lost(on.device, uses);
  const auto run = [to, from, shape, lost](const relocation&) {
    if (!lost) copy_on_cpu(to, from, shape);
  };
  enqueue(c, on, {"strided copy", reach::mapped, {uses.begin(), uses.end()}, run});
}

void machine::fill_strided(native_stream s, const strided_bytes& to, const strided_shape& shape, const void* element) {
  call c(*this);
  stream& on = find_working(s);
  check_shape(shape);
  std::array<std::byte, 16> value{};
  if (shape.element_bytes > value.size())
    throw invalid_argument(concat("fill of elements of ", shape.element_bytes, " bytes; at most 16"));
  if (is_empty(shape)) return;
  std::memcpy(value.data(), element, shape.element_bytes);
  const auto run = [to, shape, value](const relocation&) { fill_on_cpu(to, shape, value.data()); };
  enqueue(c, on, {"fill", reach::mapped, {bounding_range(to, shape, true)}, run});
}

void machine::run_on_host_using(native_stream s, std::function<void()> task, std::span<const kernel_use> uses) {
  call c(*this);
  stream& on = find_working(s);
  const auto run = [task = std::move(task)](const relocation&) { task(); };
  enqueue(c, on, {"host task", reach::copied, {uses.begin(), uses.end()}, run});
}

void machine::host_access(const kernel_use& use) {
  if (!schedule_.finds_races() || use.bytes == 0) return;
  call c(*this);
  const auto touches = footprint_of({"access", reach::copied, {use}, {}});
  if (!touches) return;
  if (const int device = schedule_.touch_from_cpu(c.lock, touches); device >= 0) schedule_.check(device);
}

void machine::launch(native_stream s, const host_kernel& kernel) {
  call c(*this);
  stream& on = find_working(s);
  may_fail(failing_verb::launch, c.lock, on.device);
  work w{"kernel", reach::mapped, {kernel.uses.begin(), kernel.uses.end()}, kernel.body, kernel.name, true};
  w.has_pointers = kernel.has_pointers;
  if (are_lost(on.device, w.uses)) w.run = [](const relocation&) {};
  enqueue(c, on, std::move(w));
}

void* machine::compile_functor(native_stream s, int device, const kernel_text& kernel) {
  const lock_guard lock(functors_mutex_);
  std::pair of_device(device, kernel.code);
  if (functors_.contains(of_device)) return nullptr;
  if (is_capturing(s)) throw_uncompiled_in_capture(kernel);
  check_functor_(kernel);
  functors_.insert(std::move(of_device));
  return nullptr;
}

void machine::evaluate(native_stream s, int, const evaluation& what, std::span<const kernel_use> uses) {
  launch(s,
         {"expression", uses, [e = owned_evaluation(what), names = gathered_names(what, uses)](const relocation& move) {
            naming_arrays(names, [&] { interpret(e.moved(move).get()); });
          }});
}

void machine::reduce(native_stream s, int, const reduction_evaluation& what, std::span<const kernel_use> uses) {
  launch(s, {"reduction", uses,
             [r = owned_reduction(what), names = gathered_names(what.input, uses)](const relocation& move) {
               naming_arrays(names, [&] { reduce_on_cpu(r.moved(move).get()); });
             }});
}

void machine::sort(native_stream s, int, const sorting_task& what, std::span<const kernel_use> uses) {
  launch(s, {"sort", uses, [what](const relocation& move) { sort_on_cpu(what.moved(move)); }});
}

void machine::scatter(native_stream s, int, const scatter_task& what, std::span<const kernel_use> uses) {
  const auto written = std::find_if(uses.begin(), uses.end(), [](const kernel_use& u) { return u.writes; });
  const array_label name = written == uses.end() ? array_label() : written->array;
  launch(s, {"scatter", uses, [what, name](const relocation& move) {
               try {
                 scatter_on_cpu(what.moved(move));
               } catch (const invalid_argument& error) {
                 throw invalid_argument(quoted_name(name.text()) + ": " + plain_what(error));
               }
             }});
}

void machine::join_rendezvous(native_stream s, std::shared_ptr<rendezvous> m, std::span<const kernel_use> uses) {
  call c(*this);
  stream& on = find_working(s);
  may_fail(failing_verb::launch, c.lock, on.device);
  if (on.in) {
    work part{"joint operation", reach::mapped, {uses.begin(), uses.end()}, {}, m->name};
    part.together = std::move(m);
    return on.in->add(on.id, on.device, std::make_shared<work>(std::move(part)));
  }
  const auto to = on.line;  // the stream may be destroyed while operations run
  const int device = to->device;
  if (const std::string why = memory_.forbids(device, uses, reach::mapped); !why.empty()) {
    schedule_.fail(c.lock, device, m->name + ": " + why);
    m->broken = concat("device ", device, " failed");
  } else {
    const auto move_pages = [this, device, touched = std::vector(uses.begin(), uses.end())] {
      memory_.touch(device, touched);
    };
    const auto touches = footprint_of({"joint operation", reach::mapped, {uses.begin(), uses.end()}, {}, m->name});
    schedule_.push(c.lock, *to, {"joint operation", m->name, move_pages, {}, {}, m, touches});
  }
  if (schedule_.is_eager()) return schedule_.hold_if_ready(c.lock, *to);
  schedule_.run_lazily(c.lock);
}

void machine::check_launch(native_stream s, std::string_view) {
  call c(*this);
  find_working(s);
}

}  // namespace ferry::inline FERRY_ABI::detail::sim
