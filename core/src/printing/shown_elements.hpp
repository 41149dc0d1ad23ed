// The elements of an array that are shown, in memory of the CPU.
#pragma once
#include <array>
#include <cstddef>
#include <cstring>
#include <vector>

#include "ferry/core/detail/printing/printed_source.hpp"
#include "ferry/core/print.hpp"

namespace ferry::inline FERRY_ABI::detail {

class shown_elements {
 public:
  // Copies the elements; blocks. In a dimension that is cut, copies only its two ends.
  shown_elements(const printed_source& from, const print_options& how);

  std::size_t rank() const { return rank_; }
  std::size_t count() const { return count_; }
  // True if the array has no elements.
  bool is_empty() const { return is_empty_; }
  // Number of shown elements along a dimension. Dimensions are in the order of indices.
  std::size_t extent(std::size_t d) const { return extent_[d]; }
  // True if the dimension is abbreviated to its two ends.
  bool is_cut(std::size_t d) const { return is_cut_[d]; }
  scalar_type type() const { return type_; }
  // Shown element at a position in row-major order.
  template <class T>
  T at(std::size_t i) const {
    T v;
    std::memcpy(static_cast<void*>(&v), bytes_.data() + i * sizeof v, sizeof v);
    return v;
  }

 private:
  void copy_parts(const printed_source& from, std::size_t edge);
  std::size_t rank_, count_ = 1;
  std::array<std::size_t, max_rank> extent_{};
  std::array<bool, max_rank> is_cut_{};
  bool is_empty_ = false;
  scalar_type type_;
  std::vector<std::byte> bytes_;
};

}  // namespace ferry::inline FERRY_ABI::detail
