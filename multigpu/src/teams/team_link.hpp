// What collectives keep with a team.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "ferry/multigpu/detail/transport/transport.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry {
enum class halo_method : std::uint8_t;
}
namespace ferry::detail {

struct team_link {
  rank_layout layout;
  std::vector<stream_ref> streams;
  std::once_flag once;
  std::shared_ptr<ferry::transport> carrier;
  std::mutex choosing;
  std::map<std::string, halo_method> halo_methods;  // what was faster, by the shape of the halos

  // Made at first use, which may block. Throws not_supported; invalid_argument when that is inside a capture.
  ferry::transport& transport() {
    std::call_once(once, [&] {
      if (carrier) return;
      refuse_first_in_capture();
      carrier = make_transport(layout);
    });
    return *carrier;
  }
  static void refuse_first_in_capture();
};

}  // namespace ferry::detail
