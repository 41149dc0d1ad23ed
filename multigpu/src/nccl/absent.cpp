// For builds without CUDA, or without NCCL's header.
#if !defined(FERRY_HAS_NCCL)
#include "ferry/core/error.hpp"
#include "nccl_transport.hpp"

namespace ferry::nccl {

std::shared_ptr<transport> make_transport(const rank_layout& team) { return make_transport(team, {}); }

std::shared_ptr<transport> make_transport(const rank_layout&, const std::function<void(unique_id&)>&) {
  throw not_supported(
      "collectives on CUDA devices need NCCL, and ferry was built without its header nccl.h: install libnccl-dev (or "
      "configure with -DFERRY_NCCL_INCLUDE_DIR=...), and build ferry again");
}

}  // namespace ferry::nccl
#endif
