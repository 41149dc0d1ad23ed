#include "cuda/jit/tile_kernel.hpp"

#include "cuda/jit/tile_interpreter.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

cudaError_t launch_tiles(const tile_program& p, cudaStream_t s) {
  const auto kernel =
      p.type == scalar_type::float32 ? interpreter::interpret_tile<float> : interpreter::interpret_tile<double>;
  kernel<<<static_cast<unsigned>(p.blocks()), p.threads(), p.shared_bytes(), s>>>(p);
  return cudaGetLastError();
}

}  // namespace ferry::inline FERRY_ABI::detail::cuda
