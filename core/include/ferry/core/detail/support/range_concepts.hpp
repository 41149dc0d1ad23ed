// The concepts and access functions of std::ranges, without its views: <ranges> costs about a tenth of a second of
// compile time. <span> needs them for its constructors, so its header defines them in libstdc++ and in libc++.
#pragma once
#include <span>

#include "ferry/core/detail/support/internal.hpp"
