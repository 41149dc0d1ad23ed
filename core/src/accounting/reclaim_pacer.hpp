// Decides when early reclaim is worth a pause: pauses are short and spread out, and expensive ones are less frequent.
#pragma once
#include <algorithm>
#include <chrono>
#include <cstddef>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail {

// The share of time for reclaiming grows with the pressure, from 1 % to 20 %. Reclaims that free less than a quarter of
// the wanted bytes are repeated less and less often.
class reclaim_pacer {
 public:
  using clock = std::chrono::steady_clock;
  static constexpr double least_share = 0.01, most_share = 0.2;
  static constexpr int most_patience = 64;
  // The least cost that a pause is assumed to have for the program around it.
  static constexpr std::chrono::nanoseconds least_cost = std::chrono::microseconds(20);

  // pressure: 0 at the soft limit, 1 at the hard one.
  bool is_due(clock::time_point now, double pressure) const {
    if (!ran_) return true;
    const double share = least_share + (most_share - least_share) * std::clamp(pressure, 0.0, 1.0);
    return std::chrono::duration<double>(now - end_) >= std::chrono::duration<double>(cost_) * patience_ / share;
  }
  void ran(clock::time_point begin, clock::time_point end, std::size_t freed, std::size_t wanted) {
    ran_ = true;
    end_ = end;
    cost_ = std::max<clock::duration>(end - begin, least_cost);
    patience_ = freed >= wanted / 4 ? 1 : std::min(2 * patience_, most_patience);
  }

 private:
  bool ran_ = false;
  int patience_ = 1;
  clock::time_point end_;
  clock::duration cost_{};
};

}  // namespace ferry::inline FERRY_ABI::detail
