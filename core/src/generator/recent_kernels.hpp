// The kernels that a thread launched last.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "generator/kernel_plan.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// By all that determines the plan of an evaluation: so a launch in a loop neither plans nor hashes. Constants and
// addresses may differ, except for the alignment of these. For small programs.
class recent_kernels {
 public:
  struct kernel {
    kernel_plan plan;
    void* function;
  };
  // Those of the calling thread.
  static recent_kernels& of_thread();
  // Null if there is none. owner: number of what owns the functions, never used for another one.
  const kernel* find(std::uint64_t owner, int device, const evaluation& e) const noexcept;
  void put(std::uint64_t owner, int device, const evaluation& e, const kernel_plan& plan, void* function);

 private:
  struct entry;
  static constexpr std::size_t size = 16;
  static std::size_t place_of(const evaluation& e) noexcept;
  std::array<std::shared_ptr<const entry>, size> entries_;
};

}  // namespace ferry::inline FERRY_ABI::detail::generator
