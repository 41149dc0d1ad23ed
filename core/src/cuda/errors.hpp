// CUDA's error codes, sorted into ferry's exceptions: the only place that does so.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include <cuda_runtime_api.h>

#include <ferry/core/detail/backend/backend.hpp>

namespace ferry::cuda {

enum class error_kind {
  out_of_memory,
  invalid_argument,  // misuse, capture rules included
  not_supported,
  peer_access,
  device,  // the driver failed, but later calls may work
  sticky   // every later call of the process on this device answers with the same error
};

// Takes the code as an int: codes are stable, their enumerators come and go with the toolkit.
error_kind classify(int cuda_error);

// Throws the ferry::error for `e` and leaves no pending CUDA error. `verb` names ferry's call, `device` is -1 if unknown.
[[noreturn]] void fail(cudaError_t e, std::string_view verb, int device);

// Text of an allocation that failed; `left` as the device reports it (all zero if it could not be asked).
std::string out_of_memory_text(memory_kind kind, int device, std::size_t bytes, const device_memory& left);

inline void check(cudaError_t e, std::string_view verb, int device = -1) {
  if (e != cudaSuccess) [[unlikely]]
    fail(e, verb, device);
}

// Forgets a failure that is no failure (cudaErrorNotReady, peer access already enabled).
inline void clear_pending() noexcept { static_cast<void>(cudaGetLastError()); }

}  // namespace ferry::cuda
