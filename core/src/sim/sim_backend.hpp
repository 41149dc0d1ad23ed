// A machine with several devices, played by the CPU.
#pragma once
#include <map>
#include <memory>

#include "address_space.hpp"
#include "ferry/core/detail/backend/backend.hpp"
#include "ferry/core/detail/backend/sim_options.hpp"

namespace ferry::sim {

// Where it differs from CUDA: sticky errors are those of one device, not of the process; destroying and releasing on a
// failed device do their work and then throw; peer access covers every allocation. One CPU thread and one seed: one order.
std::unique_ptr<backend> make_backend(const options& how);

// What tests ask of a simulated machine: dynamic_cast<inspector&>(backend).
class inspector {
 public:
  virtual ~inspector() = default;
  virtual std::size_t pending_operations() = 0;  // queue entries: a kernel is two
  // Bytes of managed memory per device (-1: the CPU), by pages of 2 MiB.
  virtual std::map<int, std::size_t> residency(const void* p, std::size_t bytes) const = 0;
  // Bytes of managed memory that went from place to place so far, in whole pages of 2 MiB.
  virtual traffic moved() const = 0;
  // What is allocated now; device counts for memory_kind::device only.
  virtual usage held(memory_kind kind, int device) const = 0;
  virtual place at(const void* p) const = 0;
  virtual void reset_errors() = 0;  // failed devices work again; lost operations stay lost
};

}  // namespace ferry::sim
