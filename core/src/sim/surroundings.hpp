// The bytes around memory that kernels may write, for schedules that run kernels in place.
#pragma once
#include <span>
#include <vector>

#include "ferry/version.hpp"
#include "scheduler.hpp"
#include "scratch.hpp"
#include "work.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

// Guard bytes on each side of each range of device memory that one of some kernels writes, except bytes of other uses.
// Excludes unified and pinned memory, because the CPU may write it at any time.
class surroundings final : public inspection {
 public:
  surroundings() = default;
  // Returns the calling thread's object, which it reuses for each operation. `all` must outlive the operation.
  static surroundings& of(std::span<const work* const> all, const address_space& memory);
  void before() override;
  std::string after() const override;

 private:
  struct zone {
    const std::byte* begin = nullptr;
    std::size_t bytes = 0;
    const std::byte *used_begin = nullptr, *used_end = nullptr;  // the range beside the zone
    const kernel_use* use = nullptr;                             // a use in that range
  };
  void add_zones(const kernel_use& u, const address_space& memory);

  std::span<const work* const> all_;
  std::vector<zone> zones_;
  std::vector<std::byte> saved_;
};

}  // namespace ferry::inline FERRY_ABI::detail::sim
