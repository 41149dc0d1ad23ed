// How unified treats arrays that were moved from or default-constructed, and its own movable types.
#include <ferry/unified.hpp>
#include <filesystem>

#include "support/moved_objects.hpp"

namespace fr = ferry;
using support::check_moved;

namespace unified_moved_objects {
namespace {

template <std::size_t Rank>
void check_verbs(const char* name) {
  using array = fr::unified_array<int, Rank>;
  support::uses_of<array> u;
  auto& backend = Rank == 0 ? u.must : u.may;
  backend = {
      {"host_guard", [](array& a) { const fr::host_guard guard(fr::inout(a)); }},
      {"prefetch", [](array& a) { fr::prefetch(a, fr::device(1)); }},
      {"discard", [](array& a) { fr::discard(a); }},
      {"discard_when_needed", [](array& a) { fr::discard_when_needed(a); }},
      {"advise", [](array& a) { fr::advise(a, fr::advice::read_mostly); }},
      {"advice_scope", [](array& a) { const fr::advice_scope advice(a, fr::advice::read_mostly); }},
  };
  u.may.push_back({"residency", [](array& a) { (void)fr::residency(a); }});
  u.may.push_back({"may_be_discarded", [](array& a) { (void)fr::may_be_discarded(a); }});
  u.may.push_back({"set_policy", [](array& a) { fr::set_policy(a, fr::array_policy()), fr::clear_policy(a); }});
  fr::extents<Rank> e;
  for (std::size_t d = 0; d != Rank; ++d) e[d] = 4;
  check_moved<array>(
      name, [=] { return array(e, 1); }, u);
}

}  // namespace
}  // namespace unified_moved_objects

BOOST_AUTO_TEST_SUITE(unified_moved_objects, *boost::unit_test::precondition(support::devices_are_simulated))

BOOST_AUTO_TEST_CASE(arrays) {
  check_verbs<0>("unified_array of rank 0");
  check_verbs<1>("unified_array");
}

BOOST_AUTO_TEST_CASE(sources_of_batches) {
  using array = fr::host_array<int>;
  support::uses_of<array> u;
  u.may = {{"batches",
            [](array& a) {
              for (auto piece : fr::batches(a, {.size = 2})) fr::fill(fr::device_array<int>(piece.extents()), 1);
            }},
           {"batches of out", [](array& a) {
              for (auto piece : fr::batches(fr::out(a), {.size = 2})) fr::fill(piece, 1);
            }}};
  check_moved<array>(
      "host_array", [] { return array({5}, 1); }, u);

  const std::string path = std::filesystem::temp_directory_path() / "ferry_moved_batches.npy";
  fr::save_npy(path, fr::host_array<int>({5}, 3));
  using map = fr::npy_map<int, 1>;
  support::uses_of<map> m;
  m.must = {{"batches", [](map& a) {
               for (auto piece : fr::batches(a, {.size = 2})) (void)piece.size();
             }}};
  check_moved<map>(
      "npy_map", [&] { return map(path); }, m);
  std::filesystem::remove(path);
}

BOOST_AUTO_TEST_CASE(tuners) {
  support::uses_of<fr::tuner> u;
  u.may = {{"run",
            [](fr::tuner& t) {
              fr::unified_array<int> a({10}, 1);
              t = fr::tuner({.warm_up = 0, .repeats = 1});
              t.add(a.name("a"));
            }},
           {"candidates", [](fr::tuner& t) { t.usual_candidates(); }}};
  u.default_is_whole = true;
  check_moved<fr::tuner>(
      "tuner", [] { return fr::tuner({.warm_up = 0, .repeats = 1}); }, u);
}

BOOST_AUTO_TEST_SUITE_END()
