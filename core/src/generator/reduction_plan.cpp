#include "generator/reduction_plan.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>

#include "generator/function_text.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {
namespace {

constexpr std::size_t most_blocks = 2048;  // with parts; does not depend on the device, so that results do not

void append_bytes(std::string& to, const void* from, std::size_t n) { to.append(static_cast<const char*>(from), n); }
template <class T>
void append_value(std::string& to, const T& value) {
  append_bytes(to, &value, sizeof value);
}

bool fits_32_bits(const reduction_evaluation& r) { return r.input.count() < (std::size_t{1} << 31); }

}  // namespace

reduction_plan::reduction_plan(const reduction_evaluation& r) {
  for (std::size_t d = 0; d != r.input.rank; ++d) (r.is_reduced[d] ? reduced : outputs) *= r.input.extent[d];
  is_run = r.input.rank == 0 || r.is_reduced[0];
  if (is_run)
    along = reduced >= 2048 ? threads : static_cast<unsigned>(std::bit_ceil(std::max<std::size_t>(1, reduced / 8)));
  else
    along = 8;
  kept = threads / along;
  const std::size_t most = (reduced + std::size_t{along} * chains * chain_length - 1) / (along * chains * chain_length);
  parts = std::clamp<std::size_t>(most_blocks / last_blocks(), 1, most);
  is_wide = !fits_32_bits(r);
}

std::string reduction_plan::shape(const reduction_evaluation& r) const {
  std::string text = "reduction";
  append_value(text, kept);
  append_value(text, is_run);
  append_value(text, is_wide);
  append_value(text, r.input.fast_math);
  append_value(text, r.input.rank);
  append_bytes(text, r.is_reduced.data(), r.input.rank);
  append_value(text, r.input.constants.size());
  append_value(text, r.input.operands.size());
  append_value(text, r.results.size());
  for (const evaluation_operand& o : r.input.operands) append_value(text, o.type);
  for (const reduction_output& o : r.results) {
    append_value(text, o.to.type);
    append_value(text, o.value);
    append_value(text, o.what);
    append_value(text, o.finish);
  }
  append_bytes(text, r.input.code.data(), r.input.code.size_bytes());
  append_calls(text, r.input);
  return text;
}

std::string reduction_arguments(const reduction_evaluation& r, const reduction_plan& p, bool is_last) {
  std::string bytes;
  append_bytes(bytes, r.input.constants.data(), r.input.constants.size_bytes());
  for (const evaluation_operand& o : r.input.operands) {
    append_value(bytes, o.data);
    for (std::size_t d = 0; d != r.input.rank; ++d) append_value(bytes, static_cast<long long>(o.stride_bytes[d]));
  }
  for (const reduction_output& o : r.results) {
    append_value(bytes, o.to.data);
    for (std::size_t d = 0; d != r.input.rank; ++d) append_value(bytes, static_cast<long long>(o.to.stride_bytes[d]));
    append_value(bytes, o.freedom);
  }
  for (std::size_t d = 0; d != r.input.rank; ++d)
    append_value(bytes, static_cast<unsigned long long>(r.input.extent[d]));
  append_value(bytes, r.scratch);
  for (const std::size_t n : {p.outputs, p.reduced, p.parts, std::size_t{is_last}})
    append_value(bytes, static_cast<unsigned long long>(n));
  bytes.resize((bytes.size() + 15) / 16 * 16);
  return bytes;
}

}  // namespace ferry::inline FERRY_ABI::detail::generator
