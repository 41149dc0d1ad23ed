// Batches of a mapped file: their contents, and a file that shrinks at the worst moment.
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/unified.hpp>
#include <ferry/unified/batches.hpp>

#include "support/failures.hpp"

namespace fr = ferry;
using support::failure_of;
using support::has;

namespace file_batches {
namespace {

class file {
 public:
  explicit file(std::size_t rows)
      : path_((std::filesystem::temp_directory_path() / ("ferry_file_batches_" + std::to_string(::getpid()) + ".npy"))
                  .string()),
        all_(rows * 8) {
    std::iota(all_.begin(), all_.end(), 0.f);
    write();
  }
  ~file() { std::filesystem::remove(path_); }
  file(const file&) = delete;
  file& operator=(const file&) = delete;
  void write() const { fr::save_npy(path_, all_, fr::extents<2>(all_.size() / 8, 8)); }
  void cut(std::size_t bytes) const { std::filesystem::resize_file(path_, bytes); }
  const std::string& path() const { return path_; }
  const std::vector<float>& all() const { return all_; }

 private:
  std::string path_;
  std::vector<float> all_;
};

}  // namespace
}  // namespace file_batches

BOOST_AUTO_TEST_SUITE(file_batches)

BOOST_AUTO_TEST_CASE(every_row_arrives) {
  for (const char* schedule : {"eager", "random:1", "random:2"})
    for (const auto threads : {fr::detail::batch_threads::background, fr::detail::batch_threads::none})
      for (const std::size_t depth : {1u, 3u}) {
        const file f(1003);
        fr::simulation sim(std::string("devices=1;schedule=") + schedule);
        const auto map = fr::map_npy<float, 2>(f.path());
        std::vector<float> got;
        for (auto&& piece : fr::batches(map, {.size = 100, .depth = depth, .threads = threads})) {
          BOOST_TEST(piece.extent(1) == 8u);
          const std::vector<float> rows = fr::to_vector(piece);
          got.insert(got.end(), rows.begin(), rows.end());
        }
        BOOST_TEST((got == f.all()));
      }
}

BOOST_AUTO_TEST_CASE(parts_are_read_from_the_file) {
  const file f(100);
  const auto map = fr::map_npy<float, 2>(f.path());
  std::vector<float> part(5);
  map.read(795, part);
  BOOST_TEST((part == std::vector<float>{795, 796, 797, 798, 799}));
  map.read(800, {});
  BOOST_CHECK_THROW(map.read(796, part), fr::invalid_argument);
  BOOST_CHECK_THROW(map.read(std::size_t(-1), part), fr::invalid_argument);
  f.cut(2000);
  BOOST_TEST(has(failure_of<fr::error>([&] { map.read(795, part); }),
                 "has become shorter while it is mapped: it has 2000 bytes"));
  f.write();  // replaces the file; the map keeps the old one
  BOOST_TEST(has(failure_of<fr::error>([&] { map.read(795, part); }), "has become shorter"));
}

// The file has its full size when a piece of many chunks begins. Touching pages past its new end would terminate the
// process.
BOOST_AUTO_TEST_CASE(a_file_that_shrinks_while_a_piece_is_read) {
  int cut_off = 0;
  for (int round = 0; round < 30; ++round) {
    const file f(std::size_t{1} << 19);  // 16 MiB in one piece
    fr::simulation sim("devices=1");
    const auto map = fr::map_npy<float, 2>(f.path());
    std::atomic<bool> go{false};
    std::thread other([&] {
      while (!go) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::microseconds(200 * (round % 15)));
      f.cut(4096);
    });
    const std::string text = failure_of<fr::error>([&] {
      go = true;
      for (auto&& piece : fr::batches(map, {.size = std::size_t{1} << 19})) {
        const std::vector<float> rows = fr::to_vector(piece);
        BOOST_TEST((rows == f.all()), "a piece that was given is whole");
      }
    });
    other.join();
    cut_off += !text.empty();
    BOOST_TEST((text.empty() || has(text, "has become shorter while it is mapped")), text);
  }
  BOOST_TEST_MESSAGE(cut_off << " of 30 loops were cut off");
}

BOOST_AUTO_TEST_SUITE_END()
