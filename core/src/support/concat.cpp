#include "ferry/core/detail/support/concat.hpp"

#include <charconv>

namespace ferry::inline FERRY_ABI::detail {

void text_piece::set_number(long long n) {
  char* const first = buffer_.data();
  text_ = {first, std::to_chars(first, first + buffer_.size(), n).ptr};
}

void text_piece::set_number(unsigned long long n) {
  char* const first = buffer_.data();
  text_ = {first, std::to_chars(first, first + buffer_.size(), n).ptr};
}

std::string concat_pieces(std::initializer_list<text_piece> pieces) {
  std::size_t length = 0;
  for (const text_piece& p : pieces) length += p.text().size();
  std::string all;
  all.reserve(length);
  for (const text_piece& p : pieces) all += p.text();
  return all;
}

}  // namespace ferry::inline FERRY_ABI::detail
