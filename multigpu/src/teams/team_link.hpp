// The state of collectives on a team.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/multigpu/detail/transport/transport.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry::inline FERRY_ABI {
enum class halo_method : std::uint8_t;
}  // namespace ferry::inline FERRY_ABI

namespace ferry::inline FERRY_ABI::detail {

struct team_link {
  rank_layout layout;
  std::vector<stream_ref> streams;
  std::once_flag once;
  std::shared_ptr<detail::transport> carrier;
  mutex choosing;
  // the faster method, by the shape of the halos
  std::map<std::string, halo_method> halo_methods FERRY_GUARDED_BY(choosing);

  // Returns the transport. The first call makes it, which may block. Throws not_supported, and invalid_argument if the
  // first call is inside a capture.
  detail::transport& transport() {
    std::call_once(once, [&] {
      if (carrier) return;
      refuse_first_in_capture();
      carrier = make_transport(layout);
    });
    return *carrier;
  }
  static void refuse_first_in_capture();
};

}  // namespace ferry::inline FERRY_ABI::detail
