// All of ferry.
#pragma once
#include "ferry/multigpu.hpp"
#include "ferry/unified.hpp"
