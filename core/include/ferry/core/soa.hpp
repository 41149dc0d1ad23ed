// Structures of arrays: the members of many particles, each contiguous, in one allocation.
#pragma once
#include <algorithm>
#include <array>
#include <compare>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "ferry/core/arguments.hpp"
#include "ferry/core/array.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/kernel_parameters.hpp"
#include "ferry/core/soa_span.hpp"

namespace ferry {

// Goes over all members at once: *i is a tuple of references, for (auto [x, v] : particles).
template <class... M>
class soa_iterator {
 public:
  using iterator_category = std::input_iterator_tag;  // as C++17 sorts those whose references are no references
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

// `size` elements of each M, in one allocation, each member aligned to 256 bytes. Members used apart never wait for each
// other. Moves, and copies only when asked. Room beyond size (reserve) makes later resizes cheap.
template <memory_kind Kind, class... M>
class basic_soa {
  static_assert(sizeof...(M) > 0, "a structure of arrays needs members");
  static_assert((std::is_trivially_copyable_v<M> && ...), "ferry arrays hold trivially copyable types");
  static_assert(((!std::is_const_v<M> && !std::is_reference_v<M>)&&...),
                "members of a structure of arrays are neither const nor references: in(s) makes them read-only");

 public:
  static constexpr std::size_t members = sizeof...(M);
  static constexpr std::size_t alignment = 256;
  static constexpr memory_kind kind = Kind;
  template <std::size_t I>
  using member_type = std::tuple_element_t<I, std::tuple<M...>>;
  template <std::size_t I>
  using member_view = array_view<member_type<I>, 1, Kind>;
  template <std::size_t I>
  using const_member_view = array_view<const member_type<I>, 1, Kind>;

  basic_soa() = default;
  // Contents are undefined. May block when the pool has to grow. Throws out_of_memory, invalid_argument.
  explicit basic_soa(std::size_t size, ferry::device d = default_device())
      : layout_(size),
        bytes_(extents<1>(layout_.bytes), d),
        size_(size) {}
  // A copy of elements of the CPU, one span a member. Blocks until they were read. Throws invalid_argument when their
  // sizes differ.
  static basic_soa from(std::span<const M>... elements, ferry::device d = default_device()) {
    const std::array<std::size_t, members> sizes{elements.size()...};
    for (const std::size_t n : sizes)
      if (n != sizes[0])
        throw invalid_argument("soa::from got members of " + std::to_string(sizes[0]) + " and of " + std::to_string(n) +
                               " elements: all need the same number");
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

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t capacity() const { return layout_.capacity; }
  ferry::device device() const { return bytes_.device(); }
  const std::string& name() const { return bytes_.name(); }
  basic_soa& name(std::string text) {
    bytes_.name(std::move(text));
    return *this;
  }
  // One member as a view, for kernels, copies and the CPU: the same allocation, only these bytes. An enum names them:
  // enum field { x, v };  p.member<x>().
  template <std::size_t I>
  member_view<I> member() {
    return view<I, member_view<I>>(size_);
  }
  template <std::size_t I>
  const_member_view<I> member() const {
    return view<I, const_member_view<I>>(size_);
  }
  // The bytes of all members with what lies between them.
  const array_view<std::byte, 1, Kind>& as_bytes() const { return bytes_; }
  const allocation_ref& owner() const { return bytes_.owner(); }

  // Another number of elements; those that remain are kept, new ones are undefined. Within the capacity nothing moves;
  // else as reserve(size).
  void resize(std::size_t size) {
    if (size > capacity()) reserve(size);
    size_ = size;
  }
  // Room for so many elements: where there is less, copies into a new allocation (may block when the pool has to grow).
  // Views of the old one keep it, and see no more of what happens here.
  void reserve(std::size_t capacity) {
    if (capacity > this->capacity()) move_to(capacity);
  }
  void shrink_to_fit() {
    if (size_ < capacity()) move_to(size_);
  }
  // A copy in memory of the same kind on the same device, ordered on that device's stream of this thread.
  basic_soa clone() const;
  // Gives the bytes back now. Later use of the structure or of a view of it throws use_after_free.
  void free() noexcept { bytes_.free(); }

  // Access from the CPU to element i of every member: waits for the work that conflicts, then costs one comparison.
  std::tuple<M&...> operator[](located_index i) {
    (void)bytes_[located_index(0, i.at)];  // asks for all of it; the reference is not followed
    return span<M...>()[i.value];
  }
  std::tuple<const M&...> operator[](located_index i) const {
    (void)bytes_[located_index(0, i.at)];
    return span<const M...>()[i.value];
  }
  // Asks once; good until the next submission that conflicts.
  auto begin(source_line at = source_line::here()) { return first<M...>(at); }
  auto end() { return last<M...>(); }
  auto begin(source_line at = source_line::here()) const { return first<const M...>(at); }
  auto end() const { return last<const M...>(); }
  auto cbegin(source_line at = source_line::here()) const { return begin(at); }
  auto cend() const { return end(); }
  // Asks for access from the CPU to all members: blocks for what conflicts.
  void wait_for_host(bool write, source_line at = source_line::here()) const { bytes_.wait_for_host(write, at); }
  // The addresses of all members, ordered behind nothing.
  soa_span<M...> unsynchronized_span() { return span<M...>(); }
  soa_span<const M...> unsynchronized_span() const { return span<const M...>(); }

  auto as_kernel_argument(source_line at) const;
  auto as_kernel_argument(source_line at);

  void swap(basic_soa& o) noexcept {
    std::swap(layout_, o.layout_);
    bytes_.swap(o.bytes_);
    std::swap(size_, o.size_);
  }
  friend void swap(basic_soa& a, basic_soa& b) noexcept { a.swap(b); }
  // f(integral_constant<I>) for each member.
  template <class F>
  static void each_member(F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (f(std::integral_constant<std::size_t, I>()), ...); }
    (std::index_sequence_for<M...>());
  }

