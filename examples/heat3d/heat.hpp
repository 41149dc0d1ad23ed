// The heat equation in three dimensions by explicit steps. The devices and the serial solver share its formula.
#pragma once
#include <ferry/multigpu.hpp>

namespace heat {

// The next temperature of a cell, from its own and the sums of its two neighbours along each axis.
FERRY_FUNCTOR(formula, {
  double rate;  // diffusivity * time step / cell width^2; stable up to 1/6
  FERRY_HOST_DEVICE double operator()(double here, double along_0, double along_1, double along_2) const {
    return here + rate * (along_0 + along_1 + along_2 - 6 * here);
  }
});

FERRY_FUNCTOR_USING((formula), step, {
  double rate;
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, ferry::shard_span<const double, 3> now,
                                    ferry::shard_span<double, 3> next) const {
    next(i, j, k) = formula{rate}(now(i, j, k), now(i - 1, j, k) + now(i + 1, j, k),
                                  now(i, j - 1, k) + now(i, j + 1, k), now(i, j, k - 1) + now(i, j, k + 1));
  }
});

// A warm ball in a cold block.
FERRY_FUNCTOR(start, {
  double radius;
  FERRY_HOST_DEVICE double temperature(double i, double j, double k, double n, double m, double l) const {
    const double x = i - 0.5 * n;
    const double y = j - 0.4 * m;
    const double z = k - 0.6 * l;
    return x * x + y * y + z * z < radius * radius ? 1. : 0.25;
  }
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, std::size_t k, ferry::shard_span<double, 3> u) const {
    u(i, j, k) = temperature(static_cast<double>(i), static_cast<double>(j), static_cast<double>(k),
                             static_cast<double>(u.extent(0)), static_cast<double>(u.extent(1)),
                             static_cast<double>(u.extent(2)));
  }
});

}  // namespace heat
