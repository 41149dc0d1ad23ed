#include "sorting/key_splits.hpp"

#include <algorithm>
#include <cstring>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/expressions/expression_operand.hpp"
#include "ferry/core/detail/operations/sort_key.hpp"
#include "ferry/core/detail/sorting/sorting_request.hpp"
#include "ferry/core/host.hpp"
#include "ferry/multigpu/detail/teams/across_processes.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr unsigned digit_bits = 8;
constexpr std::uint64_t digits = std::uint64_t{1} << digit_bits;
constexpr const char* task = "sorting of a sharded array";

// Calls f with the keys as elements of their type, in pinned memory.
template <class F>
void with_keys_in_memory(scalar_type t, std::span<const std::uint64_t> keys, const device& home, F f) {
  with_key_type(t, [&](auto u) {
    using U = decltype(u);
    host_array<U> memory({keys.size()}, home);
    std::transform(keys.begin(), keys.end(), host_span(memory, source_line{}).begin(),
                   [](std::uint64_t k) { return static_cast<U>(k); });
    f(operand_of(memory));
  });
}

}  // namespace

key_splits::key_splits(const team& t, const sorted_parts& sorted)
    : team_(t),
      sorted_(sorted),
      bits_(static_cast<unsigned>(8 * size_of(sorted.type))),
      begin_(t.size() * (t.size() + 1)) {
  for (std::size_t b = 1; b != t.size() && rank_of(b) != sorted.count; ++b) borders_.push_back(b);
  keys_.resize(borders_.size());
  if (!borders_.empty()) find_keys();
  cut();
}

// Numbers of elements of each local member that are below each key.
key_splits::counts key_splits::of_members(const counts& keys) const {
  const std::size_t first = team_.first_local();
  std::vector<host_array<std::int64_t>> below;
  for (std::size_t i = 0; i != team_.local_size(); ++i)
    below.emplace_back(extents<1>{keys.size()}, team_.device(first + i));
  counts all(keys.size() * below.size());
  with_keys_in_memory(sorted_.type, keys, team_.device(first), [&](const program_operand& probes) {
    team_.for_each([&](std::size_t m) {
      const program_operand& part = sorted_.parts[m - first];
      if (part.shape.is_empty()) return;
      expression_program from = array_program(part), other = array_program(probes);
      const program_operand to = operand_of(below[m - first]);
      sorting_request r;
      r.name = "sort", r.kind = sorting_kind::rank, r.type = sorted_.type;
      r.is_descending = sorted_.is_descending, r.is_merged = sorted_.is_merged;
      r.from = &from, r.other = &other, r.positions = &to;
      const stream_ref s = team_.stream(m);
      submit_sorting(&s, r, {});
    });
    for (std::size_t i = 0; i != below.size(); ++i) {
      if (sorted_.parts[i].shape.is_empty()) continue;
      const auto now = host_span(std::as_const(below[i]), source_line{});
      std::copy(now.begin(), now.end(), all.begin() + static_cast<std::ptrdiff_t>(i * keys.size()));
    }
  });
  return all;
}

key_splits::counts key_splits::of_all(const counts& keys) const {
  counts sum(keys.size());
  const auto add = [&](const counts& all) {
    for (std::size_t i = 0; i != all.size(); ++i) sum[i % keys.size()] += all[i];
  };
  add(of_members(keys));
  if (!spans_processes(team_)) return sum;
  const auto bytes = from_all_processes(team_, std::as_bytes(std::span(sum)), task);
  counts theirs(bytes.size() / sizeof(std::uint64_t));
  std::memcpy(theirs.data(), bytes.data(), bytes.size());
  std::fill(sum.begin(), sum.end(), 0);
  add(theirs);
  return sum;
}

// The greatest key of each border that has no more elements below it than the border.
void key_splits::find_keys() {
  counts below(borders_.size());
  bool is_exact = false;  // no element is between the keys and the borders
  for (unsigned shift = bits_; shift != 0 && !is_exact;) {
    shift -= digit_bits;
    counts probes;
    for (const std::uint64_t k : keys_)
      for (std::uint64_t d = 1; d != digits; ++d) probes.push_back(k + (d << shift));
    const counts found = of_all(probes);
    is_exact = true;
    for (std::size_t b = 0; b != borders_.size(); ++b) {
      const auto first = found.begin() + static_cast<std::ptrdiff_t>(b * (digits - 1));
      const auto end = std::upper_bound(first, first + (digits - 1), rank_of(borders_[b]));
      if (end != first) below[b] = end[-1];
      keys_[b] += static_cast<std::uint64_t>(end - first) << shift;
      is_exact = is_exact && below[b] == rank_of(borders_[b]);
    }
  }
}

// Cuts the parts of all members below the keys, and takes the elements that are missing from those that equal them.
void key_splits::cut() {
  const std::size_t row = team_.size() + 1, n = borders_.size();
  for (std::size_t m = 0; m != team_.size(); ++m)
    std::fill_n(&begin_[m * row + n + 1], row - n - 1, team_.part_of(m, sorted_.count).size());
  if (n == 0) return;
  counts keys = keys_;  // then the next ones
  for (const std::uint64_t k : keys_) keys.push_back(k + 1);
  counts mine = of_members(keys), all(team_.size() * keys.size());
  if (spans_processes(team_))
    join_processes(team_, std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)), task);
  else
    all = std::move(mine);
  const std::uint64_t greatest = ~std::uint64_t{0} >> (64 - bits_);
  for (std::size_t b = 0; b != n; ++b) {
    std::uint64_t missing = rank_of(borders_[b]);
    for (std::size_t m = 0; m != team_.size(); ++m) missing -= all[m * 2 * n + b];
    for (std::size_t m = 0; m != team_.size(); ++m) {
      const std::uint64_t below = all[m * 2 * n + b];
      const std::uint64_t end = keys_[b] == greatest ? begin_[m * row + team_.size()] : all[m * 2 * n + n + b];
      const std::uint64_t taken = std::min(missing, end - below);
      missing -= taken;
      begin_[m * row + borders_[b]] = below + taken;
    }
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
