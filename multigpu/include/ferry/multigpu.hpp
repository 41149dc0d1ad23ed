// Everything of ferry::multigpu: several devices as one.
#pragma once
#include "ferry/core.hpp"
#include "ferry/multigpu/team.hpp"
