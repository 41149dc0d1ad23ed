// Policies of single arrays: their effect on pages, and that they never change results.
#include <random>
#include <vector>

#include "unified/kernels/driver_pages.hpp"

namespace fr = ferry;
using namespace shared;

namespace policies {
namespace {

constexpr std::size_t n = 4 * page / sizeof(float);

struct twice_of {
  FERRY_HOST_DEVICE void operator()(std::size_t i, float* to, const float* from) const { to[i] = 2 * from[i] + 1; }
};

void add(fr::device d, auto&& v) { fr::parallel_for(fr::default_stream(d), v.size(), add_one{}, fr::inout(v)); }

fr::array_policy policy(const char* text) { return fr::array_policy::parse(text); }

// Several arrays, their expected contents, and random work on them by devices and the CPU.
class program {
 public:
  explicit program(unsigned seed) : random_(seed) {
    for (std::size_t k = 0; k < 3; ++k) {
      arrays_.emplace_back(fr::extents<1>(count), 0.f, dev(0));
      wanted_.emplace_back(count, 0.f);
    }
  }
  void step() {
    const std::size_t a = below(arrays_.size()), lo = below(count), hi = lo + 1 + below(count - lo);
    const fr::device d = dev(below(fr::devices().size()));
    fr::unified_array<float>& u = arrays_[a];
    switch (below(8)) {
      case 0:
      case 1:
        add(d, u.slice({lo, hi}));
        for (std::size_t i = lo; i < hi; ++i) wanted_[a][i] += 1;
        break;
      case 2: {
        const std::size_t b = (a + 1) % arrays_.size();
        fr::parallel_for(fr::default_stream(d), hi - lo, twice_of{}, fr::out(u.slice({lo, hi})),
                         fr::in(arrays_[b].slice({lo, hi})));
        for (std::size_t i = lo; i < hi; ++i) wanted_[a][i] = 2 * wanted_[b][i] + 1;
        break;
      }
      case 3:
        for (float& x : u.slice({lo, hi})) x += 3;
        for (std::size_t i = lo; i < hi; ++i) wanted_[a][i] += 3;
        break;
      case 4:
        u[lo] += 5;
        wanted_[a][lo] += 5;
        break;
      case 5: fr::prefetch(u.slice({lo, hi}), d); break;
      case 6: fr::advise(u.slice({lo, hi}), static_cast<fr::advice>(below(6)), d); break;
      default: {
        static const char* const ways[] = {"automatic",
                                           "prefetch",
                                           "explicit",
                                           "automatic read_mostly",
                                           "prefetch preferred=cpu accessed_by=device:0",
                                           "prefetch page=16KiB flips=1",
                                           "automatic smallest_to_device=0 smallest_to_cpu=0 remote_reads=1",
                                           "automatic preferred=device:0 accessed_by=cpu"};
        const std::size_t w = below(std::size(ways) + 1);
        if (w == std::size(ways))
          fr::clear_policy(u);
        else
          fr::set_policy(u, policy(ways[w]));
      }
    }
  }
  // The first mismatch; empty if there is none.
  std::string wrong() {
    for (std::size_t k = 0; k < arrays_.size(); ++k)
      for (std::size_t i = 0; i < count; ++i)
        if (std::as_const(arrays_[k])[i] != wanted_[k][i])
          return "element " + std::to_string(i) + " of array " + std::to_string(k) + "\n" + fr::explain(arrays_[k]);
    return {};
  }

 private:
  static constexpr std::size_t count = 100000;
  std::size_t below(std::size_t end) { return random_() % end; }
  std::mt19937 random_;
  std::vector<fr::unified_array<float>> arrays_;
  std::vector<std::vector<float>> wanted_;
};

}  // namespace
}  // namespace policies

BOOST_AUTO_TEST_SUITE(policies)

BOOST_AUTO_TEST_CASE(ahead_takes_the_whole_array) {
  place here;
  fr::unified_array<float> u({n}, dev(0)), v({n}, dev(0));
  fr::set_policy(u, policy("prefetch"));
  for (fr::unified_array<float>* a : {&u, &v}) {
    for (float& x : *a) x = 1;
    add(dev(0), a->slice({100, 200}));
  }
  BOOST_TEST((is_at(u, dev(0)) && !is_at(v, dev(0))));
  BOOST_TEST(fr::residency(u).on(dev(0)) == u.size_bytes());
  BOOST_TEST(fr::residency(v).on(dev(0)) < v.size_bytes());
  for (float& x : u.slice({0, 10})) x += 1;
  BOOST_TEST(is_on_cpu(u));
  BOOST_TEST(fr::residency(u).on_cpu == u.size_bytes());
  BOOST_TEST((u[0] == 2 && u[150] == 2 && u[n - 1] == 1));
  // Overwritten pages move without their contents, the others with them.
  fr::parallel_for(fr::default_stream(dev(0)), n / 2, twice_of{}, fr::out(u.slice({0, n / 2})),
                   fr::in(v.slice({0, n / 2})));
  BOOST_TEST(fr::residency(u).on(dev(0)) == u.size_bytes());
  BOOST_TEST(is_at(u, dev(0)));
  BOOST_TEST((u[0] == 3 && u[150] == 5 && u[n / 2] == 1));
}

