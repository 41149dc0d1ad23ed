#include "generator/reduction_plan.hpp"

#include <algorithm>
#include <bit>

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

// Constants, so that the order of operations does not depend on the device.
constexpr std::size_t wanted_blocks = 1056;  // several a multiprocessor
constexpr std::size_t least_of_thread = 32;  // values of a thread, for which a further block pays
constexpr std::size_t values_of_thread = 8;  // for which a further thread pays

std::size_t rounded_quotient(std::size_t a, std::size_t b) { return (a + b - 1) / b; }

}  // namespace

reduction_plan::reduction_plan(const reduction_evaluation& r) : results(r.results.size()), r_(r) {
  for (std::size_t d = 0; d < r.input.rank; ++d) {
    const auto axis = static_cast<std::uint8_t>(d);
    if (r.is_reduced[d])
      reduced *= r.input.extent[d], reduced_axes.push_back(axis);
    else
      cells *= r.input.extent[d], kept_axes.push_back(axis);
  }
  if (r.input.rank == 0 || r.is_reduced[0])
    threads_of_cell = static_cast<unsigned>(
        std::clamp<std::size_t>(std::bit_floor(std::max<std::size_t>(reduced / values_of_thread, 1)), 1, threads));
  const std::size_t groups_of_cells = groups();
  if (groups_of_cells < wanted_blocks)
    parts = std::clamp<std::size_t>(reduced / (threads_of_cell * least_of_thread), 1,
                                    rounded_quotient(wanted_blocks, groups_of_cells));
  chunk = rounded_quotient(rounded_quotient(reduced, parts), threads_of_cell) * threads_of_cell;
  parts = rounded_quotient(reduced, chunk);
  constexpr std::size_t narrow_limit = std::size_t{1} << 31;
  is_wide = reduced + chunk + threads * 8 >= narrow_limit || cells + threads >= narrow_limit;
}

std::string reduction_plan::shape() const {
  const evaluation& e = r_.input;
  std::string s = "reduce";
  const auto put = [&](auto value) { s += static_cast<char>(value); };
  put(e.rank), put(is_wide), put(e.fast_math), put(e.code.size()), put(e.operands.size()), put(results);
  for (std::size_t d = 0; d < e.rank; ++d) put(r_.is_reduced[d]);
  s.append(reinterpret_cast<const char*>(e.code.data()), e.code.size_bytes());
  for (const evaluation_operand& o : e.operands) put(o.type);
  put(e.constants.size());
  for (const reduction_output& o : r_.results) put(o.value), put(o.what), put(o.finish), put(o.to.type);
  return s;
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
