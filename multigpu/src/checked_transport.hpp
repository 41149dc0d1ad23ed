// A transport between processes that first compares what they call (FERRY_CHECK_COLLECTIVES=on).
#pragma once
#include <algorithm>

#include "mpi/mpi_transport.hpp"

namespace ferry {

class checked_transport final : public transport {
 public:
  checked_transport(std::shared_ptr<transport> below, const mpi::rank_table& ranks, processes& all)
      : below_(std::move(below)),
        ranks_(ranks),
        all_(all) {}
  std::string_view name() const override { return below_->name(); }
  void submit(std::span<const collective_call> calls, std::span<const stream_ref> streams) override {
    if (std::any_of(calls.begin(), calls.end(), [](const collective_call& c) { return !is_exchange(c.kind); }))
      mpi::need_same_calls(calls, ranks_, all_);  // what only some processes call is not compared
    below_->submit(calls, streams);
  }

 private:
  std::shared_ptr<transport> below_;
  const mpi::rank_table ranks_;
  processes& all_;
};

}  // namespace ferry
