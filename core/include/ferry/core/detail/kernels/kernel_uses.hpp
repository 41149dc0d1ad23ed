// Checks that a kernel does what its arguments declare: writes nothing through `in`, and everything through `out`. For
// simulated devices, with check::uses.
#pragma once
#include <memory>
#include <type_traits>
#include <vector>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The elements of one array argument.
struct watched_elements {
  access_mode mode = access_mode::in;
  strided_bytes at;  // address in the program
  strided_shape shape;
  std::array<std::ptrdiff_t, max_rank> first{};  // indices of the first element
  bool are_floating = false;
  array_label array;
  source_line line = {};  // of the argument
};

// The arguments of one kernel, which may run several times.
class use_watch {
 public:
  void add(const watched_elements& e);

 private:
  friend class watched_run;
  std::vector<watched_elements> all_;
};

// One run of a kernel on the CPU. The constructor fills elements of `out` with a pattern and copies those of `in`.
// finish() throws invalid_argument if elements still hold the pattern, or have changed.
//
// The pattern depends on the position of the element, so that it differs from results such as NaN or -1. Elements of
// less than 4 bytes count as unwritten only in runs of 8 bytes or more. Single elements of 4 bytes in arrays of more
// than 65536 elements do so only if they are floating point numbers. Arguments of one kernel that share elements are
// not checked.
class watched_run {
 public:
  // Does nothing if w is null.
  watched_run(const use_watch* w, const relocation& move);
  ~watched_run();
  watched_run(const watched_run&) = delete;
  watched_run& operator=(const watched_run&) = delete;
  void finish();

 private:
  struct watched;
  std::vector<watched> all_;
};

template <class T, std::size_t Rank>
watched_elements elements_of(access_mode mode, const mdspan<T, Rank>& span, source_line line) {
  watched_elements e;
  e.mode = mode;
  e.at.base = reinterpret_cast<std::byte*>(const_cast<std::remove_const_t<T>*>(span.data()));
  e.shape.element_bytes = sizeof(T);
  e.shape.rank = Rank;
  for (std::size_t d = 0; d != Rank; ++d) {
    e.shape.extent[d] = span.extent(d);
    e.at.stride_bytes[d] = span.stride(d) * static_cast<std::ptrdiff_t>(sizeof(T));
  }
  e.are_floating = std::is_floating_point_v<std::remove_const_t<T>>;
  e.array = span.label();
  e.line = line;
  return e;
}

template <class A>
void add_watched([[maybe_unused]] use_watch& w, [[maybe_unused]] const A& a) {
  if constexpr (is_array_argument<A>) {
    if (a.bytes.size() == 0) return;
    if constexpr (requires { a.span.stride(0); })
      w.add(elements_of(a.mode, a.span, a.at));
    else  // a structure of arrays: each member separately, because there may be gaps between them
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (w.add(elements_of(a.mode, a.span.template span<I>(), a.at)), ...);
      }
    (std::make_index_sequence<std::remove_cvref_t<decltype(a.span)>::members>());
  }
}

// The elements to check for a kernel with these arguments; null unless check::uses is on.
template <class... A>
std::shared_ptr<const use_watch> watch_of(const A&... a) {
  if (!runtime::current().checks.has(check::uses)) [[likely]]
    return nullptr;
  auto w = std::make_shared<use_watch>();
  (each_array(a, [&](const auto& x) { add_watched(*w, x); }), ...);
  return w;
}

}  // namespace ferry::inline FERRY_ABI::detail
