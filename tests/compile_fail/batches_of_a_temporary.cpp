// expect: the elements end before the loop does
#include <ferry/ferry.hpp>

std::vector<float> make() { return std::vector<float>(100); }

int main() {
#ifdef FERRY_WRONG
  for (auto&& piece : ferry::batches(make())) (void)piece;
#else
  const auto kept = make();
  for (auto&& piece : ferry::batches(kept)) (void)piece;
#endif
}
