// The kernels of a process by device and shape.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "ferry/version.hpp"
#include "jit/hash.hpp"
#include "jit/kernel.hpp"

namespace ferry::inline FERRY_ABI::detail::jit {

// A shape is any bytes that determine the source. find() takes no lock and writes nothing. Entries are never removed.
class kernel_table {
 public:
  kernel_table() = default;
  ~kernel_table() {
    for (const std::atomic<node*>& head : heads_)
      for (node* n = head.load(std::memory_order_relaxed); n;) delete std::exchange(n, n->next);
  }
  kernel_table(const kernel_table&) = delete;
  kernel_table& operator=(const kernel_table&) = delete;

  // Returns null if there is none.
  kernel* find(int device, std::string_view shape) const noexcept {
    const std::uint64_t hash = hash_of(device, shape);
    for (const node* n = heads_[hash % size].load(std::memory_order_acquire); n; n = n->next)
      if (n->hash == hash && n->of->device == device && n->shape == shape) return n->of;
    return nullptr;
  }
  // Called by one thread at a time. The kernel must outlive the table.
  void add(std::string_view shape, kernel& of) {
    const std::uint64_t hash = hash_of(of.device, shape);
    std::atomic<node*>& head = heads_[hash % size];
    head.store(new node{head.load(std::memory_order_relaxed), hash, &of, std::string(shape)},
               std::memory_order_release);
  }

 private:
  struct node {
    node* next;
    std::uint64_t hash;
    kernel* of;
    std::string shape;
  };
  static constexpr std::size_t size = 1024;
  static std::uint64_t hash_of(int device, std::string_view shape) noexcept {
    return hash_bytes(shape, static_cast<std::uint64_t>(device));
  }
  std::array<std::atomic<node*>, size> heads_{};
};

}  // namespace ferry::inline FERRY_ABI::detail::jit
