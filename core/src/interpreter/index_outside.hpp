// The error of an index that is outside of an array's axis.
#pragma once
#include <cstdint>
#include <span>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

class index_outside : public invalid_argument {
 public:
  // indices: one of them is outside of [-extent, extent). step: the number of the instruction that found it.
  index_outside(const evaluation& e, std::size_t step, std::span<const std::int64_t> indices, std::int64_t extent);
  // Number of the operand that is gathered with this index.
  std::size_t operand() const { return operand_; }

 private:
  std::size_t operand_;
};

}  // namespace ferry::inline FERRY_ABI::detail
