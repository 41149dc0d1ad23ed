// The header of a .npy file: parsed strictly, and written as NumPy does. Source: numpy.lib.format, NEP 1.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ferry/core/detail/npy/npy_file.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {

inline constexpr std::string_view npy_magic{"\x93NUMPY", 6};

struct npy_dtype {
  npy_type type;
  bool swapped = false;  // the byte order differs from this CPU's
};

// Returns nothing for a dtype that ferry does not support.
std::optional<npy_dtype> parse_npy_dtype(std::string_view text);
// For example "<i2".
std::string npy_dtype_text(npy_type type);
// "(3, 4)", as Python spells a tuple.
std::string npy_shape_text(const std::vector<std::size_t>& shape);

// `text`: the dict at byte `offset` of the file `path`, including padding. Throws parse_error.
npy_info parse_npy_header(const std::string& path, std::string_view text, int version, std::size_t offset);
// Returns the header from the magic string to the newline, for dtype, shape and fortran_order of `info`. Version 1, or
// 2 if the header is too long for 1.
std::string format_npy_header(const npy_info& info);

// Throws parse_error that says what is found at a byte of a file, and what is allowed there.
[[noreturn]] void refuse_npy(const std::string& path, std::size_t byte, const std::string& found,
                             const std::string& allowed);
// Returns bytes in quotes for a message: at most 32, unprintable ones as \x00.
std::string quoted_bytes(std::string_view bytes);

}  // namespace ferry::inline FERRY_ABI::detail
