/// @file
/// Arrays, with the definitions of all their members.
#pragma once
#include "ferry/core/basic_array.hpp"
#include "ferry/core/copy.hpp"
#include "ferry/core/fill.hpp"
