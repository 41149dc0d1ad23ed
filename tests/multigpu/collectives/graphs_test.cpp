// Collectives in captured graphs: random programs, parts of which are captured and launched repeatedly, compared with
// plain vectors.
#include "cases.hpp"
#include "support/seeds.hpp"

using namespace collectives;

namespace collectives_in_graphs {
namespace {

using u32 = std::uint32_t;

enum class verb : std::uint8_t { all_reduce, broadcast, all_gather, reduce_scatter, all_to_all, exchange, fill, copy };

struct step {
  verb what;
  std::size_t a, b, m, root;
  fr::slice part;
  u32 value;
};

class program {
 public:
  program(std::uint64_t seed, std::size_t devices)
      : dice_(seed),
        team_(std::span(fr::devices()).first(1 + below(devices))),
        plain_(arrays, lists(team_.size())) {
    for (std::size_t a = 0; a < arrays; ++a) {
      given_.emplace_back();
      for (std::size_t m = 0; m < ranks(); ++m) {
        given_[a].emplace_back(fr::extents<1>{share * ranks()}, static_cast<u32>(a + 10 * m), team_.device(m));
        plain_[a][m].assign(share * ranks(), static_cast<u32>(a + 10 * m));
      }
    }
    run({verb::all_reduce, 0, 1, 0, 0, {0, 1}, 0});  // the first call is not captured
  }

  void run(int rounds) {
    for (int i = 0; i < rounds; ++i) {
      std::vector<step> body(1 + below(6));
      for (step& s : body) s = any_step();
      fr::graph g = fr::capture(team_[below(ranks())], [&] {
        for (const step& s : body) submit(s);
      });
      for (std::size_t launches = below(4); launches-- > 0;) {
        g.launch(team_[below(ranks())]);
        for (const step& s : body) expect(s);
        if (below(2) == 0) run(any_step());
        if (below(3) == 0) touch();
      }
    }
    for (std::size_t a = 0; a < arrays; ++a)
      for (std::size_t m = 0; m < ranks(); ++m)
        BOOST_TEST((fr::to_vector(given_[a][m]) == plain_[a][m]), "array " << a << " of member " << m << " is wrong");
  }

 private:
  static constexpr std::size_t arrays = 3, share = 4;
  using list = std::vector<u32>;
  using lists = std::vector<list>;
  std::size_t ranks() const { return team_.size(); }
  std::size_t below(std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(dice_); }

  step any_step() {
    step s{};
    s.what = static_cast<verb>(below(8));
    s.a = below(arrays), s.b = (s.a + 1 + below(arrays - 1)) % arrays;
    s.m = below(ranks()), s.root = below(ranks());
    const std::size_t n = share * ranks(), begin = below(n);
    s.part = {begin, begin + 1 + below(n - begin)};
    s.value = static_cast<u32>(below(1000));
    return s;
  }
  void run(const step& s) { submit(s), expect(s); }
  void touch() {  // a CPU access
    const std::size_t a = below(arrays), m = below(ranks()), i = below(share);
    given_[a][m][i] += 7;
    plain_[a][m][i] += 7;
  }

  auto views(std::size_t a, fr::slice s) {
    std::vector<fr::array_view<u32, 1, fr::memory_kind::unified>> all;
    for (auto& x : given_[a]) all.push_back(x.slice(s));
    return all;
  }

