// Brackets and lines, as numpy.array2string places them.
#include <cstdio>
#include <ostream>

#include "ferry/core/print.hpp"
#include "printing/element_format.hpp"
#include "printing/shown_elements.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

class array_layout {
 public:
  array_layout(const shown_elements& all, const print_options& how)
      : all_(all),
        format_(element_format(all, how.precision)),
        how_(how) {}
  std::string text() const {
    if (all_.is_empty()) return "[]";
    return all_.rank() == 0 ? format_(0) : nested(0, 0, " ", how_.line_width);
  }

 private:
  // Returns the text of dimension d and all later ones. Their first element is at position `first`.
  std::string nested(std::size_t d, std::size_t first, const std::string& indent, std::size_t width) const {
    const std::size_t extent = all_.extent(d), gap = all_.is_cut(d) ? extent / 2 : extent;
    std::size_t step = 1;
    for (std::size_t k = d + 1; k != all_.rank(); ++k) step *= all_.extent(k);
    const bool is_row = d + 1 == all_.rank();
    const std::string between = is_row ? "" : std::string(all_.rank() - d - 1, '\n');
    std::string text, line = indent;
    for (std::size_t i = 0; i <= extent; ++i) {
      if (i == gap && all_.is_cut(d)) {
        const bool is_last = i == extent;
        if (is_row)
          extend(text, line, "...", width - 1, indent), line += is_last ? "" : " ";
        else
          text += indent + "..." + (is_last ? "" : between);
      }
      if (i == extent) break;
      if (is_row) {
        extend(text, line, format_(first + i), width - 1, indent);
        if (i + 1 != extent) line += " ";
      } else {
        text += indent + nested(d + 1, first + i * step, indent + " ", width - 1);
        if (i + 1 != extent) text += between;
      }
    }
    if (is_row) text += line;
    return "[" + text.substr(indent.size()) + "]";
  }
  // Appends a word to the line. If the line would be too long, moves it to the text first.
  static void extend(std::string& text, std::string& line, const std::string& word, std::size_t width,
                     const std::string& indent) {
    if (line.size() + word.size() > width && line.size() > indent.size()) {
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
      line = indent;
    }
    line += word;
  }

  const shown_elements& all_;
  std::function<std::string(std::size_t)> format_;
  const print_options& how_;
};

// The elements of an array.
class printed_operand final : public printed_source {
 public:
  explicit printed_operand(const program_operand& o) : printed_source(o.shape, o.type), elements_(o) {}
  void copy(const program_part& box, std::byte* to, const strides& s) const override {
    copy_to_cpu(sliced(elements_, box), to, s);
  }

 private:
  const program_operand& elements_;
};

}  // namespace

std::string text_of_elements(const printed_source& from, const print_options& how) {
  const shown_elements all(from, how);
  return array_layout(all, how).text();
}
std::string text_of_elements(const program_operand& o, const print_options& how) {
  return text_of_elements(printed_operand(o), how);
}

void print_text(const std::string& text) { static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout)); }
void print_text(std::ostream& to, const std::string& text) { to << text; }

}  // namespace ferry::inline FERRY_ABI::detail
