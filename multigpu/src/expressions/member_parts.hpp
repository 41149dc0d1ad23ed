// One result of each member, all of one type, for all members to read.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "ferry/core/array.hpp"
#include "ferry/core/detail/expressions/expression_program.hpp"
#include "ferry/multigpu/team.hpp"

namespace ferry::inline FERRY_ABI::detail {

class member_parts {
 public:
  // Allocates the part of each local member, all of one shape, which is not empty.
  member_parts(const team& t, const program_shape& shape, scalar_type type);
  // As above. shapes: of all members; not all are empty.
  member_parts(const team& t, std::vector<program_shape> shapes, scalar_type type);
  scalar_type type() const { return type_; }
  // Returns the memory of a local member's part.
  program_operand own(std::size_t member) const;

  // Copies the parts of other processes to each local member, in one operation for all. Does nothing if the team is in
  // one process.
  static void gather(const team& t, std::span<member_parts> all);
  using copies = std::vector<basic_array<std::uint8_t, 1, memory_kind::device>>;
  // Returns the part of any member, in memory that local member m can access. May copy it on that member's stream, and
  // then adds the copy to `made`, which must outlive the use. Requires an earlier gather().
  program_operand part_for(std::size_t m, std::size_t member, copies& made) const;

 private:
  program_operand elements_at(const copies& a, std::size_t index, std::size_t place, std::size_t member) const;
  team team_;
  std::vector<program_shape> shapes_;
  scalar_type type_;
  std::size_t bytes_ = 0;  // of the largest part
  copies own_, all_;       // of local members; all_: the parts of all members, if the team spans processes
};

}  // namespace ferry::inline FERRY_ABI::detail
