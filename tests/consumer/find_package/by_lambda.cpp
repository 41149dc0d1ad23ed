// A program with a kernel by a lambda, which sets no option of the compiler but the standard.
#include <ferry/ferry.hpp>

int main() {
  ferry::unified_array<int> x({100}, 1);
  const int y = 2;
  ferry::parallel_for(
      100, FERRY_LAMBDA(std::size_t i, int* to) { to[i] += y; }, ferry::inout(x));
  for (const int value : x)
    if (value != 3) return 1;
}
