// NCCL's communicators of a team's members, and their life.
#pragma once
#include <atomic>
#include <vector>

#include "ferry/multigpu/detail/transport/transport.hpp"
#include "nccl_library.hpp"
#include "nccl_transport.hpp"

namespace ferry::nccl {

class communicators {
 public:
  // All ranks are of this process.
  explicit communicators(const std::vector<int>& devices);
  // Ranks `first`, `first` + 1, ... of `ranks`; blocks until the others have come.
  communicators(const std::vector<int>& devices, std::size_t first, std::size_t ranks, const unique_id& id);
  communicators(const communicators&) = delete;
  communicators& operator=(const communicators&) = delete;

  ncclComm_t operator[](std::size_t member) const { return comms_[member]; }
  const std::vector<int>& devices() const { return devices_; }
  // Whether one of them failed: then work that waits in it is ended, and the text says why. Each call asks the next one,
  // for it is made before every submission.
  bool has_failed();
  const std::string& why() const { return why_; }
  // Ends all work that waits for other ranks; nothing else can be done with them.
  void abort(const std::string& why);

 private:
  const library& nccl_;
  std::vector<int> devices_;
  std::vector<ncclComm_t> comms_;
  std::atomic<unsigned> next_{0};
  std::string why_;
};

// Those of teams that are gone, kept for the next team of the same devices: they are slow to make. Never destroyed, for
// nothing calls CUDA after main.
std::unique_ptr<communicators> take_from_stock(const std::vector<int>& devices);
void give_to_stock(std::unique_ptr<communicators> c) noexcept;

}  // namespace ferry::nccl
