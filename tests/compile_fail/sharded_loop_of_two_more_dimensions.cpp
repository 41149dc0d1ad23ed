// expect: as many dimensions as the loop's region, or one more for components
#include <ferry/ferry.hpp>

struct set {
  template <class Span>
  FERRY_HOST_DEVICE void operator()(std::size_t i, Span a) const {
    a(0, i) = 1;
  }
};

void call(const ferry::sharded_array<float, 1>& cells, ferry::sharded_array<float, 2>& a,
          ferry::sharded_array<float, 3>& b) {
  (void)b;
#ifdef FERRY_WRONG
  ferry::parallel_for(ferry::owned(cells), set{}, ferry::inout(b));
#endif
  ferry::parallel_for(ferry::owned(cells), set{}, ferry::inout(a));
}
