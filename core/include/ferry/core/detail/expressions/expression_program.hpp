// An expression as a small program: instructions, operands in memory, constants. No templates; the element type and the
// rank are known to fr::expression.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>

#include "ferry/core/detail/operations/evaluation.hpp"
#include "ferry/core/detail/ordering/allocation.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/small_vector.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Axes are numbered from the last dimension: axis 0 is the last, as shapes align there.
struct program_shape {
  std::size_t rank = 0;
  std::array<std::size_t, max_rank> extent{};
  bool operator==(const program_shape&) const = default;
  bool is_empty() const {
    for (std::size_t d = 0; d != rank; ++d)
      if (extent[d] == 0) return true;
    return false;
  }
};

// Elements of an array, with their own shape. Keeps the memory alive.
struct program_operand {
  allocation_ref owner;
  const std::byte* data = nullptr;                      // element at index 0; of a placeholder, the operand_placeholder
  std::array<std::ptrdiff_t, max_rank> stride_bytes{};  // by axis; 0 for axes that it lacks and those of extent 1
  program_shape shape;
  scalar_type type = scalar_type::none;
  memory_kind kind = memory_kind::device;
  bool is_placeholder = false;  // part_program() puts elements in its place
  // 0, or for an operand that `gather` reads: gathered_bit, and four bits for each axis, the lowest axis first. These
  // are 1 + the axis of the program whose index applies to the axis, or 0 if the offsets of `gather` apply.
  std::uint32_t axis_map = 0;
  static constexpr std::uint32_t gathered_bit = std::uint32_t{1} << 31;
  bool is_gathered() const { return axis_map != 0; }
  // Strides by axis of the program.
  std::array<std::ptrdiff_t, max_rank> mapped_strides() const;
  // Range of bytes from the lowest element to the end of the highest.
  byte_range bytes() const;
  // True if both have the same elements in the same order.
  bool is_same(const program_operand& o) const {
    return data == o.data && type == o.type && axis_map == o.axis_map && stride_bytes == o.stride_bytes &&
           shape == o.shape && owner.unchecked() == o.owner.unchecked();
  }
};

template <>
inline constexpr bool is_relocatable<program_operand> = true;  // an allocation_ref is a pointer and a number

// The elements of an array, as headers describe them: refers to the owner and the shape of the array.
struct array_elements {
  const allocation_ref* owner;
  const void* data;
  const std::size_t* extents;     // of each dimension
  const std::ptrdiff_t* strides;  // in elements
  std::uint8_t rank;
  scalar_type type;
  memory_kind kind;
};
// Writes the description of the elements to a new operand; the second without its owner.
void describe(program_operand& to, const array_elements& a);
void describe_elements(program_operand& to, const array_elements& a);

class expression_program;
struct joined_arrays;

// An operand of an operation: a program, the elements of an array, or a number. Refers to it.
class program_source {
 public:
  enum class from : std::uint8_t { program, temporary, array, number };
  explicit program_source(const expression_program& p) : what(from::program), program(&p) {}
  // The program may be moved from.
  explicit program_source(expression_program&& p) : what(from::temporary), program(&p) {}
  explicit program_source(const array_elements& a) : what(from::array), array(a) {}
  program_source(const void* value, scalar_type type) : what(from::number), number{value, type} {}

  // Requires from::temporary.
  expression_program& temporary() const { return const_cast<expression_program&>(*program); }

  struct typed_number {
    const void* value;
    scalar_type type;
  };
  from what;
  union {
    const expression_program* program;
    array_elements array;
    typed_number number;
  };
};

// Its constructors and operators are compiled in the library, so that sources with many expressions compile faster.
class expression_program {
 public:
  expression_program();
  // Applies an operation to one to three operands, which are converted to `operands` before; of `select`, the second
  // and the third. The shape is the common one; throws invalid_argument with both shapes if there is none.
  expression_program(operation what, scalar_type operands, std::initializer_list<program_source> of);
  expression_program(const expression_program& o);
  expression_program(expression_program&& o) noexcept;
  expression_program& operator=(const expression_program& o);
  expression_program& operator=(expression_program&& o) noexcept;
  ~expression_program();

