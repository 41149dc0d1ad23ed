// Programs in the form that the interpreter kernel reads. No CUDA headers: included by the kernel and by plain C++.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "ferry/core/detail/operations/evaluation.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

// Elements along axis 0 that a thread computes at a time.
inline constexpr unsigned interpreter_lanes = 4;
// The instruction that stores an output. It has no enumerator, because programs have no stores.
inline constexpr std::uint8_t store_code = 255;
inline constexpr std::uint8_t no_slot = 255;

// Values are in slots of shared memory. A store has its value in slot a, and its mask in slot `to` or no_slot.
struct interpreter_step {
  std::uint8_t what;  // operation or store_code
  std::uint8_t type;  // scalar_type of the result; of a store, in memory
  std::uint8_t from;  // scalar_type of the operands; of a load, in memory
  std::uint8_t to;    // slot of the result
  std::uint8_t a, b, c;
  std::uint8_t unused;
  std::uint32_t number;  // of the access of a load or store, of the constant, or of the axis
};
struct interpreter_access {
  char* data;
  std::int64_t stride[max_rank];  // in bytes
};

// The start of a program in memory. The constants, the accesses and the steps follow it.
struct alignas(16) interpreter_header {
  std::uint64_t positions;         // vectors of all rows
  std::uint64_t row;               // elements of axis 0
  std::uint64_t digits[max_rank];  // vectors of a row, then the extents of the other axes
  std::uint16_t rank, constants, accesses, steps;
  std::uint16_t first_step;     // steps before it load constants, once in each block
  std::uint16_t slots, chunks;  // chunks of 16 bytes of a slot and thread
  std::uint16_t is_narrow;      // positions fit 32 bits
  std::uint32_t bytes;          // of header, constants, accesses and steps; a multiple of 16
};

class interpreter_program {
 public:
  explicit interpreter_program(const evaluation& e);
  const interpreter_header& header() const { return *reinterpret_cast<const interpreter_header*>(bytes_.data()); }
  const std::byte* data() const { return bytes_[0].bytes; }
  std::size_t size() const { return bytes_.size() * sizeof(program_constant); }
  // Returns the bytes of shared memory of a block, for the program and the slots.
  std::size_t shared_bytes(unsigned threads) const {
    return size() + std::size_t{16} * threads * header().slots * header().chunks;
  }
  // Returns the number of threads of a block whose slots fit `most` bytes; 0 if not even the smallest block fits.
  unsigned threads_for(std::size_t most) const;

 private:
  std::vector<program_constant> bytes_;  // aligned to 16
};

}  // namespace ferry::inline FERRY_ABI::detail::cuda
