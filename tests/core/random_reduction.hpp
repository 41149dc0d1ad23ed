// Random reductions of random programs.
#pragma once
#include <cmath>
#include <optional>
#include <random>
#include <vector>

#include "ferry/core/detail/operations/reduction_evaluation.hpp"
#include "random_evaluation.hpp"

namespace random_evaluations {

class random_reduction {
 public:
  explicit random_reduction(std::uint64_t seed) : input_(seed, true), random_(seed * 7 + 1) {
    const evaluation e = input_.at(nullptr);
    const std::size_t first = e.rank == 0 ? 0 : random_() % e.rank;
    const std::size_t last = e.rank == 0 ? 0 : first + 1 + random_() % (e.rank - first);
    cells_ = 1;
    for (std::size_t d = 0; d != e.rank; ++d) {
      is_reduced_[d] = d >= first && d < last;
      if (!is_reduced_[d]) cells_ *= e.extent[d];
    }
    for (int tries = 0; tries != 100 && results_.size() != 1 + seed % 2; ++tries) add_result(e);
  }
  bool is_empty() const { return results_.empty(); }
  random_evaluation& input() { return input_; }
  std::size_t result_bytes() const { return bytes_; }
  const std::vector<reduction_output>& results() const { return results_; }
  std::size_t cells() const { return cells_; }
  std::size_t offset(std::size_t result) const { return offsets_[result]; }
  // Valid until the next call and as long as this object.
  reduction_evaluation at(std::byte* input, std::byte* results) {
    reduction_evaluation r;
    r.input = input_.at(input);
    r.input.outputs = {};
    r.is_reduced = is_reduced_;
    bound_ = results_;
    for (std::size_t k = 0; k != bound_.size(); ++k) bound_[k].to.data = results + offsets_[k];
    r.results = bound_;
    return r;
  }

 private:
  void add_result(const evaluation& e) {
    reduction_output o{};
    o.value = static_cast<std::uint8_t>(random_() % e.code.size());
    o.what = static_cast<reduction_operation>(random_() % reduction_operations);
    const scalar_type t = e.code[o.value].type;
    if (!combines(o.what, t)) return;
    if (o.what == reduction_operation::moments)
      o.finish = random_() % 2 ? reduction_finish::variance : reduction_finish::deviation, o.freedom = 1;
    else if (o.what == reduction_operation::sum && (is_floating(t) || is_complex(t)) && random_() % 2)
      o.finish = reduction_finish::mean;
    o.to.type = combined_as(o.what, t);
    auto stride = static_cast<std::ptrdiff_t>(size_of(o.to.type));
    o.to.stride_bytes = {};
    for (std::size_t d = 0; d != e.rank; ++d) {
      if (is_reduced_[d]) continue;
      o.to.stride_bytes[d] = stride;
      stride *= static_cast<std::ptrdiff_t>(e.extent[d]);
    }
    offsets_.push_back((bytes_ + 63) / 64 * 64);
    bytes_ = offsets_.back() + cells_ * size_of(o.to.type);
    results_.push_back(o);
  }

  random_evaluation input_;
  std::mt19937_64 random_;
  std::array<bool, ferry::max_rank> is_reduced_{};
  std::size_t cells_ = 1, bytes_ = 0;
  std::vector<reduction_output> results_, bound_;
  std::vector<std::size_t> offsets_;
};

}  // namespace random_evaluations
