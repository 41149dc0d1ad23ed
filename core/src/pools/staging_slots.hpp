// Small pieces of pinned memory, for copies that complete later.
#pragma once
#include <cstddef>
#include <map>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Not thread-safe: the caller holds a lock. A piece is reused only for requests of its size.
class staging_slots {
 public:
  explicit staging_slots(detail::backend& backend) : backend_(backend) {}
  ~staging_slots();
  staging_slots(const staging_slots&) = delete;
  staging_slots& operator=(const staging_slots&) = delete;

  // May allocate pinned memory from the driver. Throws out_of_memory.
  std::byte* take(std::size_t bytes);
  void give_back(std::byte* slot, std::size_t bytes) noexcept;

 private:
  static constexpr std::size_t slab_bytes = std::size_t{256} << 10;
  struct slab {
    void* begin;
    std::size_t bytes;
  };
  detail::backend& backend_;
  std::vector<slab> slabs_;
  std::map<std::size_t, std::vector<std::byte*>> free_;
};

}  // namespace ferry::inline FERRY_ABI::detail
