// Shared by the tests of .npy files: a temporary folder, and files made of bytes.
#pragma once
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "ferry/core/error.hpp"
#include "support/check_error.hpp"
#include "support/file_bytes.hpp"

namespace npy_test {

namespace fr = ferry;

// 128 bytes as NumPy 2.4.6 writes them: the prefix, the text, spaces, a newline.
inline std::string numpy_header(std::string prefix, const std::string& dict) {
  prefix += dict;
  prefix.append(127 - prefix.size(), ' ');
  return prefix + '\n';
}
inline const std::string version_1("\x93NUMPY\1\0v\0", 10);
inline const std::string version_2("\x93NUMPY\2\0t\0\0\0", 12);
inline const std::string version_3("\x93NUMPY\3\0t\0\0\0", 12);

// A header that contains only the dict.
inline std::string bare_header(const std::string& dict) {
  return std::string("\x93NUMPY\1\0", 8) + static_cast<char>(dict.size() % 256) + static_cast<char>(dict.size() / 256) +
         dict;
}

// A folder for one test. The destructor checks that only the files named by the test are left.
struct folder {
  folder() {
    std::string name = (std::filesystem::temp_directory_path() / "ferry-npy-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("no folder for the test");
    path_ = name;
  }
  ~folder() {
    for (const auto& entry : std::filesystem::directory_iterator(path_))
      BOOST_TEST(entry.path().string().find(".tmp") == std::string::npos, "left over: " << entry.path().string());
    std::filesystem::remove_all(path_);
  }
  std::string operator()(const std::string& name = "a.npy") const { return (path_ / name).string(); }
  std::string with(const std::string& bytes, const std::string& name = "a.npy") const {
    std::ofstream((*this)(name), std::ios::binary) << bytes;
    return (*this)(name);
  }

 private:
  std::filesystem::path path_;
};

using support::bytes_of;

inline std::size_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

using support::check_error;

}  // namespace npy_test
