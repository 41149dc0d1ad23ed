/// @file
/// Includes all public headers of ferry::multigpu: several devices as one, and the data that is distributed over them.
#pragma once
#include "ferry/core.hpp"
#include "ferry/multigpu/collectives.hpp"
#include "ferry/multigpu/halo_exchange.hpp"
#include "ferry/multigpu/process_error.hpp"
#include "ferry/multigpu/replicated_array.hpp"
#include "ferry/multigpu/reproducible.hpp"
#include "ferry/multigpu/reshard.hpp"
#include "ferry/multigpu/shard_copy.hpp"
#include "ferry/multigpu/shard_gather.hpp"
#include "ferry/multigpu/shard_loop.hpp"
#include "ferry/multigpu/shard_reduce.hpp"
#include "ferry/multigpu/sharded_array.hpp"
#include "ferry/multigpu/sharded_npy.hpp"
#include "ferry/multigpu/sweep.hpp"
#include "ferry/multigpu/team.hpp"
