// For builds without MPI.
#if !defined(FERRY_HAS_MPI)
#include "ferry/core/error.hpp"
#include "processes/processes.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

processes* processes::world() {
  if (!started_by_a_launcher()) return nullptr;
  throw not_supported(
      "the program was started as one of several processes, and this ferry was built without MPI: install an MPI "
      "(Debian, Ubuntu: libopenmpi-dev) and build ferry with -DFERRY_MPI=ON, or start the program alone");
}

}  // namespace ferry::inline FERRY_ABI
#endif
