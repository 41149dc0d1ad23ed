// Copies of a kernel's arguments, on which random schedules run it. Guard bytes around them show writes outside.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ferry/core/detail/backend/backend.hpp"

namespace ferry::inline FERRY_ABI::detail::sim {

// A range that overlapping uses of a kernel cover.
struct used_range {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  kernel_use first, last;  // the uses at its beginning and at its end
  const std::byte* end() const { return begin + bytes; }
};
// Takes uses in any order; returns ranges by address. Adjacent ranges stay separate.
std::vector<used_range> used_ranges(std::vector<kernel_use>& uses);

// Returns the message for a write outside a range of `bytes` bytes. distance: of the first changed byte from the end of
// the range, or, if negative, from its beginning.
std::string overrun_text(const kernel_use& of, std::size_t bytes, std::ptrdiff_t distance);

class scratch {
 public:
  explicit scratch(const std::vector<kernel_use>& uses);
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;

  void load();
  relocation relocated() const { return relocation(pieces_); }
  // Between load() and store(): describes where the kernel wrote outside its uses, or returns "".
  std::string overrun() const;
  void store();

 private:
  static constexpr std::size_t alignment = 256;
  struct unaligned {
    void operator()(std::byte* p) const { ::operator delete (p, std::align_val_t{alignment}); }
  };
  struct buffer {
    std::unique_ptr<std::byte, unaligned> begin;
    std::size_t bytes = 0;
  };
  std::string gap_overrun(std::size_t i) const;

  std::vector<kernel_use> uses_;
  std::vector<used_range> ranges_;
  std::vector<relocation::piece> pieces_;  // one for each range
  std::vector<buffer> buffers_;            // one for each range, with its guards
};

}  // namespace ferry::inline FERRY_ABI::detail::sim
