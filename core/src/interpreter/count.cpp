// Histograms on the CPU: counts of values.
#include <algorithm>
#include <cstring>
#include <vector>

#include "interpreter/block_interpreter.hpp"
#include "interpreter/cpu_threads.hpp"
#include "interpreter/loop_table.hpp"
#include "interpreter/reduction_steps.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// The greatest number of parts in which weights are added. It does not depend on the number of threads. With more bins
// than most_part_bins in all parts, there are fewer parts.
constexpr std::size_t most_parts = 16, most_part_bins = 1 << 22;

struct counted_part {
  std::vector<std::uint64_t> number;
  std::vector<double> weight;
};

void count_block(counted_part& to, const std::byte* values, const std::byte* weights, std::size_t n, std::size_t bins) {
  const auto* x = reinterpret_cast<const std::int64_t*>(values);
  const auto* w = reinterpret_cast<const double*>(weights);
  for (std::size_t i = 0; i != n; ++i) {
    const auto bin = static_cast<std::uint64_t>(x[i]);  // as unsigned numbers, negative values are beyond all bins
    if (bin >= bins) continue;
    if (w)
      to.weight[bin] += w[i];
    else
      ++to.number[bin];
  }
}

void write_counts(const reduction_output& o, const std::byte* counts, scalar_type type, std::size_t bins) {
  const std::size_t size = size_of(o.to.type);
  std::vector<std::byte> converted;
  if (type != o.to.type) {
    converted.resize(bins * size);
    const loop_table& table = avx2_loops() ? *avx2_loops() : portable_loops();
    table.casts[static_cast<int>(o.to.type)][static_cast<int>(type)](converted.data(), counts, nullptr, nullptr, bins);
    counts = converted.data();
  }
  for (std::size_t i = 0; i != bins; ++i)
    std::memcpy(o.to.data + static_cast<std::ptrdiff_t>(i) * o.to.stride_bytes[0], counts + i * size, size);
}

}  // namespace

void count_on_cpu(const reduction_evaluation& r, unsigned most_threads) {
  const reduction_output& o = r.results.front();
  const bool is_weighted = o.weight != evaluation_output::no_mask;
  std::vector<std::uint8_t> values{o.value};
  if (is_weighted) values.push_back(o.weight);
  const block_plan plan(r.input, values);
  const std::size_t all = plan.lines * plan.blocks;
  const std::size_t parts = std::min({all, most_parts, std::max<std::size_t>(1, most_part_bins / r.bins)});
  const auto threads = static_cast<unsigned>(std::min<std::size_t>(threads_for(r.input, most_threads), parts));
  std::vector<counted_part> sums(parts);
  for (counted_part& p : sums) is_weighted ? p.weight.resize(r.bins) : p.number.resize(r.bins);
  std::vector<block_interpreter> blocks;
  for (unsigned k = 0; k != threads; ++k) blocks.emplace_back(r.input, plan);
  on_threads(threads, [&](unsigned thread) {
    for (std::size_t part = parts * thread / threads; part != parts * (thread + 1) / threads; ++part)
      for (std::size_t k = all * part / parts; k != all * (part + 1) / parts; ++k) {
        const std::size_t n = blocks[thread].compute(k);
        count_block(sums[part], blocks[thread].value(o.value), is_weighted ? blocks[thread].value(o.weight) : nullptr,
                    n, r.bins);
      }
  });
  counted_part& sum = sums.front();
  for (std::size_t part = 1; part < parts; ++part)
    for (std::size_t i = 0; i != r.bins; ++i)
      is_weighted ? void(sum.weight[i] += sums[part].weight[i]) : void(sum.number[i] += sums[part].number[i]);
  if (is_weighted)
    write_counts(o, reinterpret_cast<const std::byte*>(sum.weight.data()), scalar_type::float64, r.bins);
  else
    write_counts(o, reinterpret_cast<const std::byte*>(sum.number.data()), scalar_type::uint64, r.bins);
}

}  // namespace ferry::inline FERRY_ABI::detail
