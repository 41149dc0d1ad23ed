// Everything of ferry::unified: where unified arrays live.
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
