// The functions of libnccl.so.2 that ferry calls, loaded on first use: programs start without the library.
#pragma once
#include <nccl.h>

#include <string>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::nccl {

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

  // Loads the library at the first call: FERRY_NCCL_LIBRARY, else the one that the system finds, else that beside the
  // toolkit that ferry was built with. Throws not_supported, at every call, if there is none.
  static const library& get();
  // Throws device_error with the text of NCCL and a remedy if r is an error.
  void check(ncclResult_t r, const std::string& what) const;
};

}  // namespace ferry::inline FERRY_ABI::detail::nccl