  // The number of the instruction whose value is that of the expression.
  std::uint8_t root = 0;
  scalar_type type() const { return code[root].type; }
  program_shape shape;
  small_vector<instruction, 16>
      code;  // `index`: a is the axis from the first dimension, or last_axes + the axis from the last
  small_vector<program_operand, 4> operands;
  small_vector<program_constant, 4> constants;
  small_vector<function_call, 1> calls;
  std::shared_ptr<const joined_arrays> joined;  // see joined_arrays.hpp; null unless the program joins arrays
  static constexpr std::uint8_t last_axes = 128;

  // Appends an instruction, or finds an equal one. Returns its number. Throws invalid_argument if there are too many.
  std::uint8_t add(const instruction& i);
  std::uint8_t add(const program_constant& c, scalar_type type);
  std::uint8_t add(const function_call& c);
  // Adds the elements of an array, and loads them.
  std::uint8_t add(program_operand o);
  // Adds the elements of an array at offsets in bytes, of type int64. Requires o.is_gathered().
  std::uint8_t add_gather(program_operand o, std::uint8_t offsets);
  // Appends the instructions of another program. Returns the number of its root here. Does not change the shape.
  std::uint8_t append(const expression_program& other);
  // The same; moves the operands.
  std::uint8_t append(expression_program&& other);
  // Appends the conversion of a value to a type of registers, and returns its number. Converts constants immediately.
  std::uint8_t converted(std::uint8_t value, scalar_type to);

 private:
  std::uint8_t add(const program_source& s);
  std::uint8_t add_last_operand();
  std::size_t place_last_operand();
  std::uint8_t add_new(const instruction& i);
  template <class Program>
  std::uint8_t append_each(Program& other);
};

// Programs of one value: the elements of an array, from either description; a constant of this type; the index along an
// axis of the destination (negative: from the last dimension); the indices 0 to n - 1 of one dimension.
expression_program array_program(program_operand o);
expression_program array_program(const array_elements& a);
expression_program constant_program(const void* value, scalar_type type);
expression_program index_program(int axis);
expression_program range_program(std::size_t n);

// Applies an operation to programs. Their values are converted to `operands` before; of `select`, those of b and c. The
// result's shape is the common one; throws invalid_argument with both shapes if there is none.
expression_program apply(operation what, scalar_type operands, expression_program a);
expression_program apply(operation what, scalar_type operands, expression_program a, const expression_program& b);
expression_program apply(operation what, scalar_type operands, expression_program a, const expression_program& b,
                         const expression_program& c);
// Converts the value to a type of elements; rounds it for half and bfloat16.
expression_program cast_program(expression_program p, scalar_type to);
// A call of a function. Arguments are converted to the types of its parameters; their shapes broadcast.
expression_program call_program(const function_definition& f, std::span<expression_program> arguments);

// A box of the elements that a program computes, for one member of a team. Axes are numbered from the last.
struct program_part {
  std::size_t member = 0;
  program_shape whole, shape;                    // of all elements, and of the box
  std::array<std::ptrdiff_t, max_rank> first{};  // index of the box's first element
  bool is_empty() const { return shape.is_empty(); }
};

// An operand whose memory differs from part to part. Owned by the expression whose program refers to it.
class operand_placeholder {
 public:
  virtual ~operand_placeholder() = default;
  // Returns the operand's name in the text of an expression.
  virtual std::string text() const = 0;
  // Returns the elements of a part: of its shape, or of extent 1 along axes where they broadcast.
  virtual program_operand elements(const program_part& p) const = 0;
};
// Returns a program of the placeholder's value.
expression_program placeholder_program(const operand_placeholder& what, const program_shape& shape, scalar_type type,
                                       memory_kind kind);
// Requires is_placeholder.
const operand_placeholder& placeholder_of(const program_operand& o);
// Returns the elements of a part, of an operand with the whole shape.
program_operand sliced(const program_operand& o, const program_part& part);
// Returns the program of a part: its operands are the part's elements, and its indices those of the whole. also: null,
// or the number of a value that is needed besides the root; it is set to the number in the result.
expression_program part_program(const expression_program& p, const program_part& part, std::uint8_t* also = nullptr);

// Returns a text such as "b + 2 * sin(a)", with the names of arrays.
std::string text_of(const expression_program& p);
std::string text_of(const program_shape& s);

}  // namespace ferry::inline FERRY_ABI::detail
