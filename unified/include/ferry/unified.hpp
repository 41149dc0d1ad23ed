/// @file
/// Includes all public headers of ferry::unified, which controls the location of unified arrays.
#pragma once
#include "ferry/core.hpp"
#include "ferry/unified/array_policy.hpp"
#include "ferry/unified/automatic.hpp"
#include "ferry/unified/batches.hpp"
#include "ferry/unified/host_guard.hpp"
#include "ferry/unified/migration.hpp"
#include "ferry/unified/policy_file.hpp"
#include "ferry/unified/report.hpp"
#include "ferry/unified/residency.hpp"
#include "ferry/unified/tuner.hpp"
