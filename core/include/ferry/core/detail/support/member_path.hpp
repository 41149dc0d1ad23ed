// Where an array is inside of structs and wrappers, for messages: model.layers[2].weights.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

#include "ferry/core/detail/support/array_label.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// One step of a path. Refers to the steps before, which live on the stack of the callers; text is made on demand.
class member_path {
 public:
  // type: the spelling of the outermost type. Its text has neither namespaces nor template arguments.
  explicit member_path(std::string_view type) : names_(type) {}
  // The member of this index in a list such as "a, b, c".
  member_path member(std::string_view names, std::size_t index) const { return {this, names, index}; }
  member_path element(std::size_t index) const { return {this, {}, index}; }
  std::string text() const;
  // The last steps of the text, as many as a label holds.
  array_label label() const;

 private:
  member_path(const member_path* of, std::string_view names, std::size_t index)
      : of_(of),
        names_(names),
        index_(index) {}
  const member_path* of_ = nullptr;
  std::string_view names_;
  std::size_t index_ = 0;
};

}  // namespace ferry::inline FERRY_ABI::detail
