// expect: a FERRY_FUNCTION has 1 to 8 parameters
// lines: 12
// with: core
#include <ferry/core.hpp>

FERRY_FUNCTION(int, sum8, (int a, int b, int c, int d, int e, int f, int g, int h),
               { return a + b + c + d + e + f + g + h; });
#ifdef FERRY_WRONG
FERRY_FUNCTION(int, sum9, (int a, int b, int c, int d, int e, int f, int g, int h, int i),
               { return a + b + c + d + e + f + g + h + i; });
int of_nine = sum9(1, 2, 3, 4, 5, 6, 7, 8, 9);
#endif
int of_eight = sum8(1, 2, 3, 4, 5, 6, 7, 8);
