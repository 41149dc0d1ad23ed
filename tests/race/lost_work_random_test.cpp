// Random programs on devices of which one fails: results are lost if they depend on it, and no others (R19).
#include <array>
#include <boost/test/unit_test.hpp>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "race/lost_work.hpp"

namespace lost_work {
namespace {

// A random program over arrays of all kinds and streams of three devices, one of which fails at some call. Each CPU
// read is right or throws. Results that do not depend on the failed device are right.
class program {
 public:
  explicit program(unsigned seed) : random_(seed) {
    for (std::size_t d = 0; d < devices; ++d)
      for (int k = 0; k < 2; ++k) streams_.emplace_back(fr::devices()[d]);
    for (std::size_t i = 0; i < arrays; ++i) {
      const fr::device d = fr::devices()[below(devices)];
      const int first = static_cast<int>(i);
      make(i, d, first);
      model_[i].assign(size, static_cast<unsigned>(first));
    }
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) step();
    for (std::size_t i = 0; i < arrays; ++i) look(i);
    std::vector<std::size_t> unread;
    for (std::size_t i = 0; i < arrays; ++i)
      if (!look(i)) unread.push_back(i);
    std::set<int> failed;
    for (const fr::device d : fr::devices())
      if (!tries([&] { fr::stream(d).synchronize(); })) failed.insert(d.index());
    const std::array<bool, arrays> spoilt = reached_from(failed);
    for (const std::size_t i : unread) BOOST_TEST(spoilt[i], "array " << i << " depends on nothing that failed");
  }

 private:
  static constexpr std::size_t arrays = 10, devices = 3;
  struct use {
    std::size_t stream;
    std::vector<std::size_t> reads, writes;  // every array that is written is also read
    std::set<int> takes_part;
  };

  void make(std::size_t i, fr::device d, int first) {
    const auto fill_with = [&](auto& a) { fr::fill(a, first); };
    home_[i] = -1;
    switch (i % 3) {
      case 0: fill_with(std::get<0>(of(i) = array({size}, d))); break;
      case 1: fill_with(std::get<1>(of(i) = fr::host_array<int, 1>({size}, d))); break;
      default: home_[i] = d.index(), fill_with(std::get<2>(of(i) = fr::device_array<int, 1>({size}, d))); break;
    }
    log_.push_back({2 * static_cast<std::size_t>(d.index()), {}, {i}, {}});
  }

  void step() {
    const std::size_t s = below(streams_.size()), y = below(arrays), x = below(arrays);
    use u{s, {x}, {y}, {}};
    bool done = false;
    switch (below(8)) {
      case 0:
      case 1:
      case 2: done = x != y && tries([&] { add(s, x, y); }); break;
      case 3: done = tries([&] { fill(s, y); }); break;
      case 4: done = x != y && tries([&] { copy(s, x, y); }); break;
      case 5: look(x); return;
      case 6: done = x != y && graph(u); break;
      default:
        reduce(s, x);
        u.writes.clear();
        break;
    }
    for (const std::size_t i : {x, y})
      if (home_[i] >= 0) u.takes_part.insert(home_[i]);
    log_.push_back(std::move(u));
    if (!done) return;
    model_[y] = next_;
  }
  void add(std::size_t s, std::size_t x, std::size_t y) {
    std::visit([&](auto& a, auto& b) { fr::parallel_for(streams_[s], size, add_to{}, fr::in(a), b); }, of(x), of(y));
    next_ = sum(x, y);
  }
  void fill(std::size_t s, std::size_t y) {
    const unsigned k = static_cast<unsigned>(below(1000));
    std::visit([&](auto& b) { fr::parallel_for(streams_[s], size, set_to{static_cast<int>(k)}, b); }, of(y));
    next_.assign(size, k);
  }
  void copy(std::size_t s, std::size_t x, std::size_t y) {
    std::visit([&](auto& a, auto& b) { fr::copy(streams_[s], a, b); }, of(x), of(y));
    next_ = model_[x];
  }
  // Two nodes on two streams: z += x, y += z.
  bool graph(use& u) {
    const std::size_t z = (u.writes[0] + 1) % arrays, x = u.reads[0], y = u.writes[0], other = below(streams_.size());
    if (z == x || other == u.stream) return false;
    u.writes.push_back(z);
    for (const std::size_t s : {u.stream, other}) u.takes_part.insert(device_of(s));
    if (home_[z] >= 0) u.takes_part.insert(home_[z]);
    if (!tries([&] {
          fr::graph g = fr::capture(streams_[u.stream], [&] { add(other, x, z), add(u.stream, z, y); });
          g.launch(streams_[u.stream]);
        }))
      return false;
    model_[z] = sum(x, z);
    next_ = sum(z, y);
    return true;
  }
  void reduce(std::size_t s, std::size_t x) {
    int got = 0;
    if (!tries([&] {
          got = std::visit(
              [&](auto& a) { return fr::parallel_reduce(streams_[s], size, element{}, fr::plus{}, fr::in(a)).value(); },
              of(x));
        }))
      return;
    BOOST_TEST(static_cast<unsigned>(got) == std::accumulate(model_[x].begin(), model_[x].end(), 0u));
  }
  // Returns whether the array could be read.
  bool look(std::size_t i) {
    std::vector<int> got;
    const bool is_read = tries([&] { got = std::visit([](auto& a) { return fr::to_vector(a); }, of(i)); });
    if (is_read) BOOST_TEST((std::vector<unsigned>(got.begin(), got.end()) == model_[i]), "array " << i << " is wrong");
    return is_read;
  }
  std::vector<unsigned> sum(std::size_t x, std::size_t y) const {
    std::vector<unsigned> v = model_[y];
    for (std::size_t i = 0; i < size; ++i) v[i] += model_[x][i];
    return v;
  }

