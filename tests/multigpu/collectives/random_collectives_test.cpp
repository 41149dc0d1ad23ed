// Random programs of collectives, copies and fills on the members' arrays, and CPU accesses, compared with plain
// vectors.
#include "cases.hpp"
#include "support/quiet_stderr.hpp"
#include "support/seeds.hpp"

using namespace collectives;

namespace random_collectives {
namespace {

using u32 = std::uint32_t;

class program {
 public:
  program(std::uint64_t seed, std::size_t devices) : dice_(seed), team_(any_team(devices)) {
    for (std::size_t a = 0; a < arrays; ++a) {
      given_.emplace_back();
      expected_.emplace_back();
      for (std::size_t m = 0; m < team_.size(); ++m) {
        given_[a].emplace_back(fr::extents<1>{share * team_.size()}, static_cast<u32>(a + 10 * m), team_.device(m));
        expected_[a].emplace_back(share * team_.size(), static_cast<u32>(a + 10 * m));
      }
    }
  }
  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    for (std::size_t a = 0; a < arrays; ++a)
      for (std::size_t m = 0; m < team_.size(); ++m)
        BOOST_TEST((fr::to_vector(given_[a][m]) == expected_[a][m]),
                   "array " << a << " of member " << m << " is wrong");
  }

 private:
  static constexpr std::size_t arrays = 4, share = 6;
  using lists = std::vector<std::vector<u32>>;

  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(dice_); }
  fr::team any_team(std::size_t devices) {
    std::vector<fr::device> members(fr::devices().begin(),
                                    fr::devices().begin() + static_cast<std::ptrdiff_t>(devices));
    std::shuffle(members.begin(), members.end(), dice_);
    members.resize(1 + below(devices), members.front());
    return fr::team(members);
  }
  fr::slice part() {
    const std::size_t n = share * team_.size(), begin = below(n);
    return {begin, begin + 1 + below(n - begin)};
  }
  auto views(std::size_t a, fr::slice s) {
    std::vector<fr::array_view<u32, 1, fr::memory_kind::unified>> all;
    for (auto& x : given_[a]) all.push_back(x.slice(s));
    return all;
  }
  // The same slice of each member's array.
  lists plain(std::size_t a, fr::slice s) const {
    lists all;
    for (const auto& x : expected_[a])
      all.emplace_back(x.begin() + static_cast<std::ptrdiff_t>(s.begin),
                       x.begin() + static_cast<std::ptrdiff_t>(s.end));
    return all;
  }
  void put(std::size_t a, std::size_t m, std::size_t at, const std::vector<u32>& values) {
    std::copy(values.begin(), values.end(), expected_[a][m].begin() + static_cast<std::ptrdiff_t>(at));
  }
  std::vector<u32> sum(const lists& all) const {
    std::vector<u32> s = all.front();
    for (std::size_t m = 1; m < all.size(); ++m)
      for (std::size_t i = 0; i < s.size(); ++i) s[i] += all[m][i];
    return s;
  }

