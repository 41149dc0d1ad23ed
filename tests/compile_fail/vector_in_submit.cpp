// expect: pass ferry::as_unified\(v\) or an array
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include <ferry/core.hpp>
#include <vector>

void call(ferry::stream& s, std::vector<float>& v, ferry::unified_array<float>& y) {
  const auto nothing = [](ferry::native_stream, float*) {};
  ferry::submit(s, nothing, y);
#ifdef FERRY_WRONG
  ferry::submit(s, nothing, v);
#endif
  v.clear();
}