 private:
  // Where each member begins, for room for `capacity` elements.
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
          throw invalid_argument(std::to_string(n) + " elements of a structure of " + std::to_string(members) +
                                 " arrays are more than 2^64 bytes");
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
      return soa_span<N...>(size_, data<I>()..., array_label(bytes_.owner() ? bytes_.name().c_str() : ""));
    }
    (std::index_sequence_for<M...>());
  }
  // As in views: no iterators of memory that the CPU cannot touch.
  template <class... N>
  using iterator = std::conditional_t<is_host_accessible(Kind), soa_iterator<N...>,
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

template <class... M>
using soa = basic_soa<memory_kind::FERRY_DEFAULT_KIND, M...>;
template <class... M>
using device_soa = basic_soa<memory_kind::device, M...>;
template <class... M>
using unified_soa = basic_soa<memory_kind::unified, M...>;
template <class... M>
using host_soa = basic_soa<memory_kind::host, M...>;

// A structure of arrays in a call, as array_argument. M is const when it is only read.
template <class... M>
struct soa_argument {
  const allocation_ref* owner;
  soa_span<M...> span;
  byte_range bytes;
  access_mode mode;
  source_line at = {};  // where in(), out() or inout() was written
  bool contiguous = true;
};

namespace detail {

template <class... M>
inline constexpr bool is_array_argument<soa_argument<M...>> = true;

template <class... N, memory_kind Kind, class... M>
soa_argument<N...> make_soa_argument(const basic_soa<Kind, M...>& s, access_mode mode, source_line at) {
  if (s.owner()) (void)s.owner().get();  // freed?
  const soa_span<N...> span = const_cast<basic_soa<Kind, M...>&>(s).unsynchronized_span();
  if (s.empty()) return {&s.owner(), span, {}, mode, at};
  const auto* begin = reinterpret_cast<const std::byte*>(span.template data<0>());
  const auto* end = reinterpret_cast<const std::byte*>(span.template data<sizeof...(M) - 1>() + s.size());
  return {&s.owner(), span, {begin, end}, mode, at};
}

// What a functor declares for a structure of arrays: nothing, or a soa_span of the same members, const where it only reads.
template <class P, class... M>
struct declared_soa {
  static_assert(std::is_void_v<P>, "the functor takes a structure of arrays as ferry::soa_span<...>, by value");
  using type = soa_span<M...>;
};
template <class... D, class... M>
struct declared_soa<soa_span<D...>, M...> {
  static constexpr bool agrees = [] {
    if constexpr (sizeof...(D) == sizeof...(M))
      return (std::is_same_v<std::remove_const_t<D>, std::remove_const_t<M>> && ...);
    return false;
  }();
  static_assert(agrees, "the functor takes a soa_span of other members than the structure of arrays has");
  static constexpr bool may_write = [] {
    if constexpr (sizeof...(D) == sizeof...(M)) return ((std::is_const_v<D> || !std::is_const_v<M>)&&...);
    return true;
  }();
  static_assert(
      may_write,
      "in given to a writing functor: the argument is passed as in(s) or as a const structure of arrays, but "
      "the functor takes members of its soa_span as non-const. Pass inout(s) or out(s), or declare them const");
  using type = std::conditional_t<agrees && may_write, soa_span<D...>, soa_span<M...>>;
};
template <class P, class... M>
struct parameter<P, soa_argument<M...>> : declared_soa<std::remove_cvref_t<P>, M...> {};

}  // namespace detail

// All members, as for arrays.
template <memory_kind Kind, class... M>
auto in(const basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  return detail::make_soa_argument<const M...>(s, access_mode::in, at);
}
template <memory_kind Kind, class... M>
auto inout(basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  return detail::make_soa_argument<M...>(s, access_mode::inout, at);
}
template <memory_kind Kind, class... M>
auto out(basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  return detail::make_soa_argument<M...>(s, access_mode::out, at);
}

template <memory_kind Kind, class... M>
auto basic_soa<Kind, M...>::as_kernel_argument(source_line at) const {
  return in(*this, at);
}
template <memory_kind Kind, class... M>
auto basic_soa<Kind, M...>::as_kernel_argument(source_line at) {
  return inout(*this, at);
}

// Copies every member; sizes must be equal. As copies of arrays.
template <memory_kind From, memory_kind To, class... M>
void copy(const basic_soa<From, M...>& from, basic_soa<To, M...>& to, source_line at = source_line::here()) {
  basic_soa<From, M...>::each_member([&](auto i) { copy(from.template member<i()>(), to.template member<i()>(), at); });
}
template <memory_kind From, memory_kind To, class... M>
void copy(stream_ref s, const basic_soa<From, M...>& from, basic_soa<To, M...>& to,
          source_line at = source_line::here()) {
  basic_soa<From, M...>::each_member(
      [&](auto i) { copy(s, from.template member<i()>(), to.template member<i()>(), at); });
}

// A copy in another kind of memory, on device d.
template <memory_kind To, memory_kind Kind, class... M>
basic_soa<To, M...> to_kind(const basic_soa<Kind, M...>& s, device d) {
  basic_soa<To, M...> made(s.size(), d);
  copy(s, made, source_line{});
  if (s.owner() && made.owner()) made.name(s.name());
  return made;
}
template <memory_kind Kind, class... M>
auto to(device d, const basic_soa<Kind, M...>& s) {
  return to_kind<Kind>(s, d);
}
template <memory_kind Kind, class... M>
auto to_unified(const basic_soa<Kind, M...>& s) {
  return to_kind<memory_kind::unified>(s, s.device());
}
template <memory_kind Kind, class... M>
auto to_device(const basic_soa<Kind, M...>& s) {
  return to_kind<memory_kind::device>(s, s.device());
}
template <memory_kind Kind, class... M>
basic_soa<Kind, M...> basic_soa<Kind, M...>::clone() const {
  return to_kind<Kind>(*this, device());
}

// All members for the CPU, at raw pointer speed: the rules of ferry::host_span.
template <memory_kind Kind, class... M>
soa_span<M...> host_span(basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  s.wait_for_host(true, at);
  return s.unsynchronized_span();
}
template <memory_kind Kind, class... M>
soa_span<const M...> host_span(const basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  s.wait_for_host(false, at);
  return s.unsynchronized_span();
}
template <memory_kind Kind, class... M>
soa_span<const M...> const_host_span(const basic_soa<Kind, M...>& s, source_line at = source_line::here()) {
  return host_span(s, at);
}

}  // namespace ferry
