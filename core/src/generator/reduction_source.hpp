// The parts that the generated kernels of reductions, scans and counts share.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ferry/core/detail/operations/reduction_evaluation.hpp"
#include "generator/source_builder.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Greatest number of threads of a block; the kernels are launched with as many.
inline constexpr unsigned reduction_threads = 256;

// Returns the type of the running values of a scan: sums of float are computed in double.
constexpr scalar_type carried_as(reduction_operation what, scalar_type t) {
  if (what != reduction_operation::sum) return t;
  return t == scalar_type::float32 ? scalar_type::float64 : t == scalar_type::complex64 ? scalar_type::complex128 : t;
}
// Returns the type of the counters of a histogram.
constexpr scalar_type counted_as(const reduction_output& o) {
  return o.weight == evaluation_output::no_mask ? scalar_type::uint64 : scalar_type::float64;
}

bool needs_wide_indices(const reduction_evaluation& r);

// Appends the bytes that determine these parts.
void append_reduction_shape(std::string& to, const reduction_evaluation& r);

// The structure of the arguments, as write_arguments() declares it. `numbers`: its last members.
struct reduction_numbers {
  std::size_t outputs;  // kept indices
  std::size_t reduced;  // values of each
  std::size_t parts;    // of the values of a kept index
  std::size_t step;     // number of the launch
  std::size_t bins;     // of a count
};
std::string reduction_arguments(const reduction_evaluation& r, const reduction_numbers& n);

// The values that a thread loads at once: n of them, in groups of `lanes` successive values. Group k begins at `here +
// k * step`.
struct value_positions {
  unsigned n, step, lanes = 1;
  bool are_vectors = false;  // a group is one load of every operand that does not repeat its elements; see can_load()
  bool are_whole = false;    // all values are below `last`; requires one reduced axis
  bool are_clamped = false;  // reads the first value in place of values at or after `last`; otherwise, skips them
};
// Writes a kernel. In its body, `index` is the type of indices, and g has the arguments.
class reduction_source {
 public:
  reduction_source(const reduction_evaluation& r, bool is_wide) : r_(r), e_(r.input), is_wide_(is_wide) {}

  // Writes the functions and types that the program needs.
  void write_head(std::string_view more_functions);
  // Writes the declaration of the kernel. blocks: number of blocks that a multiprocessor should have room for; 0: any.
  void open_kernel(unsigned blocks = 0);
  // Declares the indices x0, x1, ... as 0.
  void write_indices();
  // Writes the division of `at` into the indices of the reduced or the kept axes.
  void split(bool of_reduced, const std::string& at);
  // Declares b0, b1, ..., the addresses of the operands for the kept index.
  void write_bases();
  // Loads values v0[], v1[], ... along the reduced axes, at positions below `last`.
  void write_loads(const value_positions& p);
  // Declares the number of values below `last`, which is `count`.
  void write_count(const value_positions& p);
  // Opens the loop over the loaded values: u is the number of the value, y0, y1, ... are results. i is the position,
  // unless positions are clamped.
  void open_values(const value_positions& p);
  // Stores register r0 of type `from` at the kept index, and at the reduced one, at + step, if `at` is not empty.
  void write_store(std::size_t k, scalar_type from, const std::string& at = "", const std::string& step = "");
  // Stores values of type `from` at successive reduced indices, the first of which is at + step, by one instruction.
  void write_vector_store(std::size_t k, scalar_type from, const std::string& at, const std::string& step,
                          std::span<const std::string> values);

  const reduction_evaluation& evaluation() const { return r_; }
  std::size_t results() const { return r_.results.size(); }
  scalar_type value_type(std::size_t k) const { return e_.code[values()[k]].type; }
  source_builder& text() { return s_; }

 private:
  std::string result_address(std::size_t k, const std::string& at, const std::string& step, bool is_vector) const;
  // Declares `result`, the converted register r0.
  void write_conversion(std::size_t k, scalar_type from);
  // Numbers of the values that are combined: of the results, or the value and the weight of a count.
  std::vector<std::size_t> values() const;
  void write_arguments();
  void write_element();
  // Returns the position of value u, relative to `here`.
  static std::string position(const value_positions& p);
  // Declares i, the position of value u.
  void write_position(const value_positions& p);

  const reduction_evaluation& r_;
  const detail::evaluation& e_;
  bool is_wide_;
  source_builder s_;
};

}  // namespace ferry::inline FERRY_ABI::detail::generator
