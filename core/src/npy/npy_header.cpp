#include "npy/npy_header.hpp"

#include <bit>
#include <charconv>
#include <cstdint>

#include "ferry/core/detail/support/concat.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

constexpr std::size_t largest = PTRDIFF_MAX;
constexpr std::string_view native_order = std::endian::native == std::endian::little ? "<" : ">";
constexpr const char* allowed_types =
    "b1, i1, i2, i4, i8, u1, u2, u4, u8, f4, f8, c8 and c16 after a byte order <, >, = or | "
    "(no objects, strings, dates or structures: convert the array with astype)";

// Parses the Python dict literal of a header.
class header_parser {
 public:
  header_parser(const std::string& path, std::string_view text, int version, std::size_t offset)
      : path_(path),
        text_(text),
        version_(version),
        offset_(offset) {}

  npy_info parse() {
    take('{');
    while (!next_is('}')) {
      entry();
      if (!accept(',')) break;
    }
    const std::size_t end = at_;
    take('}');
    skip_space();
    if (at_ != text_.size()) refuse(at_, "spaces and a newline after the dict");
    if (!dtype_) refuse(end, "the key 'descr' before the end of the dict");
    if (!fortran_) refuse(end, "the key 'fortran_order' before the end of the dict");
    if (!shape_) refuse(end, "the key 'shape' before the end of the dict");
    check_size();
    return {*dtype_, *shape_, *fortran_, version_, offset_ + text_.size()};
  }

 private:
  void entry() {
    skip_space();
    const std::size_t key_at = at_;
    const std::string_view key = string("a key: 'descr', 'fortran_order' or 'shape'");
    const auto once = [&](const auto& value) {
      if (value) refuse(key_at, "each key once");
      take(':');
      skip_space();
    };
    if (key == "descr") {
      once(dtype_);
      dtype_ = dtype();
    } else if (key == "fortran_order") {
      once(fortran_);
      fortran_ = boolean();
    } else if (key == "shape") {
      once(shape_);
      shape_at_ = at_;
      shape_ = shape();
    } else {
      refuse(key_at, "the keys 'descr', 'fortran_order' and 'shape'");
    }
  }

  std::string dtype() {
    const std::size_t begin = at_;
    if (begin < text_.size() && (text_[begin] == '[' || text_[begin] == '(')) refuse(begin, allowed_types);
    const std::string_view s = string(allowed_types);
    if (!parse_npy_dtype(s)) refuse(begin, allowed_types);
    return std::string(s);
  }

  bool boolean() {
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    refuse(at_, "True or False");
  }

  std::vector<std::size_t> shape() {
    std::vector<std::size_t> s;
    take('(');
    while (!next_is(')')) {
      s.push_back(extent());
      if (accept(',')) continue;
      if (s.size() == 1) refuse(at_, "',' after the only extent, as in (3,)");
      break;
    }
    take(')');
    return s;
  }

  std::size_t extent() {
    skip_space();
    const char* const begin = text_.data() + at_;
    std::uint64_t value = 0;
    const auto [end, status] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (status == std::errc::invalid_argument) refuse(at_, "an extent: an integer of at least 0");
    if (status != std::errc() || value > largest) refuse(at_, concat("an extent of at most ", largest));
    if (*begin == '0' && end - begin > 1) refuse(at_, "an integer without leading zeros");
    at_ += static_cast<std::size_t>(end - begin);
    if (version_ < 3 && at_ < text_.size() && text_[at_] == 'L') ++at_;  // a long of Python 2, which NumPy accepts, too
    return value;
  }

  // Does not support escapes: no key and no dtype needs them.
  std::string_view string(const std::string& what) {
    skip_space();
    if (at_ >= text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) refuse(at_, what);
    const std::size_t begin = at_ + 1, end = text_.find(text_[at_], begin);
    if (end == text_.npos) refuse(at_, "a string with a closing quote");
    at_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  // Checks the product of all extents except zeros, as NumPy does, so that no later sum or product overflows.
  void check_size() {
    std::size_t bytes = parse_npy_dtype(*dtype_)->type.bytes;
    for (const std::size_t e : *shape_)
      if (e != 0 && (__builtin_mul_overflow(bytes, e, &bytes) || bytes > largest))
        refuse(shape_at_, concat("a shape of at most ", largest, " bytes"));
  }

  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  bool next_is(char c) {
    skip_space();
    return at_ < text_.size() && text_[at_] == c;
  }
  bool accept(char c) {
    const bool there = next_is(c);
    if (there) ++at_;
    return there;
  }
  void take(char c) {
    if (!accept(c)) refuse(at_, {'\'', c, '\''});
  }
  [[noreturn]] void refuse(std::size_t at, const std::string& allowed) const {
    refuse_npy(path_, offset_ + at, at < text_.size() ? quoted_bytes(text_.substr(at)) : "the end of the header",
               allowed);
  }

  const std::string& path_;
  const std::string_view text_;
  const int version_;
  const std::size_t offset_;
  std::size_t at_ = 0, shape_at_ = 0;
  std::optional<std::string> dtype_;
  std::optional<bool> fortran_;
  std::optional<std::vector<std::size_t>> shape_;
};

}  // namespace

