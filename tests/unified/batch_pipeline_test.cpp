// as: host
// The threads under batches: reading runs ahead of uploading by a bounded number of pieces, and everything arrives in
// order.
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <ferry/unified.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace fr = ferry;

namespace batch_pipeline {
namespace {

// A loop whose pieces are read by a test function, which may pass uploads to the pipeline.
class scripted_loop final : private fr::detail::batch_work {
 public:
  using read_function = std::function<bool(fr::detail::batch_pipeline&, std::size_t)>;
  scripted_loop(read_function read, std::size_t depth,
                fr::detail::batch_threads threads = fr::detail::batch_threads::background)
      : read_(std::move(read)),
        pipeline_(*this, depth, false, threads, scopes_) {}
  bool take() { return pipeline_.next().has_value(); }
  void leave() { pipeline_.done(); }
  std::size_t walk() {
    std::size_t n = 0;
    for (; take(); ++n) leave();
    return n;
  }

 private:
  bool load(std::size_t, std::size_t piece) override { return read_(pipeline_, piece); }
  void store(std::size_t) override {}
  read_function read_;
  const fr::detail::thread_scopes scopes_;
  fr::detail::batch_pipeline pipeline_;
};

// Waits for the condition for a limited time; returns whether it became true.
template <class Condition>
bool eventually(Condition holds) {
  for (int i = 0; i < 20000; ++i) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

std::string text_of_failure(scripted_loop& loop, std::size_t& pieces) {
  try {
    for (; loop.take(); ++pieces) loop.leave();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace
}  // namespace batch_pipeline

BOOST_AUTO_TEST_SUITE(batch_pipeline)

BOOST_AUTO_TEST_CASE(a_piece_is_read_while_the_one_before_is_uploaded) {
  std::atomic<std::size_t> read{0}, uploaded{0};
  std::atomic<bool> overlapped{true};
  scripted_loop loop(
      [&](fr::detail::batch_pipeline& p, std::size_t piece) {
        if (piece == 5) return false;
        ++read;
        p.give([&, piece] {
          if (piece < 4 && !eventually([&] { return read > piece + 1; })) overlapped = false;
          ++uploaded;
        });
        return true;
      },
      3);
  std::size_t taken = 0;
  for (; loop.take(); loop.leave()) BOOST_TEST(uploaded >= ++taken);
  BOOST_TEST(taken == 5u);
  BOOST_TEST(overlapped);
}

BOOST_AUTO_TEST_CASE(uploads_run_in_order_and_reading_is_not_far_ahead) {
  for (const auto threads : {fr::detail::batch_threads::background, fr::detail::batch_threads::none})
    for (const std::size_t depth : {1u, 2u, 3u, 8u}) {
      std::vector<std::size_t> order;
      std::atomic<int> begun{0}, most{0}, running{0}, most_running{0};
      scripted_loop loop(
          [&](fr::detail::batch_pipeline& p, std::size_t piece) {
            if (piece == 200) return false;
            for (std::size_t i = 0; i < piece % 4; ++i) {
              const int now = ++begun;
              most = std::max<int>(most, now);
              p.give([&, piece, i] {
                most_running = std::max<int>(most_running, ++running);
                order.push_back(10 * piece + i);
                if (piece % 7 == 0) std::this_thread::yield();
                --running, --begun;
              });
            }
            return true;
          },
          depth, threads);
      BOOST_TEST(loop.walk() == 200u);
      BOOST_TEST(order.size() == 300u);
      BOOST_TEST(std::is_sorted(order.begin(), order.end()));
      BOOST_TEST(most <= (threads == fr::detail::batch_threads::none ? 1 : 3));
      BOOST_TEST(begun == 0);
      BOOST_TEST(most_running == 1);
    }
}

// The final wait of an upload runs after the next upload is enqueued, and before the loop ends.
BOOST_AUTO_TEST_CASE(uploads_are_settled_one_later) {
  for (const auto threads : {fr::detail::batch_threads::background, fr::detail::batch_threads::none}) {
    std::vector<int> order;
    scripted_loop loop(
        [&](fr::detail::batch_pipeline& p, std::size_t piece) {
          if (piece == 4) return false;
          p.give([&, piece] { order.push_back(static_cast<int>(piece)); },
                 [&, piece] {
                   if (piece == 3) std::this_thread::sleep_for(std::chrono::milliseconds(50));
                   order.push_back(100 + static_cast<int>(piece));
                 });
          return true;
        },
        3, threads);
    BOOST_TEST(loop.walk() == 4u);
    const std::vector<int> behind{0, 1, 100, 2, 101, 3, 102, 103}, at_once{0, 100, 1, 101, 2, 102, 3, 103};
    BOOST_TEST(order == (threads == fr::detail::batch_threads::none ? at_once : behind),
               boost::test_tools::per_element());
  }
}

BOOST_AUTO_TEST_CASE(uploads_are_settled_when_a_loop_is_left) {
  std::atomic<int> uploaded{0}, settled{0};
  {
    scripted_loop loop(
        [&](fr::detail::batch_pipeline& p, std::size_t) {
          p.give([&] { ++uploaded; }, [&] { ++settled; });
          return true;
        },
        3);
    BOOST_TEST(loop.take());
  }
  BOOST_TEST(uploaded > 0);
  BOOST_TEST(settled == uploaded);
}

BOOST_AUTO_TEST_CASE(the_loop_s_own_thread_does_everything_when_asked_to) {
  const auto self = std::this_thread::get_id();
  scripted_loop loop(
      [&](fr::detail::batch_pipeline& p, std::size_t piece) {
        BOOST_TEST((std::this_thread::get_id() == self));
        p.give([&] { BOOST_TEST((std::this_thread::get_id() == self)); });
        return piece < 10;
      },
      3, fr::detail::batch_threads::none);
  BOOST_TEST(loop.walk() == 10u);
}

// Reading ahead fails: the pieces before the failed one are still uploaded and delivered.
BOOST_AUTO_TEST_CASE(what_reading_throws_comes_at_its_turn) {
  std::atomic<bool> failed{false};
  std::atomic<std::size_t> uploaded{0};
  scripted_loop loop(
      [&](fr::detail::batch_pipeline& p, std::size_t piece) {
        if (piece == 3) {
          failed = true;
          throw std::runtime_error("reading");
        }
        p.give([&, piece] {
          if (piece < 2 || eventually([&] { return failed.load(); })) ++uploaded;
        });
        return true;
      },
      5);
  std::size_t pieces = 0;
  BOOST_TEST(text_of_failure(loop, pieces) == "reading");
  BOOST_TEST(pieces == 3u);
  BOOST_TEST(uploaded == 3u);
}

// A later piece was read without error, but is neither delivered nor uploaded.
BOOST_AUTO_TEST_CASE(what_an_upload_throws_comes_at_its_turn) {
  for (const auto threads : {fr::detail::batch_threads::background, fr::detail::batch_threads::none}) {
    std::atomic<std::size_t> last{0};
    scripted_loop loop(
        [&](fr::detail::batch_pipeline& p, std::size_t piece) {
          p.give([&, piece] {
            last = piece;
            if (piece == 2) throw std::runtime_error("upload");
          });
          return true;
        },
        4, threads);
    std::size_t pieces = 0;
    BOOST_TEST(text_of_failure(loop, pieces) == "upload");
    BOOST_TEST(pieces == 2u);
    BOOST_TEST(last == 2u);
  }
}

// A piece is read in parts, by several threads if allowed. Each part is read once. After an exception, all parts have
// ended.
BOOST_AUTO_TEST_CASE(large_pieces_are_read_in_parts) {
  for (const auto threads : {fr::detail::batch_threads::background, fr::detail::batch_threads::none})
    for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, (std::size_t{40} << 20) + 3}) {
      std::vector<std::pair<std::size_t, std::size_t>> parts;
      std::mutex lock;
      const auto self = std::this_thread::get_id();
      bool by_others = false;
      scripted_loop loop(
          [&](fr::detail::batch_pipeline& p, std::size_t piece) {
            if (piece == 0)
              p.read_in_parts(n, 1, [&](std::size_t first, std::size_t count) {
                std::lock_guard one(lock);
                parts.emplace_back(first, count);
                by_others = by_others || std::this_thread::get_id() != self;
              });
            return piece == 0;
          },
          2, threads);
      BOOST_TEST(loop.walk() == 1u);
      std::sort(parts.begin(), parts.end());
      std::size_t next = 0;
      for (const auto& [first, count] : parts) {
        BOOST_TEST(first == next);
        next += count;
      }
      BOOST_TEST(next == n);
      const bool many = threads == fr::detail::batch_threads::background && n > 1000;
      BOOST_TEST(parts.size() == (many ? 8u : 1u));
      BOOST_TEST(by_others == (threads == fr::detail::batch_threads::background));
    }
}

BOOST_AUTO_TEST_CASE(a_part_that_fails_reaches_the_loop) {
  for (const std::size_t failing : {0u, 1u, 2u}) {
    std::atomic<int> running{0};
    scripted_loop loop(
        [&](fr::detail::batch_pipeline& p, std::size_t) {
          p.read_in_parts(3, std::size_t{4} << 20, [&](std::size_t first, std::size_t) {
            ++running;
            std::this_thread::sleep_for(std::chrono::milliseconds(first));
            --running;
            if (first == failing) throw std::runtime_error("part " + std::to_string(first));
          });
          return true;
        },
        2);
    std::size_t pieces = 0;
    BOOST_TEST(text_of_failure(loop, pieces) == "part " + std::to_string(failing));
    BOOST_TEST(pieces == 0u);
    BOOST_TEST(running == 0);
  }
}

BOOST_AUTO_TEST_CASE(a_loop_that_is_left_ends_its_threads_and_frees_what_was_read) {
  for (int turns = 0; turns < 4; ++turns)
    for (int round = 0; round < 20; ++round) {
      const auto held = std::make_shared<int>(0);
      {
        scripted_loop loop(
            [&](fr::detail::batch_pipeline& p, std::size_t) {
              for (int i = 0; i < 3; ++i) p.give([held] { std::this_thread::yield(); });
              return true;
            },
            2);
        for (int i = 0; i < turns; ++i) {
          BOOST_TEST(loop.take());
          loop.leave();
        }
      }
      BOOST_TEST(held.use_count() == 1);
    }
}

// As exit() within the loop: the thread ends, and the pipeline is not destroyed. An upload that waits reads on until it
// is destroyed.
BOOST_AUTO_TEST_CASE(waiting_uploads_are_freed_when_the_thread_of_the_loop_ends) {
  const auto held = std::make_shared<int>(0);
  std::atomic<bool> waits{false}, stopped{false};
  std::unique_ptr<scripted_loop> loop;
  std::thread([&] {
    loop = std::make_unique<scripted_loop>(
        [&](fr::detail::batch_pipeline& p, std::size_t piece) {
          if (piece == 0) return true;
          p.give([&] { (void)eventually([&] { return stopped.load(); }); });
          p.give([held] {});
          waits = true;
          p.give([] {});  // blocks while the one before waits
          stopped = true;
          return false;
        },
        2);
    BOOST_TEST(loop->take());
    BOOST_TEST(eventually([&] { return waits.load(); }));
  }).join();
  BOOST_TEST(stopped);
  BOOST_TEST(held.use_count() == 1);
}

BOOST_AUTO_TEST_SUITE_END()
