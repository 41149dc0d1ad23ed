// Texts made of several pieces: concat("device ", 2, " of ", name).
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A piece of a text: a view of characters, a single char, or an integer in decimal digits. Integers of 8 bits, such as
// std::uint8_t, are numbers. Other types, such as bool, enumerations and floating-point numbers, do not compile: the
// caller chooses their text.
class text_piece {
 public:
  text_piece(std::string_view text) : text_(text) {}
  text_piece(const std::string& text) : text_(text) {}
  text_piece(const char* text) : text_(text) {}
  text_piece(std::nullptr_t) = delete;
  template <std::integral Integer>
  requires(!std::same_as<Integer, bool>) text_piece(Integer n) {
    if constexpr (std::same_as<Integer, char>)
      set_character(n);
    else if constexpr (std::signed_integral<Integer>)
      set_number(static_cast<long long>(n));
    else
      set_number(static_cast<unsigned long long>(n));
  }
  // text_ may refer to the buffer of the same object.
  text_piece(const text_piece&) = delete;
  text_piece& operator=(const text_piece&) = delete;

  std::string_view text() const { return text_; }

 private:
  void set_character(char c) {
    buffer_[0] = c;
    text_ = {buffer_.data(), 1};
  }
  void set_number(long long n);
  void set_number(unsigned long long n);

  std::string_view text_;
  std::array<char, 20> buffer_;  // "-9223372036854775808" and "18446744073709551615" have 20 characters
};

std::string concat_pieces(std::initializer_list<text_piece> pieces);

// Returns the pieces one after another, without separators. Views need to be valid until the call returns.
template <class... Pieces>
std::string concat(const Pieces&... pieces) {
  return concat_pieces({text_piece(pieces)...});
}

}  // namespace ferry::inline FERRY_ABI::detail
