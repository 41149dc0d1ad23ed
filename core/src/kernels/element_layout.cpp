#include "ferry/core/detail/kernels/element_layout.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::string look_text(const layout_array& a) { return array_text(a.look(a.argument)); }

// Strides along the axes of the first output, from the last dimension on; 0 where the array is stretched.
std::array<std::ptrdiff_t, max_rank> strides_along(const layout_array& to, const layout_array& a, bool is_output,
                                                   source_line at) {
  const std::size_t rank = to.extent.size(), own = a.extent.size();
  const auto fail = [&](const char* why) {
    throw invalid_argument("transform: " + look_text(a) + " does not fit the output " + look_text(to) + in_line(at) +
                           ": " + why);
  };
  if (is_output && !std::ranges::equal(a.extent, to.extent)) fail("all outputs have one shape");
  if (own > rank) fail("it has more dimensions, and outputs are not stretched");
  std::array<std::ptrdiff_t, max_rank> strides{};
  for (std::size_t d = 0; d != own; ++d) {
    const std::size_t mine = a.extent[own - 1 - d], all = to.extent[rank - 1 - d];
    if (mine != all && mine != 1)
      fail("from the last dimension on, extents must be equal, or 1 in the input (fr::new_axis adds a dimension)");
    strides[d] = mine == 1 ? 0 : a.stride[own - 1 - d];
  }
  return strides;
}

struct element_range {
  const std::byte *begin, *end;
  std::ptrdiff_t step = 0;  // all elements are at multiples of it from the first
};
element_range range_of(const layout_array& a) {
  if (std::ranges::find(a.extent, 0u) != a.extent.end()) return {a.data, a.data};
  element_range r{a.data, a.data + a.element_bytes};
  for (std::size_t d = 0; d != a.extent.size(); ++d) {
    if (a.extent[d] == 1) continue;
    const std::ptrdiff_t stride = a.stride[d] * static_cast<std::ptrdiff_t>(a.element_bytes);
    const std::ptrdiff_t reach = stride * static_cast<std::ptrdiff_t>(a.extent[d] - 1);
    (reach < 0 ? r.begin : r.end) += reach;
    r.step = std::gcd(r.step, stride);
  }
  return r;
}
// False is certain.
bool may_share_bytes(const layout_array& a, const layout_array& b) {
  const element_range in_a = range_of(a), in_b = range_of(b);
  if (in_a.begin == in_a.end || in_b.begin == in_b.end || in_a.end <= in_b.begin || in_b.end <= in_a.begin)
    return false;
  const std::ptrdiff_t step = std::gcd(in_a.step, in_b.step);
  if (step == 0) return true;
  const std::ptrdiff_t apart = ((b.data - a.data) % step + step) % step;
  return apart < static_cast<std::ptrdiff_t>(a.element_bytes) ||
         step - apart < static_cast<std::ptrdiff_t>(b.element_bytes);
}

void need_distinct_elements(const layout_array& to, source_line at) {
  for (std::size_t d = 0; d != to.extent.size(); ++d)
    if (to.extent[d] > 1 && to.stride[d] == 0)
      throw invalid_argument("transform: cannot write to " + look_text(to) + in_line(at) +
                             ": some of its indices name the same element");
}

}  // namespace

element_layout layout_of(std::span<const layout_array> all, std::size_t outputs, source_line at) {
  element_layout l;
  const layout_array& first = all.front();
  const std::size_t rank = first.extent.size();
  std::array<std::array<std::ptrdiff_t, max_rank>, most_layout_arrays> strides{};
  for (std::size_t k = 0; k != all.size(); ++k) strides[k] = strides_along(first, all[k], k < outputs, at);
  for (std::size_t k = 0; k != outputs; ++k) {
    need_distinct_elements(all[k], at);
    for (std::size_t x = 0; x != all.size(); ++x) {
      if (x == k || (x < outputs && x < k) || !may_share_bytes(all[k], all[x])) continue;
      const bool is_same =
          all[x].data == all[k].data && all[x].element_bytes == all[k].element_bytes && strides[x] == strides[k];
      if (x >= outputs && is_same) continue;
      throw invalid_argument(
          "transform: the output " + look_text(all[k]) + in_line(at) + " overlaps " + look_text(all[x]) +
          (x < outputs ? ", another output" : " as other elements: pass a copy of the input (a.clone())"));
    }
  }
  std::array<std::size_t, max_rank> axis{};
  for (std::size_t d = 0; d != rank; ++d)
    if (first.extent[rank - 1 - d] != 1) axis[l.rank++] = d;
  for (std::size_t d = 1; d < l.rank; ++d)  // stable
    for (std::size_t x = d; x > 0 && std::abs(strides[0][axis[x]]) < std::abs(strides[0][axis[x - 1]]); --x)
      std::swap(axis[x], axis[x - 1]);
  std::size_t n = 0;  // axes so far
  for (std::size_t d = 0; d != l.rank; ++d) {
    const std::size_t extent = first.extent[rank - 1 - axis[d]];
    bool joins = n != 0;
    for (std::size_t k = 0; joins && k != all.size(); ++k)
      joins = strides[k][axis[d]] == l.stride[k][n - 1] * static_cast<std::ptrdiff_t>(l.extent[n - 1]);
    if (joins) {
      l.extent[n - 1] *= extent;
      continue;
    }
    l.extent[n] = extent;
    for (std::size_t k = 0; k != all.size(); ++k) l.stride[k][n] = strides[k][axis[d]];
    ++n;
  }
  l.rank = n;
  return l;
}

}  // namespace ferry::inline FERRY_ABI::detail
