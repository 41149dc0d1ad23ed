/// @file
/// Structures of arrays: the members of many particles, each contiguous, in one allocation.
#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <tuple>
#include <utility>

#include "ferry/core/array.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/detail/soa/soa_iterator.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/fill.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup arrays
/// @{

/// Structure of arrays: `size` elements of each M, in one allocation, each member aligned to 256 bytes. Accesses to
/// different members never wait for each other. Movable; copied only explicitly. Capacity beyond size (reserve) makes
/// later resizes cheap.
/// @tparam Kind kind of memory
/// @tparam M trivially copyable types of the members
template <memory_kind Kind, class... M>
class basic_soa {
  static_assert(sizeof...(M) > 0, "a structure of arrays needs members");
  static_assert((std::is_trivially_copyable_v<M> && ...), "ferry arrays hold trivially copyable types");
  static_assert(((!std::is_const_v<M> && !std::is_reference_v<M>)&&...),
                "members of a structure of arrays are neither const nor references: in(s) makes them read-only");

 public:
  /// Number of members.
  static constexpr std::size_t members = sizeof...(M);
  /// Alignment of each member, in bytes.
  static constexpr std::size_t alignment = 256;
  static constexpr memory_kind kind = Kind;
  template <std::size_t I>
  using member_type = std::tuple_element_t<I, std::tuple<M...>>;
  template <std::size_t I>
  using member_view = array_view<member_type<I>, 1, Kind>;
  template <std::size_t I>
  using const_member_view = array_view<const member_type<I>, 1, Kind>;

  basic_soa() = default;
  /// Allocates a structure with undefined contents. May block when the pool grows.
  /// @throws out_of_memory if the pool cannot allocate the bytes
  /// @throws invalid_argument if there is no such device
  explicit basic_soa(std::size_t size, ferry::device d = default_device())
      : layout_(size),
        bytes_(extents<1>(layout_.bytes), d),
        size_(size) {}
  /// Makes a structure with elements from host memory, one span for each member. Blocks until they have been read.
  /// @throws invalid_argument if their sizes differ
  static basic_soa from(std::span<const M>... elements, ferry::device d = default_device()) {
    const std::array<std::size_t, members> sizes{elements.size()...};
    for (const std::size_t n : sizes)
      if (n != sizes[0])
        throw invalid_argument(detail::concat("soa::from got members of ", sizes[0], " and of ", n,
                                              " elements: all need the same number"));
    basic_soa s(sizes[0], d);
    s.each_member([&](auto i) { copy(std::get<i()>(std::tie(elements...)), s.template member<i()>(), source_line{}); });
    return s;
  }
  basic_soa(basic_soa&& o) noexcept { swap(o); }
  basic_soa& operator=(basic_soa&& o) noexcept {
    basic_soa taken(std::move(o));
    swap(taken);
    return *this;
  }
  basic_soa(const basic_soa&) = delete;
  basic_soa& operator=(const basic_soa&) = delete;

  /// Number of elements of each member.
  std::size_t size() const { return size_; }
  /// True if there are no elements.
  bool empty() const { return size_ == 0; }
  /// Number of elements that fit without a new allocation.
  std::size_t capacity() const { return layout_.capacity; }
  /// Device of the memory.
  ferry::device device() const { return bytes_.device(); }
  /// Name of the structure; empty if it has none.
  const std::string& name() const { return bytes_.name(); }
  /// Sets the name for messages and reports.
  basic_soa& name(std::string text) {
    bytes_.name(std::move(text));
    return *this;
  }
  /// View of one member for kernels, copies and the CPU: the same allocation, only the bytes of the member. An enum can
  /// name members: enum field { x, v }; p.member<x>().
  template <std::size_t I>
  member_view<I> member() {
    return view<I, member_view<I>>(size_);
  }
  /// @overload
  template <std::size_t I>
  const_member_view<I> member() const {
    return view<I, const_member_view<I>>(size_);
  }
  /// The bytes of all members and the padding between them.
  const array_view<std::byte, 1, Kind>& as_bytes() const { return bytes_; }
  const detail::allocation_ref& owner() const { return bytes_.owner(); }

  /// Changes the number of elements. Remaining elements are preserved; new ones are undefined. Within the capacity
  /// nothing moves; otherwise it acts as reserve(size).
  void resize(std::size_t size) {
    if (size > capacity()) reserve(size);
    size_ = size;
  }
  /// Sets the minimum capacity. If it grows, copies into a new allocation (may block when the pool grows). Views of the
  /// old allocation keep it alive, and do not see later changes.
  void reserve(std::size_t capacity) {
    if (capacity > this->capacity()) move_to(capacity);
  }
  /// Reduces the capacity to the size.
  void shrink_to_fit() {
    if (size_ < capacity()) move_to(size_);
  }
  /// Returns a copy of the structure, in memory of the same kind on the same device. Ordered on that device's stream of
  /// this thread.
  basic_soa clone() const;
  /// Releases the bytes now. Later use of the structure or of a view of it throws use_after_free.
  void free() noexcept { bytes_.free(); }