  void step() {
    const std::size_t a = below(arrays), b = (a + 1 + below(arrays - 1)) % arrays, ranks = team_.size();
    const std::size_t m = below(ranks), root = below(ranks);
    const fr::slice s = part(), whole{0, share * ranks}, one{0, share};
    switch (below(12)) {
      case 0: {
        auto x = views(a, s);
        fr::all_reduce(team_, x, fr::plus{});
        const auto all = sum(plain(a, s));
        for (std::size_t r = 0; r < ranks; ++r) put(a, r, s.begin, all);
        return;
      }
      case 1: {
        const auto x = views(a, s);
        auto y = views(b, s);
        fr::all_reduce(team_, x, y, fr::plus{});
        const auto all = sum(plain(a, s));
        for (std::size_t r = 0; r < ranks; ++r) put(b, r, s.begin, all);
        return;
      }
      case 2: {
        auto x = views(a, s);
        fr::broadcast(team_, x, root);
        const auto all = plain(a, s);
        for (std::size_t r = 0; r < ranks; ++r) put(a, r, s.begin, all[root]);
        return;
      }
      case 3: {
        const auto x = views(a, one);
        auto y = views(b, whole);
        fr::all_gather(team_, x, y);
        const auto all = plain(a, one);
        for (std::size_t r = 0; r < ranks; ++r)
          for (std::size_t from = 0; from < ranks; ++from) put(b, r, from * share, all[from]);
        return;
      }
      case 4: {
        const auto x = views(a, whole);
        auto y = views(b, one);
        fr::reduce_scatter(team_, x, y, fr::plus{});
        const auto all = sum(plain(a, whole));
        for (std::size_t r = 0; r < ranks; ++r)
          for (std::size_t i = 0; i < share; ++i) expected_[b][r][i] = all[r * share + i];
        return;
      }
      case 5: {
        const auto x = views(a, whole);
        auto y = views(b, whole);
        fr::all_to_all(team_, x, y);
        const auto all = plain(a, whole);
        for (std::size_t to = 0; to < ranks; ++to)
          for (std::size_t from = 0; from < ranks; ++from)
            for (std::size_t i = 0; i < share; ++i) expected_[b][to][from * share + i] = all[from][to * share + i];
        return;
      }
      case 6: {
        if (m == root) return;
        const auto all = plain(a, s);
        fr::collective_group(team_)
            .receive(given_[b][root].slice(s), root, m)
            .send(std::as_const(given_[a][m]).slice(s), m, root)
            .submit();
        return put(b, root, s.begin, all[m]);
      }
      case 7: {
        const auto value = static_cast<u32>(below(1000));
        fr::fill(team_[root], given_[a][m].slice(s), value);  // on any member's stream
        return put(a, m, s.begin, std::vector<u32>(s.end - s.begin, value));
      }
      case 8: {
        const auto all = plain(a, s);
        fr::copy(team_[below(ranks)], std::as_const(given_[a][m]).slice(s), given_[b][root].slice(s));
        return put(b, root, s.begin, all[m]);
      }
      case 9: {  // a CPU access in between
        given_[a][m][s.begin] += 7;
        expected_[a][m][s.begin] += 7;
        return;
      }
      case 10: BOOST_TEST(std::as_const(given_[a][m])[s.begin] == expected_[a][m][s.begin]); return;
      case 11: {  // an array destroyed while in use
        auto x = filled<u32>(team_, share, 3);
        fr::all_reduce(team_, x, fr::plus{});
        fr::copy(team_[m], std::as_const(x[m]), given_[a][m].slice(one));
        return put(a, m, 0, std::vector<u32>(share, static_cast<u32>(3 * ranks)));
      }
    }
  }

  std::mt19937_64 dice_;
  const fr::team team_;
  std::vector<std::vector<fr::unified_array<u32>>> given_;
  std::vector<lists> expected_;
};

}  // namespace
}  // namespace random_collectives

BOOST_AUTO_TEST_SUITE(random_collectives)

BOOST_AUTO_TEST_CASE(on_simulated_devices) {
  for (std::size_t seed = 0; seed < support::seeds(300); ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      fr::simulation runtime("devices=4;schedule=" +
                             (seed % 8 == 0 ? std::string("eager") : "random:" + std::to_string(seed)));
      program(seed, 4).run(60);
    }
}

// Links that lose pages: all unified memory is pinned to the CPU.
BOOST_AUTO_TEST_CASE(over_links_that_lose_pages) {
  for (std::size_t seed = 0; seed < support::seeds(100); ++seed) BOOST_TEST_CONTEXT("seed " << seed) {
      const support::quiet_stderr said;
      fr::simulation runtime("devices=4;broken=0-1:unified,2-3:unified;schedule=random:" + std::to_string(seed));
      program(seed, 4).run(60);
    }
}

BOOST_AUTO_TEST_CASE(on_this_machine) {
  for (int seed = 0; seed < 20; ++seed)
    BOOST_TEST_CONTEXT("seed " << seed) program(static_cast<std::uint64_t>(seed), fr::devices().size()).run(200);
}

BOOST_AUTO_TEST_SUITE_END()
