#include "ferry/unified/policy_file.hpp"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/error.hpp"
#include "policies/policy_words.hpp"
#include "policies/program_name.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

namespace {

constexpr std::string_view first_line = "ferry policies 1";

std::string in_quotes(std::string_view text) {
  std::string s = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') s += '\\';
    s += c;
  }
  return s + '"';
}

// Parser of one line.
class line_reader {
 public:
  line_reader(std::string_view line, std::string_view from, std::size_t number)
      : line_(line),
        from_(from),
        number_(number) {}
  [[noreturn]] void refuse(const std::string& what, std::size_t at) const {
    throw parse_error(concat(from_, ":", number_, ":", at + 1, ": ", what));
  }
  [[noreturn]] void refuse(const std::string& what) const { refuse(what, at_); }
  bool is_over() {
    at_ = std::min(line_.find_first_not_of(" \t\r", at_), line_.size());
    return at_ == line_.size();
  }
  std::size_t at() const { return at_; }
  std::string_view rest() const { return line_.substr(at_); }
  std::string_view word() {
    (void)is_over();
    const std::size_t begin = at_;
    at_ = std::min(line_.find_first_of(" \t\r", at_), line_.size());
    return line_.substr(begin, at_ - begin);
  }
  std::string quoted_text(const std::string& what) {
    if (is_over() || line_[at_] != '"') refuse(what + " must be given in quotes");
    const std::size_t begin = at_++;
    std::string s;
    for (; at_ < line_.size() && line_[at_] != '"'; ++at_) {
      if (line_[at_] == '\\' && ++at_ == line_.size()) break;
      s += line_[at_];
    }
    if (at_ == line_.size()) refuse("the quotes of " + what + " do not end", begin);
    ++at_;
    return s;
  }
  // Parses the rest of the line.
  array_policy policy() {
    if (is_over()) refuse("the array has no policy: at least automatic, prefetch or explicit");
    array_policy p;
    each_word(rest(), [&](std::string_view w) {
      try {
        add_policy_word(p, w);
      } catch (const parse_error& e) {
        refuse(plain_what(e), static_cast<std::size_t>(w.data() - line_.data()));
      }
    });
    return p;
  }
  void must_end() {
    if (!is_over()) refuse(concat("nothing is expected here, and there is '", rest(), "'"));
  }

 private:
  std::string_view line_, from_;
  std::size_t number_, at_ = 0;
};

void read_line(array_policies& p, line_reader& r, bool& has_program) {
  const std::size_t begin = (void(r.is_over()), r.at());
  const std::string_view key = r.word();
  if (key == "program") {
    if (has_program) r.refuse("the program is named twice", begin);
    p.program = r.quoted_text("the program's name");
    if (!r.is_over()) p.version = r.quoted_text("the program's version");
    r.must_end();
    has_program = true;
  } else if (key == "array") {
    if (!has_program) r.refuse("the program must be named before its arrays: program \"NAME\" \"VERSION\"", begin);
    const std::size_t at = (void(r.is_over()), r.at());
    const std::string name = r.quoted_text("the array's name");
    if (name.empty()) r.refuse("arrays without a name have no policies", at);
    if (p.of.count(name)) r.refuse("array " + in_quotes(name) + " has a policy already", at);
    p.of.emplace(name, r.policy());
  } else {
    r.refuse(concat("'", key, "' begins no line of policies: allowed are program, array and #"), begin);
  }
}

}  // namespace

array_policies array_policies::parse(std::string_view text, std::string_view from) {
  array_policies p;
  bool has_program = false;
  std::size_t number = 0;
  while (!text.empty() || number == 0) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    line_reader r(line, from, ++number);
    if (number == 1) {
      if (line != first_line)
        r.refuse(concat("this is no file of policies, or one of another version: its first line must be '", first_line,
                        "'"));
    } else if (r.is_over()) {
      continue;
    } else if (r.rest().starts_with('#')) {
      const std::string_view note = r.rest();
      p.notes.emplace_back(note.substr(std::min(note.find_first_not_of("# "), note.size())));
    } else {
      read_line(p, r, has_program);
    }
  }
  if (!has_program) line_reader({}, from, number).refuse("the program is not named: program \"NAME\" \"VERSION\"");
  return p;
}

std::string array_policies::text() const {
  std::string t = concat(first_line, "\nprogram ", in_quotes(program));
  if (!version.empty()) t += " " + in_quotes(version);
  t += '\n';
  for (const std::string& note : notes) t += "# " + note + '\n';
  for (const auto& [name, policy] : of) {
    if (name.find('\n') != std::string::npos)
      throw invalid_argument("array " + in_quotes(name) +
                             " has a name of several lines, which no file of policies can hold");
    t += "array " + in_quotes(name) + " " + policy.text() + '\n';
  }
  return t;
}

array_policies array_policies::load(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  if (in) all << in.rdbuf();
  if (!in || !all)
    throw parse_error("policies cannot be read from '" + path + "': there is no such file, or it is closed to us");
  return parse(all.str(), path);
}

void detail::write_whole_file(const std::string& path, const std::string& text) {
  const std::string beside = concat(path, ".part", getpid());
  {
    std::ofstream out(beside, std::ios::binary);
    out << text << std::flush;
    if (out && std::rename(beside.c_str(), path.c_str()) == 0) return;
  }
  std::remove(beside.c_str());
  throw invalid_argument("'" + path + "' cannot be written: no such folder, no right to, or no room");
}

void array_policies::save(const std::string& path) const { write_whole_file(path, text()); }

void name_program(std::string name, std::string version) {
  program_identity::set({std::move(name), std::move(version)});
}

}  // namespace ferry::inline FERRY_ABI
