#include "ferry/core/detail/expressions/assignment.hpp"

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "expressions/bound_program.hpp"
#include "expressions/joined_arrays.hpp"
#include "expressions/operand_memory.hpp"
#include "ferry/core/basic_array.hpp"
#include "ferry/core/detail/copies/out_of_reach.hpp"
#include "ferry/core/detail/kernels/staged_launch.hpp"
#include "ferry/core/detail/operations/owned_evaluation.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/support/environment.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

[[noreturn]] void throw_does_not_fit(const assignment& a, source_line at) {
  throw invalid_argument("cannot assign '" + text_of(*a.value) + "' of " + text_of(a.value->shape) + " to " +
                         array_text(look_at(a.to)) + in_line(at) +
                         ": the destination is not stretched, and each extent must be equal, or 1 in the expression");
}

void need_shape(const assignment& a, const program_shape& first, source_line at) {
  const program_shape &e = a.value->shape, &to = a.to.shape;
  if (e.rank > to.rank) throw_does_not_fit(a, at);
  for (std::size_t d = 0; d != e.rank; ++d)
    if (e.extent[d] != to.extent[d] && e.extent[d] != 1) throw_does_not_fit(a, at);
  if (to != first)
    throw invalid_argument("fr::assign: " + array_text(look_at(a.to)) + in_line(at) + " has another shape than the " +
                           "first destination, of " + text_of(first) + ": assign it in a call of its own");
  for (std::size_t d = 0; d != to.rank; ++d)
    if (to.extent[d] > 1 && a.to.stride_bytes[d] == 0 && !to.is_empty())
      throw invalid_argument("cannot assign to " + array_text(look_at(a.to)) + in_line(at) +
                             ": some of its indices name the same element");
}

using byte_ranges = small_vector<byte_range, 8>;

byte_ranges ranges_of(std::span<const program_operand> all) {
  byte_ranges ranges;
  for (const program_operand& o : all) ranges.push_back(o.bytes());
  return ranges;
}

// True if the program reads bytes of the output as other elements, or as another type.
bool is_hazard(const expression_program& p, const byte_ranges& ranges, const program_operand& to) {
  const byte_range written = to.bytes();
  for (std::size_t k = 0; k != p.operands.size(); ++k)
    if (!are_same_elements(to, p.operands[k]) && may_overlap(to, written, p.operands[k], ranges[k])) return true;
  return false;
}

// Evaluates a program in one submission. ranges: the bytes of its operands.
void submit_program(stream_ref s, const expression_program& p, const byte_ranges& ranges,
                    std::span<const bound_output> outputs, bool use_masks, source_line at) {
  const bound_program bound(p, outputs, use_masks);
  small_vector<access, 12> uses;
  small_vector<kernel_use, 12> bytes;
  runtime& m = runtime::current();
  const bool is_simulated = m.is_simulated();
  const auto add = [&](const program_operand& o, byte_range where, bool write, bool whole) {
    allocation& a = alive(o, at);
    uses.push_back({&a, where, write, whole, at});
    if (is_simulated)
      bytes.push_back({where.begin, where.size(), !whole, write, array_label(a.name.get().c_str()), at});
  };
  for (const std::uint8_t k : bound.operands()) {
    const bool is_output = std::any_of(outputs.begin(), outputs.end(),
                                       [&](const bound_output& o) { return are_same_elements(*o.to, p.operands[k]); });
    if (!is_output) add(p.operands[k], ranges[k], false, false);
  }
  for (std::size_t k = 0; k != outputs.size(); ++k) {
    const program_operand& to = *outputs[k].to;
    const byte_range where = to.bytes();
    const bool is_read = std::any_of(bound.operands().begin(), bound.operands().end(),
                                     [&](std::uint8_t x) { return ranges[x].overlaps(where); });
    add(to, where, true, !bound.is_masked(k) && !is_read && is_dense(to));
  }
  evaluation e = bound.view();
  e.fast_math = fast_math_depth() > 0;
  const int device = s.timeline().device();
  const std::span<access> all{uses.begin(), uses.size()};
  if (needs_staging(s, all)) [[unlikely]] {
    staged_launch enqueue(s, all);
    const relocation move = enqueue.addresses();
    for (kernel_use& u : bytes) u.begin = move(u.begin);
    const owned_evaluation there = owned_evaluation(e).moved(move);
    enqueue([&](native_stream n) { m.backend().evaluate(n, device, there.get(), bytes.get()); });
    return;
  }
  submit_ordered(s, all, reach::by_kernel, [&](native_stream n) { m.backend().evaluate(n, device, e, bytes.get()); });
}

