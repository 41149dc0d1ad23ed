// Cells of generated kernels: a cell is the partial result of one output.
#pragma once
#include <cstddef>
#include <string>

#include "ferry/core/detail/operations/reduction_evaluation.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "generator/source_builder.hpp"

namespace ferry::inline FERRY_ABI::detail::generator {

// Writes the type and the functions of the cells of output K: cellK, none_of_cellK(), join_cellK(cell, other cell), and
// add_to_cellK(cell, value, position), or add_all_to_cellK(cell, values, number of values) if values are added at once.
class cell_writer {
 public:
  // A cell combines values of `type`. k: number of the output.
  cell_writer(const reduction_output& o, scalar_type type, std::size_t k)
      : what_(o.what),
        finish_(o.finish),
        type_(type),
        name_(concat("cell", k)) {}

  const std::string& name() const { return name_; }
  // True if the values that a thread loads at once are added at once. The cell is of at most 2^24 values before.
  bool adds_all() const { return what_ == reduction_operation::moments; }
  void write(source_builder& s) const;
  // Returns the final value of cell `c`, of the type combined_as().
  std::string finished(const std::string& c, std::size_t k) const;

 private:
  std::string neutral(const char* number) const;
  std::string extreme(bool lowest) const;
  void write_plain(source_builder& s, const std::string& t, const std::string& none, const std::string& sum) const;
  void write_position(source_builder& s, const std::string& t, const char* sign) const;
  void write_moments(source_builder& s, const std::string& t) const;

  reduction_operation what_;
  reduction_finish finish_;
  scalar_type type_;
  std::string name_;
};

// Returns the functions that those of cells call.
std::string_view cell_functions();

}  // namespace ferry::inline FERRY_ABI::detail::generator
