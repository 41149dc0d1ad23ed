// The limit of CPU time that a control group sets, as containers and batch systems do.
#pragma once
#include <cstddef>
#include <string>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Returns how many cores' time the control groups of this process leave it, rounded up; 0 for no limit. Reads
// cpu.max of control groups of version 2, and cpu.cfs_quota_us of version 1, of the group and of those around it.
// Source: Linux, Documentation/admin-guide/cgroup-v2.rst, and Documentation/scheduler/sched-bwc.rst.
// root: the folder that stands for /, in tests
std::size_t cpu_quota(const std::string& root = "");

// Returns the number of threads of this process that run at a time: its cores, or fewer if their time is limited.
// Determined at the first call.
std::size_t parallel_threads();

}  // namespace ferry::inline FERRY_ABI::detail
