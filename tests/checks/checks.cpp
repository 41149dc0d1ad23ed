// checks CASE: a functor that accesses outside of its array, or whose assertion fails, with device checks on in every
// build type. A trapped device is lost for its process, so each case runs in its own. Exit status 0: the text names
// what it should.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <ferry/core.hpp>

namespace fr = ferry;

namespace {

struct one_too_far {
  FERRY_HOST_DEVICE void operator()(std::size_t i, std::size_t j, fr::mdspan<int, 2> v) const { v(i, j + 1) = 1; }
};
struct needs_positive {
  FERRY_HOST_DEVICE void operator()(std::size_t i, const int* x, int* y) const {
    FERRY_ASSERT(x[i] > 0, "only positive values");
    y[i] = x[i];
  }
};

// Redirects the process's standard output, where device printf writes, to a file during its lifetime.
class caught_output {
 public:
  caught_output() : file_(std::tmpfile()), before_(dup(STDOUT_FILENO)) {
    if (!file_ || before_ < 0 || dup2(fileno(file_), STDOUT_FILENO) < 0) std::abort();
  }
  std::string end() {
    std::fflush(stdout);
    dup2(before_, STDOUT_FILENO);
    close(before_);
    std::string text;
    std::rewind(file_);
    for (int c; (c = std::fgetc(file_)) != EOF;) text += static_cast<char>(c);
    std::fclose(file_);
    return text;
  }

 private:
  std::FILE* file_;
  int before_;
};

template <class Body>
std::string what_is_said(Body body) {
  caught_output printed;
  std::string text;
  try {
    body();
    text = "no error";
  } catch (const fr::device_error& e) {
    text = std::string("a device_error: ") + e.what();
  }
  return text + "\n" + printed.end();
}

bool says(const std::string& text, std::initializer_list<const char*> parts) {
  bool all = true;
  for (const char* part : parts)
    if (text.find(part) == text.npos) {
      std::printf("'%s' is missing\n", part);
      all = false;
    }
  if (!all) std::printf("in: %s\n", text.c_str());
  return all;
}

bool index() {
  fr::device_array<int, 2> v({3, 5}, 0);
  v.name("velocity");
  const std::string text = what_is_said([&] {
    fr::parallel_for(v.extents(), one_too_far{}, v);
    fr::default_stream(v.device()).synchronize();
  });
  return says(text, {"a device_error", "index 5", "dimension 1", "'velocity'", "extent 5"});
}

bool assertion() {
  const auto x = fr::device_array<int>::from({3, 2, 1, 0});
  fr::device_array<int> y({4}, 0);
  const std::string text = what_is_said([&] {
    fr::parallel_for(4, needs_positive{}, fr::in(x), y);
    fr::default_stream(y.device()).synchronize();
  });
  return says(text,
              {"a device_error", "assertion failed", "x[i] > 0", "only positive values", "checks.cpp:",
               fr::runtime::current().is_simulated() ? "called with index 3" : "thread (3, 0, 0) of block (0, 0, 0)"});
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc == 2 ? argv[1] : "";
  if (what != "index" && what != "assertion") {
    std::fputs("usage: checks index|assertion\n", stderr);
    return 2;
  }
  if (fr::devices().empty()) {
    std::puts("skipped: no device");
    return 77;
  }
  return (what == "index" ? index() : assertion()) ? 0 : 1;
}
