/// @file
/// Includes all of ferry.
#pragma once
#include "ferry/core.hpp"
#include "ferry/multigpu.hpp"
#include "ferry/unified.hpp"
