// The functions of NVRTC that ferry calls. They are declared here, because building ferry does not need nvrtc.h: its
// interface is the same in all versions of CUDA that ferry supports.
#pragma once
#include <cstddef>
#include <string>

#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

struct nvrtc_library {
  using program = struct _nvrtcProgram*;
  int (*version)(int* major, int* minor) = nullptr;
  const char* (*error_string)(int result) = nullptr;
  int (*architectures)(int* all) = nullptr;
  int (*architecture_count)(int* count) = nullptr;
  int (*create)(program* p, const char* source, const char* name, int headers, const char* const* texts,
                const char* const* names) = nullptr;
  int (*destroy)(program* p) = nullptr;
  int (*compile)(program p, int options, const char* const* texts) = nullptr;
  int (*log_size)(program p, std::size_t* bytes) = nullptr;
  int (*log)(program p, char* text) = nullptr;
  int (*cubin_size)(program p, std::size_t* bytes) = nullptr;
  int (*cubin)(program p, char* code) = nullptr;
  int (*ptx_size)(program p, std::size_t* bytes) = nullptr;
  int (*ptx)(program p, char* code) = nullptr;

  // Loads the library on the first call. Throws not_supported if it cannot be loaded, or lacks a function.
  static const nvrtc_library& get();
};

}  // namespace ferry::inline FERRY_ABI::detail::cuda
