// Arrays of several pages, and kernels on them, for the tests of automatic migration.
#pragma once
#include <cstddef>

#include "unified/kernels/driver_pages.hpp"

namespace fr = ferry;

namespace automatic {

using namespace shared;

inline constexpr std::size_t n = 4 * page / sizeof(float);

struct copy_of {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* to, const float* from) const { to[i] = from[i]; }
};

inline void add(fr::device d, auto&& v) { fr::parallel_for(fr::default_stream(d), v.size(), add_one{}, fr::inout(v)); }

}  // namespace automatic
