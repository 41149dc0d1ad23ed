// Computes the values of a program block by block, as input of reductions, scans and histograms.
#pragma once
#include <cstddef>
#include <memory>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "interpreter/block_plan.hpp"

namespace ferry::inline FERRY_ABI::detail {

class block_interpreter {
 public:
  // Both are valid as long as this object.
  block_interpreter(const evaluation& e, const block_plan& plan);
  block_interpreter(block_interpreter&&) noexcept;
  ~block_interpreter();
  // Computes block k, without storing outputs. Returns its number of elements.
  std::size_t compute(std::size_t k);
  // Returns the elements of a value of the block, which are contiguous. Only values that a step computes into an output
  // may be written.
  std::byte* value(std::uint8_t number) const;
  // Stores elements, of the type of the output's value, as the block of the output.
  void store(std::size_t output, std::byte* from);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace ferry::inline FERRY_ABI::detail
