// A machine with several devices, simulated on the CPU.
#pragma once
#include <functional>
#include <map>
#include <memory>

#include "address_space.hpp"
#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/backend/sim_options.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

// Differences from CUDA: sticky errors belong to one device, not to the process. Destroying and releasing on a failed
// device do their work and then throw. Peer access covers every allocation. With one CPU thread, a seed determines the
// order.
//
// check: of the option nvrtc=on. Throws not_supported if the kernel of a functor does not compile. Empty: make_backend
// throws not_supported for the option.
std::unique_ptr<backend> make_backend(const options& how, std::function<void(const kernel_text&)> check = {});

// Inspection of a simulated machine, for tests: dynamic_cast<inspector&>(backend).
class inspector {
 public:
  virtual ~inspector() = default;
  virtual std::size_t pending_operations() = 0;  // queue entries: a kernel has two
  // Bytes of managed memory per device (-1: the CPU), by pages of 2 MiB.
  virtual std::map<int, std::size_t> residency(const void* p, std::size_t bytes) const = 0;
  // Bytes of managed memory that have moved so far, in whole pages of 2 MiB.
  virtual traffic moved() const = 0;
  // Current allocations; device counts for memory_kind::device only.
  virtual usage held(memory_kind kind, int device) const = 0;
  virtual place at(const void* p) const = 0;
  virtual void reset_errors() = 0;  // failed devices work again; lost operations stay lost
};

}  // namespace ferry::inline FERRY_ABI::detail::sim
