#if defined(FERRY_HAS_NCCL)
#include "nccl_library.hpp"

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/dynamic_library.hpp"
#include "ferry/core/error.hpp"

#if !defined(FERRY_NCCL_LIBRARY)
#define FERRY_NCCL_LIBRARY "libnccl.so.2"
#endif

namespace ferry::inline FERRY_ABI::detail::nccl {
namespace {

struct loaded {
  library functions;
  std::string why_not;  // empty: all functions are loaded
};

constexpr const char* remedy =
    ". Install NCCL 2.7 or later (Debian, Ubuntu: libnccl2 from NVIDIA's repository; it also comes with PyTorch), or "
    "say "
    "where it is: FERRY_NCCL_LIBRARY=/path/to/libnccl.so.2";

loaded load() {
  loaded l;
  detail::dynamic_library so("FERRY_NCCL_LIBRARY", {"libnccl.so.2", FERRY_NCCL_LIBRARY});
  if (!so.is_loaded()) {
    l.why_not = "collectives on CUDA devices need NCCL, which cannot be loaded: " + so.why_not() + remedy;
    return l;
  }
  library& f = l.functions;
  so.need(f.version, "ncclGetVersion");
  so.need(f.error_string, "ncclGetErrorString");
  so.need(f.unique_id, "ncclGetUniqueId");
  so.need(f.init_all, "ncclCommInitAll");
  so.need(f.init_rank, "ncclCommInitRank");
  so.need(f.abort, "ncclCommAbort");
  so.need(f.async_error, "ncclCommGetAsyncError");
  so.need(f.group_start, "ncclGroupStart");
  so.need(f.group_end, "ncclGroupEnd");
  so.need(f.all_reduce, "ncclAllReduce");
  so.need(f.reduce, "ncclReduce");
  so.need(f.broadcast, "ncclBroadcast");
  so.need(f.all_gather, "ncclAllGather");
  so.need(f.reduce_scatter, "ncclReduceScatter");
  so.need(f.send, "ncclSend");
  so.need(f.receive, "ncclRecv");
  so.find(f.last_error, "ncclGetLastError");  // NCCL 2.13 or later
  if (!so.missing().empty()) l.why_not = "the NCCL that was loaded lacks " + so.missing() + remedy;
  return l;
}

}  // namespace

const library& library::get() {
  static const loaded l = load();
  if (!l.why_not.empty()) throw not_supported(l.why_not);
  return l.functions;
}

void library::check(ncclResult_t r, const std::string& what) const {
  if (r == ncclSuccess || r == ncclInProgress) return;
  std::string text = "NCCL: " + what + " failed: " + error_string(r);
  if (last_error) text += concat(" (", last_error(nullptr), ")");
  throw device_error(
      text + ". NCCL_DEBUG=WARN shows more; a team whose transport failed cannot be used again: make a new one",
      device_error::severity::passing);
}

}  // namespace ferry::inline FERRY_ABI::detail::nccl
#endif
