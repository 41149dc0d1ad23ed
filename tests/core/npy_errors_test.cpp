// Errors in .npy files and calls: always a ferry::error, never a leak or a partial file.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <initializer_list>
#include <string>
#include <string_view>

#include "ferry/core/npy.hpp"
#include "ferry/core/runtime.hpp"
#include "npy_fixture.hpp"

using namespace npy_test;
using fr::memory_kind;

namespace npy_errors {
namespace {

struct on_simulation {
  fr::simulation sim{"devices=2"};
  folder here;
  std::size_t files = open_files();
  ~on_simulation() {
    BOOST_TEST(open_files() == files);
    BOOST_TEST(sim.get().allocations() == 0u);
  }
  void check_load(const std::string& bytes, std::initializer_list<std::string_view> parts) const {
    here.with(bytes);
    check_error<fr::parse_error>([&] { static_cast<void>(fr::load_npy<float, 2>(here())); }, parts);
  }
  // True if the load succeeds, false if it throws a ferry::error. Other exceptions propagate.
  bool loads(const std::string& bytes) const {
    here.with(bytes);
    try {
      static_cast<void>(fr::load_npy<float, 2>(here()));
      static_cast<void>(fr::load_npy<float, 2, memory_kind::device>(here()));
      return true;
    } catch (const fr::error&) {
      return false;
    }
  }
};

const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
const std::string fortran_dict = "{'descr': '>f4', 'fortran_order': True, 'shape': (2, 3), }";
const std::string data(24, '\1');
const std::string header = numpy_header(version_1, dict);

std::vector<std::string> good_files() {
  return {header + data, numpy_header(version_2, dict) + data, numpy_header(version_3, fortran_dict) + data,
          bare_header(fortran_dict) + data};
}

}  // namespace
}  // namespace npy_errors

BOOST_FIXTURE_TEST_SUITE(npy_errors, on_simulation)

BOOST_AUTO_TEST_CASE(another_type_or_rank_names_both_and_the_remedy) {
  here.with(header + data);
  const auto refused = [&](auto load) {
    check_error<fr::invalid_argument>(
        load, {"a.npy", "the file holds float ('<f4') of rank 2, shape (2, 3)", "call load_npy<float, 2>"});
  };
  refused([&] { static_cast<void>(fr::load_npy<double, 2>(here())); });
  refused([&] { static_cast<void>(fr::load_npy<float, 1>(here())); });
  refused([&] { static_cast<void>(fr::load_npy<std::uint16_t, 0, memory_kind::device>(here())); });
  check_error<fr::invalid_argument>([&] { static_cast<void>(fr::load_npy<std::uint16_t, 3>(here())); },
                                    {"load_npy<std::uint16_t, 3>("});
  here.with(bare_header("{'descr': '<c16', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1)}"));
  check_error<fr::invalid_argument>([&] { static_cast<void>(fr::load_npy<float, 2>(here())); },
                                    {"std::complex<double>", "at most 6 dimensions"});
  BOOST_TEST(fr::read_npy_header(here()).shape.size() == 7u);
}

BOOST_AUTO_TEST_CASE(broken_beginnings_are_named) {
  check_load("", {"byte 0 is the end of the file", "\"\\x93NUMPY\""});
  check_load("\x93NU", {"byte 0 is \"\\x93NU\" and the end of the file"});
  check_load("PK\3\4 and so on", {"byte 0 is \"PK\\x03\\x04 a\"", "the magic string"});
  check_load(std::string("\x93NUMPY\1", 7), {"byte 6", "the two bytes of a version"});
  check_load(std::string("\x93NUMPY\4\0v\0", 10), {"byte 6 is \"\\x04\\x00\"", "1.0, 2.0 and 3.0"});
  check_load(std::string("\x93NUMPY\1\1v\0", 10), {"byte 6", "1.0, 2.0 and 3.0"});
  check_load(std::string("\x93NUMPY\1\0v", 9), {"byte 8 is \"v\"", "the 2 bytes of a header length"});
  check_load(std::string("\x93NUMPY\2\0v\0\0", 11), {"byte 8", "the 4 bytes of a header length"});
  check_load(header.substr(0, 100), {"byte 8 is a header length of 118 bytes", "at most the 90 bytes"});
  check_load(std::string("\x93NUMPY\2\0\xff\xff\xff\xff{}", 14), {"4294967295 bytes", "at most the 2 bytes"});
}

BOOST_AUTO_TEST_CASE(short_data_says_how_many_bytes) {
  check_load(header + data.substr(1), {"byte 128 is 23 bytes of data", "the 24 bytes of shape (2, 3) and dtype '<f4'"});
  // A false shape allocates no memory.
  check_load(bare_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1099511627776, 1048575)}"),
             {"0 bytes of data", "4611681620380876800 bytes"});
}

BOOST_AUTO_TEST_CASE(files_cut_anywhere_are_refused) {
  for (const std::string& file : good_files()) {
    BOOST_TEST(loads(file));
    for (std::size_t length = 0; length < file.size(); ++length)
      if (loads(file.substr(0, length))) BOOST_ERROR("loads when cut to " << length);
  }
}

