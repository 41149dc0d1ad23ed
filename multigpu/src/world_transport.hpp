// What every transport between processes has, whatever carries the bytes.
#pragma once
#include <algorithm>
#include <exception>

#include "mpi/mpi_transport.hpp"

namespace ferry {

enum class call_check : std::uint8_t { off, on };

class world_transport final : public transport {
 public:
  world_transport(std::shared_ptr<transport> below, const mpi::rank_table& ranks, processes& all, call_check check)
      : below_(std::move(below)),
        ranks_(ranks),
        all_(all),
        check_(check),
        exceptions_(std::uncaught_exceptions()) {}
  // An exception that ends the use of the team is this process' failure: the others would wait in vain.
  ~world_transport() override {
    if (std::uncaught_exceptions() > exceptions_) all_.fail("an exception ended its use of the team of all processes");
  }
  std::string_view name() const override { return below_->name(); }
  void submit(std::span<const collective_call> calls, std::span<const stream_ref> streams) override {
    // What only some processes call is not compared.
    const bool has_collectives =
        std::any_of(calls.begin(), calls.end(), [](const collective_call& c) { return !is_exchange(c.kind); });
    if (check_ == call_check::on && has_collectives) mpi::need_same_calls(calls, ranks_, all_);
    below_->submit(calls, streams);
  }

 private:
  const std::shared_ptr<transport> below_;
  const mpi::rank_table ranks_;
  processes& all_;
  const call_check check_;
  const int exceptions_;
};

}  // namespace ferry
