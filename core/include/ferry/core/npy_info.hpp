/// @file
/// Headers of NumPy's .npy files, and the element types that they share with ferry.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ferry/core/detail/support/number_type.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup files
/// @{

/// Order of elements in a file: last dimension fastest (C), or first dimension fastest (Fortran).
enum class storage_order : std::uint8_t { row_major, column_major };

/// Contents of the header of a .npy file.
struct npy_info {
  std::string dtype;               ///< as written: "<i2"
  std::vector<std::size_t> shape;  ///< slowest first for row-major files, fastest first for Fortran order
  bool fortran_order = false;      ///< true: first dimension fastest
  int version = 1;                 ///< 1, 2 or 3; the minor version is 0
  std::size_t data_offset = 0;     ///< bytes before the first element
};

/// Reads only the header; the data may be short or missing. Blocks for the disk.
/// @param path file to read
/// @return the header
/// @throws error with the system's reason, if the file cannot be read
/// @throws parse_error that names the byte, for a malformed header or an unsupported dtype
npy_info read_npy_header(const std::string& path);

/// Element types that both .npy files and ferry support.
template <class T>
concept npy_element = std::same_as<T, float> || std::same_as<T, double> ||
                      (detail::complex_number<T> && sizeof(T) <= 16) ||
                      (std::integral<T> && sizeof(T) <= 8 && !std::same_as<T, wchar_t> && !std::same_as<T, char8_t> &&
                       !std::same_as<T, char16_t> && !std::same_as<T, char32_t>);

/// @}

}  // namespace ferry::inline FERRY_ABI
