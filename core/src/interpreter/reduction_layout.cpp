#include "interpreter/reduction_layout.hpp"

#include <bit>
#include <cstring>
#include <utility>

#include "interpreter/loop_table.hpp"

namespace ferry::inline FERRY_ABI::detail {

const reduction_table& common_reduction_loops() {
  return avx2_reduction_loops() ? *avx2_reduction_loops() : portable_reduction_loops();
}

reduction_layout::reduction_layout(const reduction_evaluation& r) {
  std::size_t d = 0;
  for (; d != r.input.rank && !r.is_reduced[d]; ++d) inner *= r.input.extent[d];
  if (d == r.input.rank) std::swap(inner, outer);  // no axis is reduced: each element is a run of length 1
  for (; d != r.input.rank && r.is_reduced[d]; ++d) reduced *= r.input.extent[d];
  for (; d != r.input.rank; ++d) outer *= r.input.extent[d];
}

void accumulator_memory::copy(std::size_t to, const accumulators& from, std::size_t n) {
  const accumulators here = at(to);
  std::memcpy(here.value, from.value, n * size_);
  if (second_size_ != 0) std::memcpy(here.second, from.second, n * second_size_);
}

combination_tree::combination_tree(reduction_operation what, scalar_type type, std::size_t width, std::size_t parts)
    : loops_(&loops_of(what, type)),
      width_(width) {
  const auto levels = static_cast<std::size_t>(std::bit_width(parts)) + 1;
  nodes_.reserve(levels);
  for (std::size_t k = 0; k != levels; ++k) memory_.emplace_back(width, what, type);
}

accumulators combination_tree::next() {
  const accumulators a = memory_[nodes_.size()].at(0);
  loops_->clear(a, width_);
  return a;
}

void combination_tree::join_last(std::size_t n) {
  const node more = nodes_.back();
  nodes_.pop_back();
  node& to = nodes_.back();
  loops_->join(memory_[nodes_.size() - 1].at(0), memory_[nodes_.size()].at(0), n, to.count, more.count);
  to = {to.level + 1, to.count + more.count};
}

void combination_tree::push(std::size_t n, std::size_t count) {
  nodes_.push_back({0, count});
  while (nodes_.size() > 1 && nodes_[nodes_.size() - 2].level == nodes_.back().level) join_last(n);
}

accumulators combination_tree::take(std::size_t n) {
  while (nodes_.size() > 1) join_last(n);
  total_ = nodes_.front().count;
  nodes_.clear();
  return memory_.front().at(0);
}

result_writer::result_writer(const reduction_evaluation& r, const reduction_output& o, std::size_t most)
    : loops_(&loops_of(o.what, type_of(r, o))),
      output_(&o),
      type_(combined_as(o.what, type_of(r, o))) {
  auto stride = static_cast<std::ptrdiff_t>(size_of(o.to.type));
  for (std::size_t d = 0; d != r.input.rank; ++d) {
    if (r.is_reduced[d]) continue;
    extent_[rank_] = r.input.extent[d];
    stride_[rank_] = o.to.stride_bytes[d];
    is_flat_ = is_flat_ && stride_[rank_] == stride;
    stride *= static_cast<std::ptrdiff_t>(extent_[rank_++]);
  }
  finished_.resize(most * size_of(type_));
  if (type_ != o.to.type) converted_.resize(most * size_of(o.to.type));
}

std::byte* result_writer::address(std::size_t index) const {
  std::byte* p = output_->to.data;
  for (std::size_t d = 0; d != rank_; ++d) {
    p += static_cast<std::ptrdiff_t>(index % extent_[d]) * stride_[d];
    index /= extent_[d];
  }
  return p;
}

void result_writer::write(std::size_t first, const accumulators& from, std::size_t n, std::size_t count) {
  const std::byte* done = finished_.data();
  loops_->finish(finished_.data(), from, n, output_->finish, count, output_->freedom);
  const std::size_t size = size_of(output_->to.type);
  if (type_ != output_->to.type) {
    const loop_table& table = avx2_loops() ? *avx2_loops() : portable_loops();
    table.casts[static_cast<int>(output_->to.type)][static_cast<int>(type_)](converted_.data(), done, nullptr, nullptr,
                                                                             n);
    done = converted_.data();
  }
  if (is_flat_) {
    std::memcpy(output_->to.data + first * size, done, n * size);
    return;
  }
  for (std::size_t i = 0; i != n; ++i) std::memcpy(address(first + i), done + i * size, size);
}

}  // namespace ferry::inline FERRY_ABI::detail