void refuse_npy(const std::string& path, std::size_t byte, const std::string& found, const std::string& allowed) {
  throw parse_error(
      concat("\"", path, "\" is no .npy file that can be read: at byte ", byte, " is ", found, ", allowed: ", allowed));
}

std::string quoted_bytes(std::string_view bytes) {
  constexpr std::size_t most = 32;
  std::string s = "\"";
  for (const char c : bytes.substr(0, most)) {
    if (c >= ' ' && c <= '~') {
      s += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    s += {'\\', 'x', "0123456789abcdef"[byte / 16], "0123456789abcdef"[byte % 16]};
  }
  return s + (bytes.size() > most ? "\"..." : "\"");
}

std::optional<npy_dtype> parse_npy_dtype(std::string_view text) {
  if (text.size() < 3 || std::string_view("<>=|").find(text[0]) == std::string_view::npos) return {};
  const std::string_view order = text.substr(0, 1), name = text.substr(1);
  for (const npy_type t : {npy_type{'b', 1},
                           {'i', 1},
                           {'i', 2},
                           {'i', 4},
                           {'i', 8},
                           {'u', 1},
                           {'u', 2},
                           {'u', 4},
                           {'u', 8},
                           {'f', 4},
                           {'f', 8},
                           {'c', 8},
                           {'c', 16}})
    if (name == concat(t.kind, t.bytes))
      return npy_dtype{t, t.bytes > 1 && (order == "<" || order == ">") && order != native_order};
  return {};
}

std::string npy_dtype_text(npy_type type) {
  return concat(type.bytes == 1 ? "|" : native_order, type.kind, type.bytes);
}

std::string npy_shape_text(const std::vector<std::size_t>& shape) {
  std::string s = "(";
  for (std::size_t d = 0; d < shape.size(); ++d) s += concat(d ? ", " : "", shape[d]);
  return s + (shape.size() == 1 ? ",)" : ")");
}

// Same layout as numpy.lib.format: reserves space for growth of one extent (21 digits). Then adds 1 to 64 bytes, spaces
// and a newline, to align the data to 64 bytes.
std::string format_npy_header(const npy_info& info) {
  constexpr std::size_t growth_digits = 21, alignment = 64;
  std::string text = "{'descr': '" + info.dtype + "', 'fortran_order': " + (info.fortran_order ? "True" : "False") +
                     ", 'shape': " + npy_shape_text(info.shape) + ", }";
  if (!info.shape.empty())
    text.append(growth_digits - std::to_string(info.fortran_order ? info.shape.back() : info.shape.front()).size(),
                ' ');
  for (const std::size_t length_bytes : {2u, 4u}) {
    const std::size_t before = npy_magic.size() + 2 + length_bytes, used = text.size() + 1;
    const std::size_t length = used + alignment - (before + used) % alignment;
    if (length_bytes == 2 && length > UINT16_MAX) continue;
    if (length > UINT32_MAX) break;
    std::string whole(npy_magic);
    whole += {length_bytes == 2 ? '\1' : '\2', '\0'};
    for (std::size_t byte = 0; byte < length_bytes; ++byte) whole += static_cast<char>(length >> (8 * byte));
    whole += text;
    whole.append(length - used, ' ');
    return whole + '\n';
  }
  throw invalid_argument(concat("a .npy header for ", info.shape.size(), " dimensions is too long"));
}

npy_info parse_npy_header(const std::string& path, std::string_view text, int version, std::size_t offset) {
  return header_parser(path, text, version, offset).parse();
}

}  // namespace ferry::inline FERRY_ABI::detail
