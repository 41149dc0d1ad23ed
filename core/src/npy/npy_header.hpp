// The header of a .npy file: parsed strictly, written as NumPy writes it. Source: numpy.lib.format, NEP 1.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ferry/core/detail/npy/npy_file.hpp"
#include "ferry/core/error.hpp"

namespace ferry::detail {

inline constexpr std::string_view npy_magic{"\x93NUMPY", 6};

struct npy_dtype {
  npy_type type;
  bool swapped = false;  // the bytes of a number are in the other order than this CPU's
};

// Nothing for a dtype that ferry has no elements for.
std::optional<npy_dtype> parse_npy_dtype(std::string_view text);
// "<i2"
std::string npy_dtype_text(npy_type type);
// "(3, 4)", as Python spells a tuple.
std::string npy_shape_text(const std::vector<std::size_t>& shape);

// `text` is the dict that begins at byte `offset` of the file `path`, padding included. Throws parse_error.
npy_info parse_npy_header(const std::string& path, std::string_view text, int version, std::size_t offset);
// From the magic string to the newline: dtype, shape and fortran_order of `info`, in version 1, or 2 where 1 is too short.
std::string format_npy_header(const npy_info& info);

// Throws parse_error: what is at a byte of a file, and what may be there.
[[noreturn]] void refuse_npy(const std::string& path, std::size_t byte, const std::string& found,
                             const std::string& allowed);
// Bytes for a message: in quotes, unprintable ones as \x00, at most 32.
std::string quoted(std::string_view bytes);

}  // namespace ferry::detail