// Prefetching the whole array takes no pages from another device.
BOOST_AUTO_TEST_CASE(ahead_leaves_the_parts_of_others,
                     *boost::unit_test::precondition(needs_devices{2}) * boost::unit_test::label("two_devices")) {
  for (const char* peers : {"all", "none"}) {
    place here(std::string("devices=2;memory=64MiB;peers=") + peers);
    fr::unified_array<float> u({n}, dev(0));
    fr::set_policy(u, policy("prefetch"));
    for (float& x : u) x = 1;
    fr::prefetch(u.slice({0, n / 2}), dev(0));
    fr::prefetch(u.slice({n / 2, n}), dev(1));
    for (int round = 0; round < 5; ++round) {
      add(dev(0), u.slice({0, n / 4}));
      add(dev(1), u.slice({n / 2, n}));
      const auto where = fr::residency(u);
      // Without peer access, one device alone holds the middle page, if the array does not begin at a page boundary.
      const std::size_t half = u.size_bytes() / 2, slack = here.are_peers() ? 0 : page;
      BOOST_TEST((where.on(dev(0)) + slack >= half && where.on(dev(1)) + slack >= half), peers << ": " << where);
      BOOST_TEST(where.on(dev(0)) + where.on(dev(1)) == u.size_bytes());
      BOOST_TEST((is_at(u.slice({0, n / 4}), dev(0)) && is_at(u.slice({3 * n / 4, n}), dev(1))), peers);
    }
    BOOST_TEST((u[0] == 6 && u[n / 4] == 1 && u[n - 1] == 6));
  }
}

BOOST_AUTO_TEST_CASE(settings_of_one_array) {
  place here;
  fr::unified_array<float> u({n}, dev(0)), v({n}, dev(0)), w({n}, dev(0));
  fr::set_policy(u, policy("explicit"));
  fr::set_policy(v, policy("automatic smallest_to_device=1GiB"));
  for (fr::unified_array<float>* a : {&u, &v}) {
    for (float& x : *a) x = 1;
    const prefetch_watch watch(*a);
    add(dev(0), *a);
    BOOST_TEST(watch.saw_none());
  }
  for (float& x : w) x = 1;
  BOOST_TEST(is_on_cpu(w));
  add(dev(0), w);
  BOOST_TEST(is_at(w, dev(0)));
  send_unseen(u, {0});  // where faults have moved it
  {
    fr::migration_scope scope(fr::migration::automatic);  // takes precedence over the policy
    for (float& x : u) x = 1;
    BOOST_TEST(fr::residency(u).on_cpu == u.size_bytes());
    BOOST_TEST(is_on_cpu(u));
  }
  BOOST_CHECK_THROW(fr::set_policy(u, policy("automatic preferred=device:63")), fr::invalid_argument);
  BOOST_TEST(policy_of(u)->text() == "explicit");
}

// A policy's advice ends with the policy. The program's own advice stays, even if both are the same.
BOOST_AUTO_TEST_CASE(advice_comes_and_goes) {
  place here;
  fr::unified_array<float> u({n}, dev(0)), to({n}, dev(0));
  fr::fill(to, 0.f);
  for (float& x : u) x = 1;
  const auto read_on_device = [&] {
    fr::parallel_for(fr::default_stream(dev(0)), n / 2, twice_of{}, fr::inout(to.slice({0, n / 2})),
                     fr::in(u.slice({0, n / 2})));
    fr::default_stream(dev(0)).synchronize();
    return driver_place(u, u.size_bytes() / 4);  // the half may end within a page
  };
  const fr::memory_location cpu{}, device{0};
  send_unseen(u, cpu);  // read-mostly pages stay there without another prefetch
  fr::set_policy(u, policy("automatic read_mostly"));
  BOOST_TEST((read_on_device() == cpu), "read where it is");
  fr::advise(u.slice({0, n / 2}), fr::advice::read_mostly);
  fr::set_policy(u, policy("automatic"));
  BOOST_TEST((read_on_device() == cpu), "the program's own advice holds");
  fr::set_policy(u, policy("automatic read_mostly"));
  fr::advise(u.slice({0, n / 2}),
             fr::advice::unset_read_mostly);  // the program's advice is more recent
  fr::clear_policy(u);
  BOOST_TEST((read_on_device() == device));
  BOOST_TEST((!policy_of(u) && to[5] == 3));
}

BOOST_AUTO_TEST_CASE(random_policies_change_nothing) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    place here("devices=3;memory=64MiB;schedule=random:" + std::to_string(seed));
    fr::migration_options small;
    small.page = std::size_t{64} << 10;
    small.smallest_to_device = small.smallest_to_cpu = std::size_t{32} << 10;
    fr::set_migration(small);
    program p(seed);
    for (int i = 0; i < 60; ++i) p.step();
    const std::string wrong = p.wrong();
    fr::set_migration(fr::migration_options{});
    BOOST_REQUIRE_MESSAGE(wrong.empty(), "seed " << seed << ": " << wrong);
  }
}

BOOST_AUTO_TEST_SUITE_END()