  /// CPU access to element i of every member. Blocks until conflicting work is complete, then costs one comparison.
  std::tuple<M&...> operator[](detail::located_index i) {
    detail::need_host_access<Kind>();
    (void)bytes_[detail::located_index(0, i.at)];  // waits for access to all bytes; the reference is unused
    return span<M...>()[i.value];
  }
  /// @overload
  std::tuple<const M&...> operator[](detail::located_index i) const {
    detail::need_host_access<Kind>();
    (void)bytes_[detail::located_index(0, i.at)];
    return span<const M...>()[i.value];
  }
  /// One host access check for all elements; valid until the next conflicting submission.
  auto begin(source_line at = source_line::here()) { return first<M...>(at); }
  auto end() { return last<M...>(); }
  auto begin(source_line at = source_line::here()) const { return first<const M...>(at); }
  auto end() const { return last<const M...>(); }
  auto cbegin(source_line at = source_line::here()) const { return begin(at); }
  auto cend() const { return end(); }
  /// Blocks until the CPU may access all members.
  void wait_for_host(bool write, source_line at = source_line::here()) const { bytes_.wait_for_host(write, at); }
  /// Addresses of all members, without any synchronization.
  soa_span<M...> unsynchronized_span() { return span<M...>(); }
  /// @overload
  soa_span<const M...> unsynchronized_span() const { return span<const M...>(); }

  auto as_kernel_argument(source_line at) const;
  auto as_kernel_argument(source_line at);

  void swap(basic_soa& o) noexcept {
    std::swap(layout_, o.layout_);
    bytes_.swap(o.bytes_);
    std::swap(size_, o.size_);
  }
  friend void swap(basic_soa& a, basic_soa& b) noexcept { a.swap(b); }
  /// Calls f(integral_constant<I>) for each member.
  template <class F>
  static void each_member(F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::integral_constant<std::size_t, I>()), ...); }
    (std::index_sequence_for<M...>());
  }

 private:
  // Offset of each member, for a capacity of `capacity` elements.
  struct layout {
    std::size_t capacity = 0, bytes = 0;
    std::array<std::size_t, members> offset{};
    layout() = default;
    explicit layout(std::size_t n) : capacity(n) {
      static constexpr std::array<std::size_t, members> element{sizeof(M)...};
      for (std::size_t k = 0; k != members; ++k) {
        offset[k] = bytes;
        std::size_t own = 0;
        if (__builtin_mul_overflow(n, element[k], &own) || __builtin_add_overflow(own, alignment - 1, &own) ||
            __builtin_add_overflow(bytes, own / alignment * alignment, &bytes))
          throw invalid_argument(
              detail::concat(n, " elements of a structure of ", members, " arrays are more than 2^64 bytes"));
      }
    }
  };
  template <std::size_t I>
  member_type<I>* data() const {
    auto* const first = const_cast<std::byte*>(bytes_.unsynchronized_data());
    return first ? reinterpret_cast<member_type<I>*>(first + layout_.offset[I]) : nullptr;
  }
  template <std::size_t I, class View>
  View view(std::size_t count) const {
    return View(bytes_.owner(), data<I>(), extents<1>(count), {1});
  }
  template <class... N>
  soa_span<N...> span() const {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return soa_span<N...>(size_, data<I>()..., detail::array_label(bytes_.owner() ? bytes_.name().c_str() : ""));
    }
    (std::index_sequence_for<M...>());
  }
  // As in views: no iterators for memory that the CPU cannot access.
  template <class... N>
  using iterator = std::conditional_t<is_host_accessible(Kind), detail::soa_iterator<N...>,
                                      detail::no_host_iterator<std::tuple<N&...>, Kind>>;
  template <class... N>
  iterator<N...> first(source_line at) const {
    if constexpr (is_host_accessible(Kind)) {
      bytes_.wait_for_host(!(std::is_const_v<N> && ...), at);
      return {span<N...>(), 0};
    } else {
      return {};
    }
  }
  template <class... N>
  iterator<N...> last() const {
    if constexpr (is_host_accessible(Kind))
      return {span<N...>(), size_};
    else
      return {};
  }
  void move_to(std::size_t capacity) {
    basic_soa fresh(capacity, device());
    fresh.size_ = std::min(size_, capacity);
    each_member([&](auto i) {
      copy(std::as_const(*this).template view<i(), const_member_view<i()>>(fresh.size_), fresh.template member<i()>(),
           source_line{});
    });
    if (owner() && fresh.owner()) fresh.name(name());
    swap(fresh);
  }

  layout layout_;
  basic_array<std::byte, 1, Kind> bytes_;
  std::size_t size_ = 0;
};

/// Structure of arrays of the default kind of memory.
template <class... M>
using soa = basic_soa<memory_kind::FERRY_DEFAULT_KIND, M...>;
/// Structure of arrays in the memory of one device.
template <class... M>
using device_soa = basic_soa<memory_kind::device, M...>;
/// Structure of arrays that the CPU and every device access at one address.
template <class... M>
using unified_soa = basic_soa<memory_kind::unified, M...>;
/// Structure of arrays in pinned memory of the CPU.
template <class... M>
using host_soa = basic_soa<memory_kind::host, M...>;

/// @}

}  // namespace ferry::inline FERRY_ABI
