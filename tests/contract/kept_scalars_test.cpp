// Scalars that a program keeps: what each takes of pinned memory, and that their bytes are reused in order.
#include <optional>
#include <random>

#include "contract/fixture.hpp"
#include "ferry/core/detail/pools/runtime_pools.hpp"
#include "support/busy_stream.hpp"
#include "support/seeds.hpp"

using namespace contract;

namespace contract_of_kept_scalars {
namespace {

struct value_of {
  FERRY_HOST_DEVICE std::int64_t operator()(std::size_t i, const std::int64_t* x) const { return x[i]; }
};
struct twelve_values {
  std::int64_t of[12];
};

fr::memory_usage::of_kind pinned() {
  return fr::memory_use().devices.front().kinds[static_cast<std::size_t>(memory_kind::host)];
}

}  // namespace
}  // namespace contract_of_kept_scalars

BOOST_FIXTURE_TEST_SUITE(contract_of_kept_scalars, clean)

BOOST_AUTO_TEST_CASE(each_takes_a_cache_line) {
  for (const char* how : {"devices=1", "devices=1;schedule=random:3"}) {
    const fr::simulation sim(how, {.kind = fr::pool_kind::split});
    const auto x = fr::device_array<std::int64_t>::from({1, 2, 3, 4});
    const fr::memory_usage::of_kind before = pinned();
    const std::size_t count = 100'000;
    std::vector<fr::scalar<std::int64_t>> all;
    all.reserve(count);
    for (std::size_t n = 0; n != count / 2; ++n) {
      all.push_back(fr::parallel_reduce(1 + n % 4, value_of{}, fr::plus{}, x));
      all.push_back(fr::max(x));
    }
    const fr::memory_usage::of_kind now = pinned();
    BOOST_TEST(now.current_bytes - before.current_bytes == 64 * count);
    BOOST_TEST(now.arrays - before.arrays == count);
    BOOST_TEST(now.reserved_bytes - before.reserved_bytes <= 66 * count);
    const std::int64_t sums[] = {1, 3, 6, 10};
    std::size_t wrong = 0;
    for (std::size_t n = 0; n != count; n += 2) wrong += all[n].value() != sums[n / 2 % 4] || all[n + 1].value() != 4;
    BOOST_TEST(wrong == 0u);
    BOOST_TEST(all[0].as_array().unsynchronized_data() != all[1].as_array().unsynchronized_data());
    all.clear();
    BOOST_TEST(pinned().current_bytes == before.current_bytes);
  }
}

// On CUDA devices, too. Larger values take more lines; other kinds of pools stay as they are.
BOOST_AUTO_TEST_CASE(small_pinned_arrays) {
  const auto bytes = [](const auto& make) {
    const auto before = pinned().current_bytes;
    const auto a = make();
    return pinned().current_bytes - before;
  };
  const fr::device d(0);
  const bool is_direct = fr::runtime::current().pools().default_kind() == fr::pool_kind::none;
  BOOST_TEST(bytes([&] { return fr::scalar<char>(d); }) == (is_direct ? 1u : 64u));
  BOOST_TEST(bytes([&] { return fr::host_array<double>({8}, d); }) == 64u);
  BOOST_TEST(bytes([&] { return fr::scalar<twelve_values>(d); }) >= 96u);
  fr::pool p(d, {.granularity = 256, .kind = fr::pool_kind::split});
  const fr::pool_scope here(p);
  BOOST_TEST(bytes([&] { return fr::scalar<double>(d); }) == 256u);
}

BOOST_AUTO_TEST_CASE(pools_without_cache_lines) {
  for (const fr::pool_options& o : {fr::pool_options{.kind = fr::pool_kind::none},
                                    fr::pool_options{.granularity = 32, .kind = fr::pool_kind::split}}) {
    fr::simulation sim("devices=1", o);
    const fr::scalar<double> a(fr::device(0));
    BOOST_TEST(pinned().current_bytes == (o.kind == fr::pool_kind::none ? 8u : 32u));
  }
}

// A scalar that dies while its kernel is pending: the next one on another stream has its bytes, and comes after.
BOOST_AUTO_TEST_CASE(bytes_are_reused_behind_their_last_use) {
  const fr::simulation sim("devices=1;schedule=random:1", {.kind = fr::pool_kind::split});
  const fr::stream first, second;
  const auto x = fr::device_array<std::int64_t>::from({1, 2, 3, 4});
  first.synchronize(), second.synchronize();
  fr::default_stream(x.device()).synchronize();
  const std::int64_t* address = nullptr;
  std::optional<fr::scalar<std::int64_t>> next;
  {
    support::busy_stream busy(first);
    {
      const auto s = fr::parallel_reduce(first, 4, value_of{}, fr::plus{}, fr::in(x));
      address = s.as_array().unsynchronized_data();
    }
    next = fr::parallel_reduce(second, 3, value_of{}, fr::plus{}, fr::in(x));
    BOOST_TEST(next->as_array().unsynchronized_data() == address);
    BOOST_TEST(!next->is_ready());
  }
  BOOST_TEST(next->value() == 6);
}

BOOST_AUTO_TEST_CASE(random_lives) {
  for (std::size_t seed = 0; seed < support::seeds(60); ++seed) {
    std::mt19937_64 random(seed);
    const fr::simulation sim("devices=2;schedule=random:" + std::to_string(seed));
    const auto below = [&](std::size_t n) { return static_cast<std::size_t>(random() % n); };
    fr::stream streams[] = {fr::stream(fr::device(0)), fr::stream(fr::device(1)), fr::stream(fr::device(0))};
    fr::unified_array<std::int64_t> x({50});
    for (std::size_t i = 0; i != 50; ++i) x[i] = static_cast<std::int64_t>(i);
    std::vector<std::pair<fr::scalar<std::int64_t>, std::int64_t>> all;
    for (int n = 0; n != 200; ++n) {
      const std::size_t count = below(51);
      fr::stream& s = streams[below(3)];
      switch (below(4)) {
        case 0:
        case 1:
          all.emplace_back(fr::parallel_reduce(s, count, value_of{}, fr::plus{}, fr::in(x)),
                           static_cast<std::int64_t>(count * (count - (count != 0)) / 2));
          break;
        case 2:
          if (!all.empty()) {
            const std::size_t k = below(all.size());
            std::swap(all[k], all.back()), all.pop_back();
          }
          break;
        case 3:
          if (!all.empty()) {
            const auto& [one, value] = all[below(all.size())];
            BOOST_TEST(one.value() == value);
          }
          break;
      }
    }
    for (const auto& [one, value] : all) BOOST_TEST(one.value() == value);
  }
}

BOOST_AUTO_TEST_SUITE_END()
