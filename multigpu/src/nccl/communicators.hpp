// NCCL's communicators of a team's members.
#pragma once
#include <atomic>
#include <vector>

#include "ferry/multigpu/detail/transport/transport.hpp"
#include "nccl_library.hpp"
#include "nccl_transport.hpp"

namespace ferry::inline FERRY_ABI::detail::nccl {

class communicators {
 public:
  // For ranks of this process only.
  explicit communicators(const std::vector<int>& devices);
  // For ranks `first`, `first` + 1, ... of `ranks`. Blocks until the other processes have arrived.
  communicators(const std::vector<int>& devices, std::size_t first, std::size_t ranks, const unique_id& id);
  communicators(const communicators&) = delete;
  communicators& operator=(const communicators&) = delete;

  ncclComm_t operator[](std::size_t member) const { return comms_[member]; }
  const std::vector<int>& devices() const { return devices_; }
  // True if a communicator has failed. Work that waits in it is then ended, and why() returns the reason. Each call
  // queries the next communicator only, because it precedes every submission.
  bool has_failed();
  const std::string& why() const { return why_; }
  // Ends all work that waits for other ranks. The communicators cannot be used afterwards.
  void abort(const std::string& why);

 private:
  const library& nccl_;
  std::vector<int> devices_;
  std::vector<ncclComm_t> comms_;
  std::atomic<unsigned> next_{0};
  std::string why_;
};

// Communicators of destroyed teams, stored for the next team of the same devices, because they are slow to make. Never
// destroyed: ferry does not call CUDA after main.
std::unique_ptr<communicators> take_from_stock(const std::vector<int>& devices);
void give_to_stock(std::unique_ptr<communicators> c) noexcept;

}  // namespace ferry::inline FERRY_ABI::detail::nccl
