// For builds without CUDA, or without NCCL's header.
#if !defined(FERRY_HAS_NCCL)
#include "ferry/core/error.hpp"
#include "nccl_transport.hpp"

namespace ferry::inline FERRY_ABI::detail::nccl {

namespace {

[[noreturn]] void refuse() {
  throw not_supported(
      "collectives on CUDA devices need NCCL, and ferry was built without its header nccl.h: install libnccl-dev (or "
      "configure with -DFERRY_NCCL_INCLUDE_DIR=...), and build ferry again");
}

}  // namespace

void need_library() { refuse(); }
std::shared_ptr<transport> make_transport(const rank_layout&) { refuse(); }
std::shared_ptr<transport> make_transport(const rank_layout&, processes&) { refuse(); }

}  // namespace ferry::inline FERRY_ABI::detail::nccl
#endif
