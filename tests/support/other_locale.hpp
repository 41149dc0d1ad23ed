// Sets a locale that formats 8388608.5 as 8.388.608,5, for a scope.
#pragma once
#include <clocale>
#include <locale>
#include <string>

namespace support {

class other_locale {
 public:
  other_locale()
      : c_before_(std::setlocale(LC_NUMERIC, nullptr)),
        before_(std::locale::global(std::locale(std::locale::classic(), new german))) {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"})  // where it is installed
      if (std::setlocale(LC_NUMERIC, name)) break;
  }
  ~other_locale() {
    std::locale::global(before_);
    std::setlocale(LC_NUMERIC, c_before_.c_str());
  }
  other_locale(const other_locale&) = delete;
  other_locale& operator=(const other_locale&) = delete;

 private:
  struct german : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  std::string c_before_;
  std::locale before_;
};

}  // namespace support
