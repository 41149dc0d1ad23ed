// Writes the text of a kernel that calls a functor.
#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ferry/core/detail/operations/functor_definition.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A function template of ferry's device code, whose arguments are those of the kernel.
struct device_function {
  const char* header;
  const char* name;                                       // in ferry::detail
  std::span<const device_header> (*headers)() = nullptr;  // of another module than core
  bool has_constants = false;                             // parameters stay in constant memory
};

class kernel_writer {
 public:
  kernel_writer(const functor_definition& functor, const device_function& called);
  // The name of a functor in the kernel. The functor becomes a part of the text, behind those that it uses.
  std::string name_of(const functor_definition& functor);
  // Includes headers of another module than core, whose types the kernel names.
  void add_headers(std::span<const device_header> headers);
  // size, align: of the type in this program. A kernel in which they differ does not compile.
  void add_parameter(std::string type, std::size_t size, std::size_t align);
  // Call it last.
  kernel_text text();

 private:
  struct parameter {
    std::string type;
    std::size_t size, align;
  };
  std::size_t number_of(const functor_definition& functor);
  const functor_definition& functor_;
  const device_function& called_;
  std::vector<const functor_definition*> functors_;
  std::vector<device_header> headers_;
  std::vector<parameter> parameters_;
};

}  // namespace ferry::inline FERRY_ABI::detail
