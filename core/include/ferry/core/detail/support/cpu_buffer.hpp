// Contiguous elements in host memory for all types; std::vector<bool> would pack its elements into bits.
#pragma once
#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

template <class R>
concept vector_of_bool = std::is_same_v<std::remove_cvref_t<R>, std::vector<bool>>;

// Elements are undefined until they are written.
template <class T>
class cpu_buffer {
 public:
  explicit cpu_buffer(std::size_t n) : elements_(std::make_unique_for_overwrite<T[]>(n)), size_(n) {}
  explicit cpu_buffer(const std::vector<T>& from) : cpu_buffer(from.size()) {
    std::copy(from.begin(), from.end(), elements_.get());
  }
  T* data() const { return elements_.get(); }
  std::size_t size() const { return size_; }
  std::span<T> span() const { return {elements_.get(), size_}; }

 private:
  std::unique_ptr<T[]> elements_;
  std::size_t size_;
};

// A vector of n elements that write(std::span<T>) has written.
template <class T, class Write>
std::vector<T> written_vector(std::size_t n, Write write) {
  if constexpr (std::is_same_v<T, bool>) {
    const cpu_buffer<T> all(n);
    write(all.span());
    return std::vector<T>(all.data(), all.data() + n);
  } else {
    std::vector<T> all(n);
    write(std::span<T>(all));
    return all;
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
