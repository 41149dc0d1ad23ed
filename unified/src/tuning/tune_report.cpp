// The result of a tuner, as a table and as a picture.
#include <algorithm>
#include <ostream>

#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/unified/tuner.hpp"
#include "policies/program_name.hpp"

namespace ferry {
namespace {

std::string number(double v) { return detail::short_text(v, 4); }
std::string pixels(double v) { return detail::fixed_text(v, 1); }

std::string padded(std::string text, std::size_t width, bool right = false) {
  const std::string space(text.size() < width ? width - text.size() : 0, ' ');
  return right ? space + text : text + space;
}

const std::string& shown(const std::string& array) {
  static const std::string all = "(all arrays)";
  return array.empty() ? all : array;
}

// Escapes text and attributes for XML, which does not allow control characters.
std::string escaped(const std::string& text) {
  std::string s;
  for (const char c : detail::utf8_text(text)) switch (c) {
      case '&': s += "&amp;"; break;
      case '<': s += "&lt;"; break;
      case '>': s += "&gt;"; break;
      case '"': s += "&quot;"; break;
      default: s += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  return s;
}

std::string shortened(const std::string& text, std::size_t most) {
  return text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

// Returns the trial of automatic for all arrays; null if it was not run.
const tune_trial* automatic_trial(const tune_result& r) {
  const auto at =
      std::ranges::find_if(r.trials, [](const tune_trial& t) { return t.array.empty() && t.policy == array_policy{}; });
  return at == r.trials.end() ? nullptr : &*at;
}

std::string result_line(const tune_result& r) {
  std::string line = "a step takes " + number(r.best_milliseconds) + " ms";
  if (r.best.of.empty()) return line + ": automatic is best for all arrays";
  line += " with the policies chosen, ";
  if (const tune_trial* t = automatic_trial(r); t && !t->rejected.empty()) return line + "automatic was rejected";
  return line + number(r.automatic_milliseconds) + " ms without";
}

// Bars of one picture, from top to bottom.
class picture {
 public:
  explicit picture(double longest) : longest_(std::max(longest, 1e-9)) {}
  void heading(const std::string& text) {
    y_ += 14;
    body_ << "<text x=\"16\" y=\"" << y_ + 15 << "\" class=\"head\">" << escaped(shortened(text, 100)) << "</text>\n";
    y_ += row;
  }
  void bar(const tune_trial& t, double automatic) {
    const char* kind = !t.rejected.empty() ? "rejected" : t.chosen ? "chosen" : "tried";
    body_ << "<g><title>"
          << escaped(t.policy.text() + ": " + number(t.median) + " ms, spread " + number(t.spread) +
                     (t.rejected.empty() ? "" : ", " + t.rejected))
          << "</title>\n"
          << "<text x=\"" << left - 10 << "\" y=\"" << y_ + 14 << "\" class=\"policy\">"
          << escaped(shortened(t.policy.text(), 60)) << "</text>\n"
          << "<rect x=\"" << left << "\" y=\"" << y_ + 3 << "\" width=\"" << pixels(length(t.median))
          << "\" height=\"14\" class=\"" << kind << "\"/>\n";
    const double from = length(std::max(0.0, t.median - t.spread / 2)), to = length(t.median + t.spread / 2);
    if (t.spread > 0)
      body_ << "<path d=\"M" << pixels(left + from) << ' ' << y_ + 10 << "H" << pixels(left + to)
            << "\" class=\"spread\"/>\n";
    if (automatic > 0)
      body_ << "<path d=\"M" << pixels(left + length(automatic)) << ' ' << y_ << "v" << row
            << "\" class=\"automatic\"/>\n";
    std::string note = t.milliseconds.empty() ? "" : number(t.median) + " ms";
    if (t.chosen) note += "  chosen";
    if (!t.rejected.empty()) note += (note.empty() ? "" : "  ") + shortened(t.rejected, 40);
    body_ << "<text x=\"" << pixels(left + std::max(to, length(automatic)) + 8) << "\" y=\"" << y_ + 14
          << "\" class=\"note " << kind << "\">" << escaped(note) << "</text></g>\n";
    y_ += row;
  }
  std::string text(const std::string& title, const std::string& below) const {
    detail::plain_stream out;
    out << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << width << "\" height=\"" << y_ + 44
        << "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"12\">\n<style>\n"
        << ".title{font-size:16px;font-weight:bold}.head{font-weight:bold;fill:#222}.policy{text-anchor:end;fill:#333}"
           "\n"
        << ".note{fill:#333}.note.rejected{fill:#a33}.note.chosen{fill:#17663a;font-weight:bold}\n"
        << "rect.tried{fill:#b8c4d6}rect.chosen{fill:#2f9e5f}rect.rejected{fill:#f3d9d9;stroke:#c77}\n"
        << ".spread{stroke:#333;stroke-width:2}.automatic{stroke:#555;stroke-dasharray:3 3}\n</style>\n"
        << "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n<text x=\"16\" y=\"28\" class=\"title\">"
        << escaped(title) << "</text>\n"
        << body_.str() << "<text x=\"16\" y=\"" << y_ + 28 << "\">" << escaped(below) << "</text>\n</svg>\n";
    return out.str();
  }

 private:
  static constexpr int row = 20, left = 390, width = 1080, longest_bar = 420;
  double length(double ms) const { return ms / longest_ * longest_bar; }
  double longest_;
  int y_ = 40;
  detail::plain_stream body_;
};

}  // namespace

std::string tune_result::table() const {
  std::size_t names = 12, policies = 20;
  for (const tune_trial& t : trials)
    names = std::max(names, shown(t.array).size()), policies = std::max(policies, t.policy.text().size());
  std::string out = padded("array", names) + "  " + padded("policy", policies) + "  " + padded("ms a step", 10, true) +
                    "  " + padded("spread", 9, true) + "\n";
  for (const tune_trial& t : trials) {
    const bool ran = !t.milliseconds.empty();
    out += padded(shown(t.array), names) + "  " + padded(t.policy.text(), policies) + "  " +
           padded(ran ? number(t.median) : "-", 10, true) + "  " + padded(ran ? number(t.spread) : "-", 9, true);
    if (t.chosen) out += "  chosen";
    if (!t.rejected.empty()) out += "  rejected: " + t.rejected;
    out += '\n';
  }
  return out + result_line(*this) + '\n';
}

std::string tune_result::svg() const {
  double longest = 0;
  for (const tune_trial& t : trials) longest = std::max(longest, t.median + t.spread / 2);
  const tune_trial* of_all = automatic_trial(*this);
  const double automatic = of_all ? of_all->median : 0;
  picture p(longest);
  const std::string* last = nullptr;
  for (const tune_trial& t : trials) {
    if (!last || *last != t.array) p.heading(t.array.empty() ? "all arrays" : "array " + t.array);
    last = &t.array;
    p.bar(t, automatic);
  }
  return p.text("Milliseconds a step of " + best.program + (best.version.empty() ? "" : " " + best.version),
                result_line(*this) + ". Dashed: automatic for all arrays. Lines on bars: the spread.");
}

void tune_result::save_svg(const std::string& path) const { write_whole_file(path, svg()); }
std::ostream& operator<<(std::ostream& out, const tune_result& r) { return out << r.table(); }

}  // namespace ferry
