// Source lines that ferry attributes to the program: never lines of its own headers.
#pragma once
#include <boost/test/unit_test.hpp>
#include <mutex>
#include <set>
#include <string>

#include <ferry/core.hpp>

namespace support {

// Source lines of accesses in all runtimes created during its lifetime.
class named_lines {
 public:
  named_lines() : before_(ferry::detail::access_policy::exchange_maker(make)) { found().clear(); }
  ~named_lines() { ferry::detail::access_policy::exchange_maker(before_); }
  named_lines(const named_lines&) = delete;
  named_lines& operator=(const named_lines&) = delete;

  void check(std::size_t at_least) const {
    const std::lock_guard lock(mutex());
    BOOST_TEST(accesses() >= at_least);
    for (const std::string& line : found())
      BOOST_TEST((line.find("/include/ferry/") == line.npos && line.find("/src/") == line.npos),
                 "a line of ferry is taken for one of the program: " << line);
  }

 private:
  struct policy : ferry::detail::access_policy {
    void before_access(const ferry::detail::coming_access& a) override { note(a.at); }
    void before_copy(const ferry::detail::coming_access& a) override { note(a.at); }
    std::string explain(ferry::detail::allocation&) override { return {}; }
    static void note(const ferry::source_line& at) {
      const std::lock_guard lock(mutex());
      ++accesses();
      if (at.is_known()) found().insert(at.file + (':' + std::to_string(at.line)));
    }
  };
  static std::unique_ptr<ferry::detail::access_policy> make(ferry::runtime&) { return std::make_unique<policy>(); }
  static std::mutex& mutex() {
    static std::mutex m;
    return m;
  }
  static std::set<std::string>& found() {
    static std::set<std::string> lines;
    return lines;
  }
  static std::size_t& accesses() {
    static std::size_t n = 0;
    return n;
  }
  ferry::detail::access_policy::maker before_;
};

}  // namespace support