  // Arrays that depend on a failed device through any chain of uses. A stream that uses a reached array is itself
  // reached from then on.
  std::array<bool, arrays> reached_from(const std::set<int>& failed) const {
    std::array<bool, arrays> spoilt{};
    std::set<std::size_t> streams;
    for (std::size_t i = 0; i < arrays; ++i) spoilt[i] = failed.contains(home_[i]);
    for (const use& u : log_) {
      bool is = failed.contains(device_of(u.stream)) || streams.contains(u.stream);
      for (const int d : u.takes_part) is = is || failed.contains(d);
      for (const auto* all : {&u.reads, &u.writes})
        for (const std::size_t i : *all) is = is || spoilt[i];
      if (!is) continue;
      streams.insert(u.stream);
      for (const std::size_t i : u.writes) spoilt[i] = true;
    }
    return spoilt;
  }
  static int device_of(std::size_t stream) { return static_cast<int>(stream / 2); }
  std::size_t below(std::size_t n) { return random_() % n; }

  using some_array = std::variant<array, fr::host_array<int, 1>, fr::device_array<int, 1>>;
  some_array& of(std::size_t i) { return arrays_[i]; }
  std::mt19937 random_;
  std::vector<fr::stream> streams_;
  std::array<some_array, arrays> arrays_;
  std::array<int, arrays> home_{};  // the device of the array's memory
  std::array<std::vector<unsigned>, arrays> model_;
  std::vector<unsigned> next_;
  std::vector<use> log_;
};

void run_programs(const std::string& options) {
  std::size_t whole = 0;
  for (std::size_t seed = 0; seed < support::seeds(150); ++seed) {
    const std::string verb = seed % 3 == 0 ? "copy@" : "launch@";
    const std::string text = "devices=3;" + options + (seed % 5 == 0 ? "check=on;" : "") +
                             "schedule=random:" + std::to_string(seed) + ";fail=" + verb +
                             std::to_string(2 + seed * 7 % 40);
    BOOST_TEST_CONTEXT(text) {
      const support::quiet_stderr said;
      const fr::simulation sim(text);
      std::optional<program> p;
      if (tries([&] { p.emplace(static_cast<unsigned>(seed)); })) ++whole, p->run(60);
    }
  }
  BOOST_TEST(2 * whole >= support::seeds(150));  // in the others the failure occurs during setup
}

}  // namespace
}  // namespace lost_work

BOOST_AUTO_TEST_SUITE(lost_work)

BOOST_AUTO_TEST_CASE(random_programs) { run_programs(""); }
BOOST_AUTO_TEST_CASE(random_programs_without_peers) { run_programs("peers=none;"); }

BOOST_AUTO_TEST_SUITE_END()
