// expect: ferry arrays hold trivially copyable types
// with: core
#include <ferry/core.hpp>
#include <string>

struct particle {
  double x, y, z;
#ifdef FERRY_WRONG
  std::string name;
#endif
};

std::size_t count(const ferry::device_array<particle>& a) { return a.size(); }
