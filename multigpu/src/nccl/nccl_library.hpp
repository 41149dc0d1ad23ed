// The functions of libnccl.so.2 that ferry calls, found when they are first needed: programs start without it.
#pragma once
#include <nccl.h>

#include <string>

namespace ferry::nccl {

struct library {
  decltype(&ncclGetVersion) version = nullptr;
  decltype(&ncclGetErrorString) error_string = nullptr;
  decltype(&ncclGetLastError) last_error = nullptr;
  decltype(&ncclGetUniqueId) unique_id = nullptr;
  decltype(&ncclCommInitAll) init_all = nullptr;
  decltype(&ncclCommInitRank) init_rank = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclCommGetAsyncError) async_error = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) receive = nullptr;

  // Loads it at the first call: FERRY_NCCL_LIBRARY, else what the system finds, else beside the toolkit that ferry was
  // built with. Throws not_supported, every time, when there is none.
  static const library& get();
  // Throws device_error with NCCL's own words, and the way out.
  void check(ncclResult_t r, const std::string& what) const;
};

}  // namespace ferry::nccl
