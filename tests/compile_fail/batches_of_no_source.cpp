// expect: batches: a source is a contiguous range
#include <ferry/ferry.hpp>
#include <list>
#include <vector>

int main() {
#ifdef FERRY_WRONG
  const std::list<float> x(100);
#else
  const std::vector<float> x(100);
#endif
  for (auto&& piece : ferry::batches(x)) (void)piece;
}
