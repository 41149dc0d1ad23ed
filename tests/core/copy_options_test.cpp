// Options of copies that change while another thread copies. ThreadSanitizer finds options that are read unguarded.
#include <atomic>
#include <thread>
#include <vector>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

namespace fr = ferry;

BOOST_AUTO_TEST_SUITE(copy_options)

BOOST_AUTO_TEST_CASE(change_while_another_thread_copies) {
  const fr::simulation runtime{"devices=1;schedule=random:1"};
  const fr::copy_options before = fr::current_copy_options();
  std::atomic<bool> done{false};
  std::jthread changing([&] {
    for (unsigned i = 0; !done.load(); ++i) {
      fr::copy_options o = before;
      o.parallel_from_bytes = std::size_t{1} << (10 + i % 12);
      o.threads = i % 4;
      fr::set_copy_options(o);
    }
  });
  fr::device_array<int> a({40'000});
  for (int i = 0; i != 100; ++i) {
    std::vector<int> given(40'000, i), got(40'000, -1);
    fr::copy(std::span<const int>(given), a);
    fr::copy(a, std::span<int>(got));
    BOOST_TEST((got == given), "copy " << i);
  }
  done = true;
}

BOOST_AUTO_TEST_SUITE_END()
