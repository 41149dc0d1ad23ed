// The kernels that a thread has launched recently.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "generator/kernel_plan.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Finds kernels by what determines the plan of an evaluation. So a launch in a loop neither plans nor computes a hash
// of the shape. Values of constants, and addresses of equal alignment, may differ. Has only small programs.
class recent_kernels {
 public:
  struct kernel {
    kernel_plan plan;
    void* function;
  };
  // Returns the kernels of the calling thread.
  static recent_kernels& of_thread();
  // Returns null if there is none. owner: the number of the object that owns the kernels' functions; numbers are never
  // reused.
  const kernel* find(std::uint64_t owner, int device, const evaluation& e) const noexcept;
  void put(std::uint64_t owner, int device, const evaluation& e, const kernel_plan& plan, void* function);

 private:
  struct entry;
  static constexpr std::size_t size = 16;
  static std::size_t place_of(const evaluation& e) noexcept;
  std::array<std::shared_ptr<const entry>, size> entries_;
};

}  // namespace ferry::inline FERRY_ABI::detail::generator
