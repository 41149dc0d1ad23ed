// Replaces libnccl.so.2: operations run hooks of the test program, and move no data.
#include "fake_nccl.hpp"

#include <nccl.h>

fake_nccl_hooks& fake_nccl() {
  static fake_nccl_hooks hooks;
  return hooks;
}

namespace {

ncclResult_t give(cudaStream_t s) {
  if (fake_nccl().gives) fake_nccl().gives(s);
  return ncclSuccess;
}
ncclResult_t make(ncclComm_t* c) {
  *c = reinterpret_cast<ncclComm_t>(new int);
  return ncclSuccess;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* v) { return *v = NCCL_VERSION_CODE, ncclSuccess; }
const char* ncclGetErrorString(ncclResult_t) { return "an error that is made up"; }
const char* ncclGetLastError(ncclComm_t) { return ""; }
ncclResult_t ncclGetUniqueId(ncclUniqueId*) { return ncclSuccess; }
ncclResult_t ncclCommInitAll(ncclComm_t* c, int n, const int*) {
  for (int i = 0; i < n; ++i) make(c + i);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRank(ncclComm_t* c, int, ncclUniqueId, int) { return make(c); }
ncclResult_t ncclCommAbort(ncclComm_t) {
  if (fake_nccl().aborts) fake_nccl().aborts();
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* r) { return *r = ncclSuccess, ncclSuccess; }
ncclResult_t ncclGroupStart() { return ncclSuccess; }
ncclResult_t ncclGroupEnd() { return ncclSuccess; }
ncclResult_t ncclAllReduce(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t s) {
  return give(s);
}
ncclResult_t ncclReduce(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, int, ncclComm_t, cudaStream_t s) {
  return give(s);
}
ncclResult_t ncclBroadcast(const void*, void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t s) {
  return give(s);
}
ncclResult_t ncclAllGather(const void*, void*, size_t, ncclDataType_t, ncclComm_t, cudaStream_t s) { return give(s); }
ncclResult_t ncclReduceScatter(const void*, void*, size_t, ncclDataType_t, ncclRedOp_t, ncclComm_t, cudaStream_t s) {
  return give(s);
}
ncclResult_t ncclSend(const void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t s) { return give(s); }
ncclResult_t ncclRecv(void*, size_t, ncclDataType_t, int, ncclComm_t, cudaStream_t s) { return give(s); }
}
