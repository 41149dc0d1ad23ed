// expect: declare the parameter as S<ferry::mdspan>
// lines: 10
// with: core
#undef FERRY_HAS_CUDA  // as in a build without CUDA
#include "struct_of_arrays.hpp"

void call(state<ferry::unified_array>& s, [[maybe_unused]] fixed& f) {
  ferry::parallel_for(s.x.size(), move{}, ferry::inout(s));
  ferry::parallel_for(s.x.size(), move_pointer{}, f.x);
  ferry::parallel_for(s.x.size(), read_state{}, s);
#ifdef FERRY_WRONG
  ferry::parallel_for(s.x.size(), move_pointer{}, ferry::inout(s));
#endif
}
