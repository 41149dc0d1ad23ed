// A sorting task, and the arrays behind its addresses.
#pragma once
#include <vector>

#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/sorting/sorting_request.hpp"
#include "ferry/core/detail/support/small_vector.hpp"

namespace ferry::inline FERRY_ABI::detail {

class bound_sorting {
 public:
  // Makes the sources of a request dense, which may submit, and allocates temporaries for results that are not.
  // Requires sources that are not empty. axis: counted from the last dimension.
  bound_sorting(const stream_ref& s, const sorting_request& r, std::size_t axis, source_line at);
  // Submits the task, then the copies of temporaries to their results.
  void submit(const stream_ref& s, source_line at);

 private:
  struct use {
    program_operand what;
    bool write, whole;
  };
  struct copy_back {
    program_operand to, temporary;
  };
  std::byte* source(const program_operand& o);
  std::byte* result(const program_operand* to, std::size_t axis, bool is_filled, const stream_ref& s);
  bool is_hazard(const program_operand& to) const;

  sorting_task task_;
  std::vector<use> uses_;
  std::vector<copy_back> copies_;
  bool is_in_place_ = false;
};

}  // namespace ferry::inline FERRY_ABI::detail