  void submit(const step& s) {
    const fr::slice whole{0, share * ranks()}, one{0, share};
    switch (s.what) {
      case verb::all_reduce: return fr::all_reduce(team_, views(s.a, s.part), fr::plus{});
      case verb::broadcast: return fr::broadcast(team_, views(s.a, s.part), s.root);
      case verb::all_gather: return fr::all_gather(team_, views(s.a, one), views(s.b, whole));
      case verb::reduce_scatter: return fr::reduce_scatter(team_, views(s.a, whole), views(s.b, one), fr::plus{});
      case verb::all_to_all: return fr::all_to_all(team_, views(s.a, whole), views(s.b, whole));
      case verb::exchange:
        if (s.m != s.root)
          fr::collective_group(team_)
              .receive(given_[s.b][s.root].slice(s.part), s.root, s.m)
              .send(std::as_const(given_[s.a][s.m]).slice(s.part), s.m, s.root)
              .submit();
        return;
      case verb::fill: return fr::fill(team_[s.root], given_[s.a][s.m].slice(s.part), s.value);
      case verb::copy:
        return fr::copy(team_[s.root], std::as_const(given_[s.a][s.m]).slice(s.part),
                        given_[s.b][s.root].slice(s.part));
    }
  }

  // The same in plain vectors.
  void expect(const step& s) {
    const lists from = plain_[s.a];
    const auto sum = [&](std::size_t i) {
      u32 all = 0;
      for (const list& x : from) all += x[i];
      return all;
    };
    for (std::size_t r = 0; r < ranks(); ++r) {
      list &own = plain_[s.a][r], &other = plain_[s.b][r];
      const auto end = static_cast<std::size_t>(s.part.end);
      for (auto i = static_cast<std::size_t>(s.part.begin); i < end; ++i) {
        if (s.what == verb::all_reduce) own[i] = sum(i);
        if (s.what == verb::broadcast) own[i] = from[s.root][i];
        if (s.what == verb::fill && r == s.m) own[i] = s.value;
        if ((s.what == verb::copy || (s.what == verb::exchange && s.m != s.root)) && r == s.root)
          other[i] = from[s.m][i];
      }
      for (std::size_t i = 0; i < share * ranks(); ++i) {
        if (s.what == verb::all_gather) other[i] = from[i / share][i % share];
        if (s.what == verb::all_to_all) other[i] = from[i / share][r * share + i % share];
        if (s.what == verb::reduce_scatter && i < share) other[i] = sum(r * share + i);
      }
    }
  }

  std::mt19937_64 dice_;
  const fr::team team_;
  std::vector<std::vector<fr::unified_array<u32>>> given_;
  std::vector<lists> plain_;
};

}  // namespace
}  // namespace collectives_in_graphs

BOOST_AUTO_TEST_SUITE(collectives_in_graphs)

BOOST_AUTO_TEST_CASE(on_simulated_devices) {
  for (std::size_t seed = 0; seed < support::seeds(200); ++seed) {
    BOOST_TEST_CONTEXT("seed " << seed) {
      fr::simulation runtime("devices=4;schedule=" +
                             (seed % 8 == 0 ? std::string("eager") : "random:" + std::to_string(seed)));
      program(seed, 4).run(8);
    }
  }
}

BOOST_AUTO_TEST_CASE(on_this_machine) {
  for (int seed = 0; seed < 10; ++seed)
    BOOST_TEST_CONTEXT("seed " << seed) program(static_cast<std::uint64_t>(seed), fr::devices().size()).run(10);
}

// A solver step as one graph: a sum over all members between two kernels, read by the CPU after each launch.
BOOST_AUTO_TEST_CASE(a_sum_between_two_steps) {
  const fr::team t = fr::team::all();
  const auto ranks = static_cast<int>(t.size());
  auto a = filled<int>(t, 100, 1), b = filled<int>(t, 100, 0);
  fr::all_reduce(t, b, fr::plus{});
  fr::graph g = fr::capture(t[0], [&] {
    fr::all_reduce(t, a, b, fr::plus{});
    for (std::size_t m = 0; m < t.size(); ++m) fr::copy(t[m], std::as_const(b[m]), a[m]);
  });
  int expected = 1;
  for (int i = 0; i < 5; ++i) {
    g.launch(t[0]);
    expected *= ranks;
    for (const auto& x : a) BOOST_TEST((fr::to_vector(x) == std::vector<int>(100, expected)));
  }
}

BOOST_AUTO_TEST_SUITE_END()