// If the program only joins arrays, copies them one by one. Returns false if it does not, or if that is not possible.
bool assign_parts(stream_ref s, const assignment& a, source_line at) {
  const std::vector<assignment> parts = assignments_of_parts(*a.value, a.to);
  if (parts.empty()) return false;
  for (const assignment& part : parts)  // throws before the first one is submitted
    for (const program_operand& o : part.value->operands) (void)alive(o, at);
  for (const assignment& part : parts) assign_programs(&s, {&part, 1}, at);
  return true;
}

}  // namespace

program_operand operand_of(const allocation_ref& owner, const void* data, std::span<const std::size_t> extents,
                           std::span<const std::ptrdiff_t> strides, scalar_type type, memory_kind kind) {
  program_operand o;
  describe(o, {&owner, data, extents.data(), strides.data(), static_cast<std::uint8_t>(extents.size()), type, kind});
  return o;
}

device home_of(const expression_program& p) {
  for (const program_operand& o : p.operands)
    if (o.owner) return device(alive(o, {}).device);
  return default_device();
}

bool math_is_fast_by_environment() {
  static const bool is_fast = environment_index("FERRY_MATH", {"exact", "fast"}).value_or(0) == 1;
  return is_fast;
}

int& fast_math_depth() {
  thread_local int depth = math_is_fast_by_environment() ? 1 : 0;
  return depth;
}

void assign_programs(const stream_ref* given, std::span<const assignment> all, source_line at) {
  refuse_inside_submission("an assignment of an expression");
  const program_shape& first = all.front().to.shape;
  for (const assignment& a : all) need_shape(a, first, at);
  if (first.is_empty()) return;
  const stream_ref s = given ? *given : default_stream(device(alive(all.front().to, at).device));
  need_current(s);

  const expression_program* p = all.front().value;
  if (all.size() == 1 && p->joined) [[unlikely]]
    if (assign_parts(s, all.front(), at)) return;
  std::optional<expression_program> changed;
  const auto change = [&]() -> expression_program& {
    if (!changed) p = &changed.emplace(*p);
    return *changed;
  };
  small_vector<bound_output, 4> outputs;
  for (const assignment& a : all) {
    std::uint8_t value = a.value == all.front().value ? p->root : change().append(*a.value);
    if (const scalar_type type = computed_as(a.to.type); p->code[value].type != type)
      value = change().converted(value, type);
    outputs.push_back({&a.to, value});
  }
  for (const assignment& a : all)
    for (const assignment* b = &a + 1; b != all.data() + all.size(); ++b)
      if (may_overlap(a.to, b->to))
        throw invalid_argument("fr::assign: the destinations " + array_text(look_at(a.to)) + " and " +
                               array_text(look_at(b->to)) + in_line(at) +
                               " overlap: assign them in calls of their own");

  const byte_ranges ranges = ranges_of(p->operands.get());
  std::vector<program_operand> temporaries;
  for (bound_output& o : outputs) {
    if (!is_hazard(*p, ranges, *o.to)) continue;
    (void)alive(*o.to, at);
    temporaries.reserve(all.size());  // outputs refer to them
    temporaries.push_back(new_elements(o.to->shape, o.to->type, s.where()));
    o.to = &temporaries.back();
  }
  submit_program(s, *p, ranges, outputs.get(), temporaries.empty(), at);
  if (temporaries.empty()) [[likely]]
    return;
  for (std::size_t k = 0, t = 0; k != all.size(); ++k) {
    if (outputs[k].to == &all[k].to) continue;
    const expression_program result = array_program(temporaries[t++]);
    const bound_output copy{&all[k].to, result.root};
    submit_program(s, result, ranges_of(result.operands.get()), {&copy, 1}, false, at);
  }
}

void assign_program(const stream_ref* s, const array_elements& to, const expression_program& value, source_line at) {
  // Not destroyed: the caller's reference to the memory is enough, and a second one would have to be counted.
  union uncounted {
    uncounted() : one{{}, nullptr} {}
    ~uncounted() {}
    assignment one;
  } a;
  describe_elements(a.one.to, to);
  std::memcpy(static_cast<void*>(&a.one.to.owner), static_cast<const void*>(to.owner), sizeof(allocation_ref));
  a.one.value = &value;
  assign_programs(s, {&a.one, 1}, at);
}

}  // namespace ferry::inline FERRY_ABI::detail
