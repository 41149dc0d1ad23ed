// The submission of scatters.
#include <string>
#include <utility>

#include "expressions/bound_program.hpp"
#include "expressions/operand_memory.hpp"
#include "ferry/core/basic_array.hpp"
#include "ferry/core/checks.hpp"
#include "ferry/core/detail/copies/out_of_reach.hpp"
#include "ferry/core/detail/kernels/staged_launch.hpp"
#include "ferry/core/detail/moving/scatter_request.hpp"
#include "ferry/core/detail/operations/scatter_task.hpp"
#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "sorting/dense_elements.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::string to_array(const scatter_request& r, source_line at) {
  return concat("fr::", r.name, " to ", array_text(look_at(*r.to)), in_line(at));
}

// Returns the shape of the values: that of the destination, with the dimensions of the indices in place of the indexed
// axis.
program_shape shape_of_values(const scatter_request& r, std::size_t axis, source_line at) {
  const program_shape &to = r.to->shape, &i = r.indices.shape;
  program_shape all;
  all.rank = to.rank - 1 + i.rank;
  if (all.rank > max_rank)
    throw invalid_argument(concat(to_array(r, at), " at indices of ", text_of(i), ": the values have more than ",
                                  max_rank, " dimensions"));
  for (std::size_t d = 0; d != i.rank; ++d) all.extent[axis + d] = i.extent[d];
  for (std::size_t d = 0; d != to.rank; ++d)
    if (d != axis) all.extent[d < axis ? d : d - 1 + i.rank] = to.extent[d];
  return all;
}

void need_fit(const scatter_request& r, const program_shape& wanted, std::size_t axis, source_line at) {
  const program_shape& v = r.values.shape;
  bool fits = v.rank <= wanted.rank;
  for (std::size_t d = 0; fits && d != v.rank; ++d) fits = v.extent[d] == 1 || v.extent[d] == wanted.extent[d];
  if (!fits)
    throw invalid_argument(to_array(r, at) + ": the values '" + text_of(r.values) + "' of " + text_of(v) +
                           " do not broadcast to " + text_of(wanted) + ", the shape for indices of " +
                           text_of(r.indices.shape));
  const program_shape& to = r.to->shape;
  for (std::size_t d = 0; d != to.rank; ++d)
    if (to.extent[d] > 1 && r.to->stride_bytes[d] == 0 && !to.is_empty())
      throw invalid_argument(to_array(r, at) + ": some of its indices name the same element");
  if (to.extent[axis] == 0 && !wanted.is_empty())
    throw invalid_argument(concat(to_array(r, at), ": there are no elements along dimension ", r.dimension));
}

// Returns the elements of a program as dense memory of this type that does not overlap the destination.
program_operand source_of_scatter(const stream_ref& s, const scatter_request& r, expression_program& p,
                                  scalar_type type, source_line at) {
  program_operand o = dense_elements(s, p, type, 0, at);
  if (!may_overlap(o, *r.to)) return o;
  program_operand apart = new_elements(o.shape, o.type, s.where());
  copy_operand(s, apart, o, at);
  return apart;
}

scatter_task task_of(const scatter_request& r, const program_operand& indices, const program_operand& values,
                     std::size_t axis) {
  scatter_task t;
  t.type = r.to->type;
  t.is_sum = r.is_sum;
  t.is_checked = runtime::current().level() == check_level::all;
  t.has_long_indices = indices.type == scalar_type::int64;
  t.rank = r.to->shape.rank;
  t.axis = axis;
  t.indexed = static_cast<std::int64_t>(r.to->shape.extent[axis]);
  t.count = 1;
  for (std::size_t d = 0; d != t.rank; ++d) {
    t.extent[d] = r.to->shape.extent[d];
    t.stride_bytes[d] = r.to->stride_bytes[d];
  }
  t.extent[axis] = 1;
  for (std::size_t d = 0; d != indices.shape.rank; ++d) t.extent[axis] *= indices.shape.extent[d];
  for (std::size_t d = 0; d != t.rank; ++d) t.count *= t.extent[d];
  t.indices = indices.data;
  t.values = values.data;
  t.to = const_cast<std::byte*>(r.to->data);
  return t;
}

}  // namespace

void submit_scatter(const stream_ref* given, scatter_request r, source_line at) {
  refuse_inside_submission(concat("fr::", r.name));
  const std::size_t axis = r.to->shape.rank - 1 - r.dimension;
  const program_shape wanted = shape_of_values(r, axis, at);
  need_fit(r, wanted, axis, at);
  if (wanted.is_empty()) return;
  const stream_ref s = given ? *given : default_stream(device(alive(*r.to, at).device));
  need_current(s);

  r.values.shape = wanted;
  const instruction& root = r.indices.code[r.indices.root];
  const scalar_type index_type =
      root.what == operation::load && root.from == scalar_type::int32 ? scalar_type::int32 : scalar_type::int64;
  const program_operand indices = source_of_scatter(s, r, r.indices, index_type, at);
  const program_operand values = source_of_scatter(s, r, r.values, r.to->type, at);
  const scatter_task t = task_of(r, indices, values, axis);

  runtime& m = runtime::current();
  small_vector<access, 3> uses;
  small_vector<kernel_use, 3> bytes;
  const auto add = [&](const program_operand& o, bool write) {
    allocation& a = alive(o, at);
    const byte_range where = o.bytes();
    uses.push_back({&a, where, write, false, at});
    if (m.is_simulated())
      bytes.push_back({where.begin, where.size(), true, write, array_label(a.name.get().c_str()), at});
  };
  add(indices, false), add(values, false), add(*r.to, true);
  const int device = s.timeline().device();
  const std::span<access> all{uses.begin(), uses.size()};
  if (needs_staging(s, all)) [[unlikely]] {
    staged_launch enqueue(s, all);
    const relocation move = enqueue.addresses();
    for (kernel_use& u : bytes) u.begin = move(u.begin);
    const scatter_task there = t.moved(move);
    enqueue([&](native_stream n) { m.backend().scatter(n, device, there, bytes.get()); });
    return;
  }
  submit_ordered(s, all, reach::by_kernel, [&](native_stream n) { m.backend().scatter(n, device, t, bytes.get()); });
}

}  // namespace ferry::inline FERRY_ABI::detail
