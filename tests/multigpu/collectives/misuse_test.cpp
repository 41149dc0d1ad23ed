// Wrong calls name the error, and submit nothing.
#include "cases.hpp"

using namespace collectives;

namespace misuse_of_collectives {
namespace {

struct two_devices {
  fr::simulation runtime{"devices=3"};
  fr::team t = first_devices(2);
};

}  // namespace
}  // namespace misuse_of_collectives

BOOST_FIXTURE_TEST_SUITE(misuse_of_collectives, two_devices)

BOOST_AUTO_TEST_CASE(arrays_that_do_not_fit) {
  auto a = give<int>(t, 10), b = give<int>(t, 7);
  std::vector<fr::device_array<int>> uneven;
  uneven.push_back(fr::device_array<int>({10}, 1, t.device(0)));
  check_error<fr::invalid_argument>([&] { fr::all_reduce(t, uneven, fr::plus{}); }, {"1 arrays for 2 members"});
  uneven.push_back(fr::device_array<int>({11}, 1, t.device(1)));
  check_error<fr::invalid_argument>([&] { fr::all_reduce(t, uneven, fr::plus{}); },
                                    {"member 1 has 11 elements, and 10 are needed"});
  check_error<fr::invalid_argument>([&] { fr::all_gather(t, a, b); }, {"all_gather", "7 elements, and 20"});
  check_error<fr::invalid_argument>([&] { fr::all_to_all(t, b, b); }, {"7 elements cannot be divided evenly among 2"});
  check_error<fr::invalid_argument>([&] { fr::all_gather(t, b); }, {"7 elements cannot be divided evenly among 2"});
  check_error<fr::invalid_argument>([&] { fr::broadcast(t, a, 2); }, {"the root is rank 2 of a team of 2"});
}

BOOST_AUTO_TEST_CASE(arrays_in_the_wrong_place) {
  std::vector<fr::device_array<int>> crossed;
  crossed.push_back(fr::device_array<int>({10}, 1, t.device(1)));
  crossed.push_back(fr::device_array<int>({10}, 1, t.device(0)));
  crossed.front().name("field");
  check_error<fr::invalid_argument>([&] { fr::all_reduce(t, crossed, fr::plus{}); },
                                    {"array 'field' of member 0 lies on device 1", "the member is device 0"});
  fr::unified_array<int, 2> u({4, 4}, 1);
  std::vector<fr::array_view<int, 2, fr::memory_kind::unified>> columns{u.slice({fr::all_of, {0, 2}}),
                                                                        u.slice({fr::all_of, {2, 4}})};
  check_error<fr::invalid_argument>([&] { fr::all_reduce(t, columns, fr::plus{}); }, {"strided", "clone()"});
  auto a = give<int>(t, 4);
  a[1].free();
  BOOST_CHECK_THROW(fr::all_reduce(t, a, fr::plus{}), fr::use_after_free);
}

BOOST_AUTO_TEST_CASE(buffers_that_overlap) {
  fr::unified_array<int> u({30}, 1);
  std::vector<fr::array_view<int, 1, fr::memory_kind::unified>> same{u.slice({0, 10}), u.slice({5, 15})};
  check_error<fr::invalid_argument>([&] { fr::all_reduce(t, same, fr::plus{}); }, {"overlaps an array of member"});
  std::vector<fr::array_view<int, 1, fr::memory_kind::unified>> from{u.slice({0, 10}), u.slice({10, 20})},
      shifted{u.slice({1, 11}), u.slice({20, 30})};
  check_error<fr::invalid_argument>([&] { fr::all_reduce(t, from, shifted, fr::plus{}); }, {"overlap"});
  auto a = give<int>(t, 4), b = give<int>(t, 4);
  fr::collective_group g(t);
  g.all_reduce(a, b, fr::plus{});
  check_error<fr::invalid_argument>([&] { g.all_reduce(b, fr::plus{}); }, {"of the same"});
  g.submit();  // the group's earlier calls are unchanged
  BOOST_TEST((fr::to_vector(b[1])[2] == combined<int>(2, 2, fr::plus{})));
}

BOOST_AUTO_TEST_CASE(sends_without_receives) {
  auto a = give<int>(t, 4), b = give<int>(t, 5);
  check_error<fr::invalid_argument>([&] { fr::collective_group(t).send(a[0], 0, 1).submit(); },
                                    {"1 sends and 0 receives from rank 0 to rank 1"});
  check_error<fr::invalid_argument>([&] { fr::collective_group(t).receive(a[0], 0, 1).submit(); },
                                    {"0 sends and 1 receives from rank 1 to rank 0"});
  check_error<fr::invalid_argument>([&] { fr::collective_group(t).send(a[0], 0, 1).receive(b[1], 1, 0).submit(); },
                                    {"differ", "4 elements", "5 of type"});
  check_error<fr::invalid_argument>([&] { fr::collective_group(t).send(a[0], 0, 0); }, {"itself"});
  check_error<fr::invalid_argument>([&] { fr::collective_group(t).send(a[0], 0, 5); }, {"rank 5 of a team of 2"});
}

BOOST_AUTO_TEST_CASE(the_first_one_inside_a_capture) {
  auto a = give<int>(t, 4);
  check_error<fr::invalid_argument>([&] { (void)fr::capture(t[0], [&] { fr::all_reduce(t, a, fr::plus{}); }); },
                                    {"first collective", "before ferry::capture"});
  fr::all_reduce(t, a, fr::plus{});
  BOOST_CHECK_NO_THROW((void)fr::capture(t[0], [&] { fr::all_reduce(t, a, fr::plus{}); }));
}

BOOST_AUTO_TEST_SUITE_END()
