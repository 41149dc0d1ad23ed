#if defined(FERRY_HAS_NCCL)
#include "nccl_library.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <vector>

#include "ferry/core/error.hpp"

#if !defined(FERRY_NCCL_LIBRARY)
#define FERRY_NCCL_LIBRARY "libnccl.so.2"
#endif

namespace ferry::nccl {
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
  std::vector<std::string> names;
  if (const char* given = std::getenv("FERRY_NCCL_LIBRARY"))
    names = {given};
  else
    names = {"libnccl.so.2", FERRY_NCCL_LIBRARY};
  void* handle = nullptr;
  std::string tried;
  for (const std::string& n : names) {
    if ((handle = dlopen(n.c_str(), RTLD_NOW | RTLD_LOCAL))) break;
    const char* why = dlerror();
    tried += (tried.empty() ? "" : "; ") + std::string(why ? why : n);
  }
  if (!handle) {
    l.why_not = "collectives on CUDA devices need NCCL, which cannot be loaded: " + tried + remedy;
    return l;
  }
  const auto find = [&](auto& function, const char* name) {
    void* p = dlsym(handle, name);
    if (!p && l.why_not.empty()) l.why_not = "the NCCL that was loaded lacks " + std::string(name) + remedy;
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(p);
  };
  library& f = l.functions;
  find(f.version, "ncclGetVersion");
  find(f.error_string, "ncclGetErrorString");
  find(f.unique_id, "ncclGetUniqueId");
  find(f.init_all, "ncclCommInitAll");
  find(f.init_rank, "ncclCommInitRank");
  find(f.abort, "ncclCommAbort");
  find(f.async_error, "ncclCommGetAsyncError");
  find(f.group_start, "ncclGroupStart");
  find(f.group_end, "ncclGroupEnd");
  find(f.all_reduce, "ncclAllReduce");
  find(f.reduce, "ncclReduce");
  find(f.broadcast, "ncclBroadcast");
  find(f.all_gather, "ncclAllGather");
  find(f.reduce_scatter, "ncclReduceScatter");
  find(f.send, "ncclSend");
  find(f.receive, "ncclRecv");
  f.last_error = reinterpret_cast<decltype(f.last_error)>(dlsym(handle, "ncclGetLastError"));  // NCCL 2.13 or later
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
  if (last_error) text += std::string(" (") + last_error(nullptr) + ")";
  throw device_error(
      text + ". NCCL_DEBUG=WARN shows more; a team whose transport failed cannot be used again: make a new one",
      device_error::severity::passing);
}

}  // namespace ferry::nccl
#endif
