// Functions of every transport between processes, independent of how bytes travel.
#pragma once
#include <algorithm>
#include <atomic>
#include <exception>

#include "ferry/version.hpp"
#include "mpi/mpi_transport.hpp"

namespace ferry::inline FERRY_ABI::detail {

class world_transport final : public transport {
 public:
  // Most wrong programs differ within their first calls.
  static constexpr std::size_t first_calls = 32;

  // checks: number of submissions that are compared with those of the other processes before they are enqueued.
  world_transport(std::shared_ptr<transport> below, const mpi::rank_table& ranks, processes& all, std::size_t checks)
      : below_(std::move(below)),
        ranks_(ranks),
        all_(all),
        checks_left_(checks),
        exceptions_(std::uncaught_exceptions()) {}
  // If an exception ends the use of the team, this process has failed: the others would wait for it.
  ~world_transport() override {
    if (std::uncaught_exceptions() > exceptions_) all_.fail("an exception ended its use of the team of all processes");
  }
  std::string_view name() const override { return below_->name(); }
  void submit(std::span<const collective_call> calls, std::span<const stream_ref> streams) override {
    // Sends and receives are not compared: only some processes call them.
    const bool has_collectives =
        std::any_of(calls.begin(), calls.end(), [](const collective_call& c) { return !is_exchange(c.kind); });
    if (has_collectives && takes_check()) mpi::need_same_calls(calls, ranks_, all_);
    below_->submit(calls, streams);
  }
  void check() override { below_->check(); }

 private:
  // All processes count equally, because they submit to a team in the same order.
  bool takes_check() {
    std::size_t left = checks_left_.load(std::memory_order_relaxed);
    while (left > 0 && left != std::size_t(-1))
      if (checks_left_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) return true;
    return left > 0;
  }

  const std::shared_ptr<transport> below_;
  const mpi::rank_table ranks_;
  processes& all_;
  std::atomic<std::size_t> checks_left_;
  const int exceptions_;
};

}  // namespace ferry::inline FERRY_ABI::detail
