// The axes of a reduction as three numbers: elements are ordered by inner kept index, reduced index, outer kept index.
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "ferry/core/detail/operations/reduction_evaluation.hpp"
#include "interpreter/reduction_loops.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Runs and groups below this length are combined within one block. At least as long as the shortest line of a
// block_plan.
inline constexpr std::size_t shortest_run = 512;

struct reduction_layout {
  explicit reduction_layout(const reduction_evaluation& r);
  std::size_t inner = 1, reduced = 1, outer = 1;
  std::size_t group() const { return inner * reduced; }
  // True if blocks contain whole groups.
  bool is_short() const { return group() < shortest_run; }
};

const reduction_table& common_reduction_loops();
inline const reduction_loops& loops_of(reduction_operation what, scalar_type type) {
  return common_reduction_loops().reduce[static_cast<int>(what)][static_cast<int>(type)];
}
// Returns the type of the values that an output combines.
inline scalar_type type_of(const reduction_evaluation& r, const reduction_output& o) {
  return r.input.code[o.value].type;
}

// Owns the memory of accumulators.
class accumulator_memory {
 public:
  accumulator_memory() = default;
  accumulator_memory(std::size_t n, reduction_operation what, scalar_type type)
      : size_(size_of(type)),
        second_size_(what == reduction_operation::moments ? size_of(real_of(type)) : sizeof(std::int64_t)),
        second_((n * size_ + 7) / 8 * 8),
        bytes_(second_ + n * second_size_) {}
  accumulators at(std::size_t i) { return {bytes_.data() + i * size_, bytes_.data() + second_ + i * second_size_}; }
  void copy(std::size_t to, const accumulators& from, std::size_t n);

 private:
  std::size_t size_ = 0, second_size_ = 0, second_ = 0;
  std::vector<std::byte> bytes_;
};

// Joins results of consecutive parts in pairs, so that rounding errors grow with the logarithm of their number.
class combination_tree {
 public:
  // Allocates memory for at most `parts` parts of at most `width` accumulators. Other members do not allocate.
  combination_tree(reduction_operation what, scalar_type type, std::size_t width, std::size_t parts);
  // Returns empty accumulators for the next part; valid until push().
  accumulators next();
  // Adds the part in the accumulators that next() returned: `n` of them, each of `count` values.
  void push(std::size_t n, std::size_t count);
  // Joins all parts and returns the accumulators, which are valid until next(). Afterwards the tree is empty.
  accumulators take(std::size_t n);
  // Returns the number of values in each accumulator of the last take().
  std::size_t count() const { return total_; }

 private:
  struct node {
    std::size_t level, count;
  };
  void join_last(std::size_t n);
  const reduction_loops* loops_;
  std::size_t width_, total_ = 0;
  std::vector<accumulator_memory> memory_;  // by node
  std::vector<node> nodes_;
};

// Writes results of consecutive kept indices to memory, the inner ones first.
class result_writer {
 public:
  result_writer(const reduction_evaluation& r, const reduction_output& o, std::size_t most);
  void write(std::size_t first, const accumulators& from, std::size_t n, std::size_t count);

 private:
  std::byte* address(std::size_t index) const;
  const reduction_loops* loops_;
  const reduction_output* output_;
  scalar_type type_;
  bool is_flat_ = true;
  std::size_t rank_ = 0;  // kept axes
  std::array<std::size_t, max_rank> extent_{};
  std::array<std::ptrdiff_t, max_rank> stride_{};
  std::vector<std::byte> finished_, converted_;
};

}  // namespace ferry::inline FERRY_ABI::detail
