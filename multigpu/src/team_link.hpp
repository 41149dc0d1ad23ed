// What collectives keep with a team.
#pragma once
#include <mutex>
#include <vector>

#include "ferry/multigpu/team.hpp"
#include "ferry/multigpu/transport.hpp"

namespace ferry::detail {

struct team_link {
  rank_layout layout;
  std::vector<stream_ref> streams;
  std::once_flag once;
  std::shared_ptr<ferry::transport> carrier;

  // Made at first use, which may block. Throws not_supported.
  ferry::transport& transport() {
    std::call_once(once, [&] {
      if (!carrier) carrier = make_transport(layout);
    });
    return *carrier;
  }
};

}  // namespace ferry::detail
