// expect: the parameters and the result of a FERRY_FUNCTION are values
// lines: 12
// with: core
#include <ferry/core.hpp>

FERRY_FUNCTION(float, square, (float x), { return x * x; });
#ifdef FERRY_WRONG
FERRY_FUNCTION(float, cube, (const float& x), { return x * x * x; });
float of_two = cube(2);
#endif
float of_three = square(3);
