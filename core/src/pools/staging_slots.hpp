// Small pieces of pinned memory, for copies that arrive later.
#pragma once
#include <cstddef>
#include <map>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry {

// The caller locks. Pieces of one size stay pieces of that size.
class staging_slots {
 public:
  explicit staging_slots(ferry::backend& backend) : backend_(backend) {}
  ~staging_slots();
  staging_slots(const staging_slots&) = delete;
  staging_slots& operator=(const staging_slots&) = delete;

  // May ask the driver for pinned memory. Throws out_of_memory.
  std::byte* take(std::size_t bytes);
  void give_back(std::byte* slot, std::size_t bytes) noexcept;

 private:
  static constexpr std::size_t slab_bytes = std::size_t{256} << 10;
  struct slab {
    void* begin;
    std::size_t bytes;
  };
  ferry::backend& backend_;
  std::vector<slab> slabs_;
  std::map<std::size_t, std::vector<std::byte*>> free_;
};

}  // namespace ferry
