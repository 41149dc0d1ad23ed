/// @file
/// The members of a structure of arrays for kernels and CPU loops: one pointer each, and a common size.
#pragma once
#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ferry/core/macros.hpp"
#include "ferry/core/mdspan.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

namespace detail {

template <std::size_t I, class T>
struct soa_slot {
  T* data = nullptr;
};
template <class Indices, class... M>
struct soa_slots;
template <std::size_t... I, class... M>
struct soa_slots<std::index_sequence<I...>, M...> : soa_slot<I, M>... {};

template <class From, class To>
inline constexpr bool same_or_more_const = std::is_same_v<From, To> || std::is_same_v<const From, To>;

}  // namespace detail

/// Non-owning members of a structure of arrays, `size` elements each.
/// @tparam M element types of the members; const for read-only ones
template <class... M>
class soa_span : private detail::soa_slots<std::index_sequence_for<M...>, M...> {
  template <std::size_t... I>
  using slots = detail::soa_slots<std::index_sequence<I...>, M...>;

 public:
  static constexpr std::size_t members = sizeof...(M);
  template <std::size_t I>
  using member_type = std::tuple_element_t<I, std::tuple<M...>>;

  soa_span() = default;
  /// @param size number of elements of each member
  /// @param data first element of each member
  /// @param label name for messages
  soa_span(std::size_t size, M*... data, detail::array_label label = {})
      : detail::soa_slots<std::index_sequence_for<M...>, M...>{{data}...},
        size_(size),
        label_(label) {}
  /// The same members, some of them read-only.
  template <class... U>
  requires(sizeof...(U) == sizeof...(M) && (detail::same_or_more_const<U, M> && ...) && !(std::is_same_v<U, M> && ...))
      soa_span(const soa_span<U...>& o)
      : soa_span(o, std::index_sequence_for<M...>()) {}

  /// Number of elements of each member.
  FERRY_HOST_DEVICE std::size_t size() const { return size_; }
  /// Name of the array for messages.
  FERRY_HOST_DEVICE const detail::array_label& label() const { return label_; }
  /// First element of member I.
  template <std::size_t I>
  FERRY_HOST_DEVICE member_type<I>* data() const {
    return static_cast<const detail::soa_slot<I, member_type<I>>&>(*this).data;
  }
  /// Element i of member I, i in [0, size()). Unchecked.
  template <std::size_t I>
  FERRY_HOST_DEVICE member_type<I>& get(std::size_t i) const {
    return data<I>()[i];
  }
  /// Member I as an mdspan of all its elements, with checks as in mdspan.
  template <std::size_t I>
  FERRY_HOST_DEVICE mdspan<member_type<I>, 1> span() const {
    return mdspan<member_type<I>, 1>(data<I>(), size_, label_);
  }
  /// References to element i of every member. On the CPU only.
  std::tuple<M&...> operator[](std::size_t i) const { return at(i, std::index_sequence_for<M...>()); }

  /// The same members, without checks of indices. Used by loops on the CPU.
  FERRY_HOST_DEVICE soa_span unchecked() const {
    soa_span s = *this;
    s.label_.set_unchecked();
    return s;
  }

  /// The same elements at another address. For the simulator, which runs kernels on copies.
  template <class Move>
  soa_span relocated(const Move& move) const {
    return relocated(move, std::index_sequence_for<M...>());
  }

 private:
  template <class... U, std::size_t... I>
  soa_span(const soa_span<U...>& o, std::index_sequence<I...>)
      : soa_span(o.size(), o.template data<I>()..., o.label()) {}
  template <std::size_t... I>
  std::tuple<M&...> at(std::size_t i, std::index_sequence<I...>) const {
    return {data<I>()[i]...};
  }
  template <class Move, std::size_t... I>
  soa_span relocated(const Move& move, std::index_sequence<I...>) const {
    return soa_span(size_, move(data<I>())..., label_);
  }

  std::size_t size_ = 0;
  detail::array_label label_;
};

/// @}

}  // namespace ferry::inline FERRY_ABI
