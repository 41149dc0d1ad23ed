// expect: ferry arrays have at most 6 dimensions
// with: core
#include <ferry/core.hpp>

#ifdef FERRY_WRONG
constexpr std::size_t rank = 7;
#else
constexpr std::size_t rank = 6;
#endif

std::size_t count(const ferry::device_array<float, rank>& a) { return a.size(); }
