// Iterator over structures of arrays on the CPU.
#pragma once
#include <compare>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/soa_span.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Visits all members together: *i is a tuple of references, for (auto [x, v] : particles).
template <class... M>
class soa_iterator {
 public:
  using iterator_category = std::input_iterator_tag;  // C++17 category of iterators that return proxies
  using iterator_concept = std::random_access_iterator_tag;
  using value_type = std::tuple<std::remove_const_t<M>...>;
  using reference = std::tuple<M&...>;
  using difference_type = std::ptrdiff_t;

  soa_iterator() = default;
  soa_iterator(const soa_span<M...>& s, std::size_t at) : span_(s), at_(static_cast<std::ptrdiff_t>(at)) {}
  reference operator*() const { return span_[static_cast<std::size_t>(at_)]; }
  reference operator[](difference_type n) const { return *(*this + n); }
  soa_iterator& operator+=(difference_type n) {
    at_ += n;
    return *this;
  }
  soa_iterator& operator-=(difference_type n) { return *this += -n; }
  soa_iterator& operator++() { return *this += 1; }
  soa_iterator& operator--() { return *this += -1; }
  soa_iterator operator++(int) { return std::exchange(*this, *this + 1); }
  soa_iterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend soa_iterator operator+(soa_iterator i, difference_type n) { return i += n; }
  friend soa_iterator operator+(difference_type n, soa_iterator i) { return i += n; }
  friend soa_iterator operator-(soa_iterator i, difference_type n) { return i -= n; }
  friend difference_type operator-(const soa_iterator& a, const soa_iterator& b) { return a.at_ - b.at_; }
  bool operator==(const soa_iterator& o) const { return at_ == o.at_; }
  auto operator<=>(const soa_iterator& o) const { return at_ <=> o.at_; }

 private:
  soa_span<M...> span_;
  std::ptrdiff_t at_ = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail
