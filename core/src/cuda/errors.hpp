// Maps CUDA's error codes to ferry's exceptions. No other code does so.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include <cuda_runtime_api.h>

#include <ferry/core/detail/backend/backend.hpp>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

enum class error_kind {
  out_of_memory,
  invalid_argument,  // misuse, including violated capture rules
  not_supported,
  peer_access,
  device,  // the driver failed, but later calls may work
  sticky   // every later call of the process on this device returns the same error
};

// Takes the code as an int, because codes are stable but enumerators differ between toolkits.
error_kind classify(int cuda_error);

// Throws the ferry::error for `e` and leaves no pending CUDA error. `verb`: the name of ferry's call. `device`: -1 if
// unknown.
[[noreturn]] void fail(cudaError_t e, std::string_view verb, int device);

// Returns the text for a failed allocation. `left`: as the device reports it (all zero if the query failed).
std::string out_of_memory_text(memory_kind kind, int device, std::size_t bytes, const device_memory& left);

inline void check(cudaError_t e, std::string_view verb, int device = -1) {
  if (e != cudaSuccess) [[unlikely]]
    fail(e, verb, device);
}

// Clears a pending status that is not an error (cudaErrorNotReady, peer access already enabled).
inline void clear_pending() noexcept { static_cast<void>(cudaGetLastError()); }

}  // namespace ferry::inline FERRY_ABI::detail::cuda