BOOST_AUTO_TEST_CASE(any_flipped_byte_of_a_header_loads_or_is_refused) {
  for (const std::string& file : good_files()) {
    std::size_t refused = 0;
    for (std::size_t at = 0; at < file.size() - data.size(); ++at)
      for (const int flip : {1, 2, 4, 8, 16, 32, 64, 128, 255}) {
        std::string changed = file;
        changed[at] = static_cast<char>(changed[at] ^ flip);
        refused += !loads(changed);
      }
    BOOST_TEST(refused > 500u);
  }
}

BOOST_AUTO_TEST_CASE(unreadable_files_say_the_reason) {
  const auto refused = [](const std::string& path, const std::string& why) {
    check_error<fr::error>([&] { static_cast<void>(fr::load_npy<float, 2>(path)); }, {"cannot read \"" + path, why});
    check_error<fr::error>([&] { static_cast<void>(fr::read_npy_header(path)); }, {"cannot read \"" + path, why});
  };
  refused(here("absent.npy"), "No such file or directory");
  refused(here("."), "Is a directory");
  BOOST_TEST_REQUIRE(::mkfifo(here("fifo").c_str(), 0600) == 0);
  refused(here("fifo"), "not a regular file");
  if (::geteuid() != 0) {
    ::chmod(here.with(header).c_str(), 0);
    refused(here(), "Permission denied");
  }
}

BOOST_AUTO_TEST_CASE(unwritable_files_say_the_reason) {
  const std::vector<float> x(6, 1.f);
  const auto refused = [&](const std::string& path, const std::string& why) {
    check_error<fr::error>([&] { fr::save_npy(path, x, fr::extents{2, 3}); }, {"cannot write \"" + path, why});
  };
  refused(here("absent/a.npy"), "No such file or directory");
  refused(here("."), "Is a directory");
  refused("/dev/null", "not a regular file");
  refused("/proc/a.npy", "No such file or directory");
  if (::geteuid() != 0) {
    ::chmod(here.with("old", "read_only.npy").c_str(), 0400);
    refused(here("read_only.npy"), "Permission denied");
  }
  check_error<fr::invalid_argument>(
      [&] {
        fr::save_npy(here(), x, fr::extents{2, 4});
      },
      {"a.npy", "6 elements for the shape 2 x 4"});
  fr::array<float> a = fr::array<float>::from(x);
  a.free();
  BOOST_CHECK_THROW(fr::save_npy(here(), a), fr::use_after_free);
  BOOST_CHECK_THROW(fr::save_npy(here(), fr::array<float, 0>()), fr::invalid_argument);
  BOOST_TEST(!std::filesystem::exists(here()));
}

// A full disk, simulated by a limit on file sizes.
BOOST_AUTO_TEST_CASE(a_full_disk_leaves_the_old_file) {
  const std::string old = header + data;
  const std::vector<float> x(100000, 1.f);
  const auto a = fr::device_array<float>::from(x);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  for (const rlim_t room : {0u, 50u, 128u, 1000u}) {
    here.with(old);
    const rlimit small{room, before.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    std::string what;
    try {
      fr::save_npy(here(), a);
    } catch (const fr::error& e) {
      what = e.what();
    }
    ::setrlimit(RLIMIT_FSIZE, &before);
    BOOST_TEST(what == "ferry: cannot write \"" + here() + "\": File too large, after " + std::to_string(room) +
                           " bytes; nothing was replaced");
    BOOST_TEST(bytes_of(here()) == old);
  }
  std::signal(SIGXFSZ, handler);
}

// A strided device array needs scratch memory there, and this device has 100 KiB left.
BOOST_AUTO_TEST_CASE(an_array_that_fails_on_the_way_leaves_the_old_file) {
  here.with("old");
  const fr::simulation small("devices=1;memory=8MiB");
  const fr::device_array<float, 2> a({1280, 1024}, 1.f);
  const fr::device_array<char> rest({(std::size_t{3} << 20) - 102400});
  BOOST_CHECK_THROW(fr::save_npy(here(), a.transpose()), fr::out_of_memory);
  BOOST_TEST(bytes_of(here()) == "old");
}

BOOST_AUTO_TEST_CASE(a_save_replaces_the_target_of_a_link_and_preserves_its_permissions) {
  ::chmod(here.with("old", "real.npy").c_str(), 0640);
  std::filesystem::create_symlink("real.npy", here("link.npy"));
  fr::save_npy(here("link.npy"), std::vector<float>(6, 1.f), fr::extents{6});
  BOOST_TEST(std::filesystem::is_symlink(here("link.npy")));
  BOOST_TEST(fr::read_npy_header(here("real.npy")).shape.at(0) == 6u);
  BOOST_TEST((std::filesystem::status(here("real.npy")).permissions() == std::filesystem::perms(0640)));
}

BOOST_AUTO_TEST_SUITE_END()
