// expect: scalar<double>
// with: core
// The compiler refuses it, as for all arguments of two types; no library can add a text. Its message names the types.
#include <algorithm>
#include <ferry/core.hpp>

double call(const ferry::scalar<double>& s) {
  const ferry::scalar<double> later = ferry::max(s, 1.0);
#ifdef FERRY_WRONG
  return std::max(s, 1.0);
#endif
  return std::max(double(s), 1.0) + std::max<double>(s, 1.0) + later.value();
}
