// Results computed from lost bytes are lost, too (R19), on any device. All other results stay valid.
#include <array>
#include <boost/test/unit_test.hpp>
#include <string>
#include <utility>
#include <vector>

#include "race/lost_work.hpp"

BOOST_AUTO_TEST_SUITE(lost_work)

BOOST_AUTO_TEST_CASE(what_other_devices_compute_from_it) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0), z = filled(0), apart = filled(5), before = filled(0);
    for (const array* a : {&x, &y, &z, &apart, &before}) (void)a->begin();
    fr::scalar<std::int64_t> sum(fr::devices()[2]);
    fr::parallel_for(s[1], size, set_to{3}, before);
    tries([&] { fr::parallel_for(s[0], size, breaks{}, x); });
    bool all = tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(x), y); });
    all = tries([&] { fr::parallel_for(s[2], size, add_to{}, fr::in(y), z); }) && all;
    const bool reduced = tries([&] { sum = fr::parallel_reduce(s[2], size, element{}, fr::plus{}, fr::in(z)); });
    for (int i = 0; i < 3; ++i) {
      BOOST_CHECK_THROW((void)std::as_const(x)[1], fr::device_error);
      if (all) {
        BOOST_CHECK_THROW((void)std::as_const(z)[1], fr::device_error);
        BOOST_CHECK_THROW((void)fr::to_vector(z), fr::device_error);
        BOOST_CHECK_THROW((void)y.begin(), fr::device_error);
        if (reduced) BOOST_CHECK_THROW((void)sum.value(), fr::device_error);
        BOOST_CHECK_THROW(fr::parallel_for(s[2], size, add_to{}, fr::in(z), apart), fr::device_error);
      }
    }
    BOOST_TEST((apart[3] == 5 && before[7] == 3));
    // New work of these streams, and of others.
    fr::parallel_for(s[2], size, add_to{}, fr::in(before), apart);
    fr::stream fresh{fr::devices()[1]};
    fr::parallel_for(fresh, size, add_to{}, fr::in(apart), before);
    BOOST_TEST((apart[3] == 8 && before[7] == 11 && fr::to_vector(before)[0] == 11));
  });
}

BOOST_AUTO_TEST_CASE(the_text_names_the_failure_once) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0);
    (void)x.begin(), (void)y.begin();
    tries([&] { fr::parallel_for(s[0], size, breaks{}, x); });
    if (!tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(x), y); })) return;
    const std::string text = support::failure_of<fr::device_error>([&] { (void)std::as_const(y)[1]; });
    BOOST_TEST(text.find("work of device 1 may have read what device 0 wrote, which failed before that was known to be "
                         "complete") != std::string::npos,
               text);
    BOOST_TEST(text.find("ferry: ") == text.rfind("ferry: "), text);
  });
}

// Waiting only for other streams' reads (write after read), or reusing freed bytes, loses nothing.
BOOST_AUTO_TEST_CASE(an_order_that_carries_no_data) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(4), y = filled(0), apart = filled(0);
    (void)x.begin(), (void)y.begin();
    if (!tries([&] { fr::parallel_for(s[0], size, add_to{}, fr::in(x), y); })) return;
    tries([&] { fr::parallel_for(s[0], size, breaks{}, y); });
    if (!tries([&] { fr::parallel_for(s[1], size, set_to{9}, x); })) return;
    fr::parallel_for(s[1], size, add_to{}, fr::in(x), apart);
    BOOST_TEST((apart[5] == 9 && x[5] == 9));
    BOOST_CHECK_THROW((void)y[0], fr::device_error);
  });
}

// The host reads y each time while s[0] is healthy: only work from after the failure is lost.
BOOST_AUTO_TEST_CASE(what_was_over_before_stays) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0);
    std::vector<array> y;
    for (int i = 0; i < 6; ++i) {
      y.push_back(filled(0));
      fr::parallel_for(s[0], size, set_to{i}, x);
      fr::parallel_for(s[1], size, add_to{}, fr::in(x), y.back());
      BOOST_TEST(std::as_const(y.back())[2] == i);
    }
    tries([&] { fr::parallel_for(s[0], size, breaks{}, x); });
    array z = filled(0);
    if (tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(x), z); }))
      BOOST_CHECK_THROW((void)z[0], fr::device_error);
    for (int i = 0; i < 6; ++i) BOOST_TEST(y[static_cast<std::size_t>(i)][2] == i);
  });
}

BOOST_AUTO_TEST_CASE(a_graph_is_lost_with_each_of_its_devices) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(1), y = filled(0);
    fr::graph g = fr::capture(s[1], [&] {
      fr::parallel_for(s[0], size, breaks{}, x);
      fr::parallel_for(s[1], size, add_to{}, fr::in(x), y);
    });
    fr::graph outer = fr::capture(s[2], [&] { g.launch(s[2]); });
    if (!tries([&] { outer.launch(s[2]); })) return;
    BOOST_CHECK_THROW((void)fr::to_vector(y), fr::device_error);
    BOOST_CHECK_THROW((void)x[0], fr::device_error);
    array z = filled(2);
    fr::parallel_for(s[2], size, set_to{3}, z);
    BOOST_TEST(z[0] == 3);
  });
}

// One part's bytes are lost, and the other part uses them.
BOOST_AUTO_TEST_CASE(a_joint_operation_is_lost_with_each_of_its_parts) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0), z = filled(0), before = filled(3);
    for (const array* a : {&x, &y, &z, &before}) (void)a->begin();
    fr::parallel_for(s[1], size, set_to{8}, before);
    tries([&] { fr::parallel_for(s[0], size, breaks{}, x); });
    if (!tries([&] { fr::parallel_for(s[2], size, add_to{}, fr::in(x), y); })) return;
    fr::detail::access of_y{&y.owner().get(), y.bytes(), false}, of_z{&z.owner().get(), z.bytes(), true};
    std::array<fr::detail::joint_guard::part, 2> parts{
        fr::detail::joint_guard::part(fr::detail::admission::unchecked(s[2].timeline(), {&of_y, 1})),
        fr::detail::joint_guard::part(fr::detail::admission::unchecked(s[1].timeline(), {&of_z, 1}))};
    const bool given = tries([&] {
      const fr::detail::joint_guard guard(parts);
      const auto m = std::make_shared<fr::detail::rendezvous>(fr::detail::rendezvous{"sum", 2, [] {}});
      for (const fr::stream* part : {&s[2], &s[1]})
        fr::runtime::current().backend().join_rendezvous(part->timeline().stream(), m, {});
    });
    if (given) BOOST_CHECK_THROW((void)z[0], fr::device_error);
    BOOST_TEST(before[1] == 8);
  });
}

// The copy's first half runs on a device that fails meanwhile, because of unrelated work.
BOOST_AUTO_TEST_CASE(a_staged_copy_is_lost_with_each_of_its_devices) {
  over_seeds("peers=none;", [](std::vector<fr::stream>& s) {
    fr::device_array<int> there({size}, fr::devices()[0]), here({size}, fr::devices()[1]);
    array x = filled(0), other = filled(4);
    fr::fill(s[0], there, 7), fr::copy(s[1], there, here);  // creates the copy's resources
    s[1].synchronize(), fr::fill(s[0], there, 6);
    s[0].synchronize(), s[1].synchronize(), (void)x.begin(), (void)other.begin();
    fr::stream beside{fr::devices()[0]};
    tries([&] { fr::parallel_for(beside, size, breaks{}, x); });
    if (tries([&] { fr::copy(s[1], there, here); }))
      if (std::vector<int> got; tries([&] { got = fr::to_vector(here); })) BOOST_TEST(got == std::vector<int>(size, 6));
    BOOST_TEST(fr::to_vector(other) == std::vector<int>(size, 4));
  });
}

// Beyond the limit per stream, dependences are merged: more work may count as lost, never less.
BOOST_AUTO_TEST_CASE(many_dependences) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0);
    const int good = 20;
    bool given = true;
    for (int i = 0; i < good; ++i) {
      fr::parallel_for(s[0], size, set_to{1}, x);
      fr::parallel_for(s[1], size, add_to{}, fr::in(x), y);
    }
    given = tries([&] { fr::parallel_for(s[0], size, breaks{}, x); }) && given;
    given = tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(x), y); }) && given;
    array other = filled(0), sum = filled(0);
    for (int i = 0; given && i < 40; ++i) {  // enough to merge them
      fr::parallel_for(s[2], size, set_to{1}, other);
      given = tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(other), sum); });
    }
    if (given)
      BOOST_CHECK_THROW((void)y[0], fr::device_error);
    else if (std::vector<int> got; tries([&] { got = fr::to_vector(y); }))
      BOOST_TEST(got == std::vector<int>(size, good));
  });
}

BOOST_AUTO_TEST_CASE(a_raw_pointer_of_a_stream_that_lost_work) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0), z = filled(0);
    int* const p = fr::pointer(z, s[1]);
    tries([&] { fr::parallel_for(s[0], size, breaks{}, x); });
    if (!tries([&] { fr::parallel_for(s[1], size, add_to{}, fr::in(x), y); })) return;
    const fr::detail::kernel_use use{reinterpret_cast<const std::byte*>(p), size * sizeof(int), true, true};
    fr::runtime::current().backend().launch(
        s[1].timeline().stream(), {"own", {&use, 1}, [p](const fr::detail::relocation& move) { move(p)[0] = 7; }});
    BOOST_CHECK_THROW((void)y[0], fr::device_error);
    BOOST_CHECK_THROW((void)z[0], fr::device_error);
    BOOST_CHECK_THROW(fr::parallel_for(s[1], size, set_to{1}, x), fr::device_error);
    fr::stream again{fr::devices()[1]};  // not the old stream, which refuses more work
    fr::parallel_for(again, size, set_to{1}, x = filled(0));
    BOOST_TEST(x[0] == 1);
  });
}

BOOST_AUTO_TEST_CASE(waiting_for_a_stream_of_a_device_that_failed) {
  over_seeds("", [](std::vector<fr::stream>& s) {
    array x = filled(0), y = filled(0);
    s[2].wait(s[1]);
    if (!tries([&] {
          fr::parallel_for(s[0], size, breaks{}, x);
          fr::parallel_for(s[1], size, add_to{}, fr::in(x), y);
        }))
      return;
    find_failure(s[0]);
    BOOST_CHECK_THROW(s[2].wait(s[0]), fr::device_error);
    s[2].wait(s[1]);  // the later work of s[1] may be good
    s[1].wait(s[2]);
  });
}

BOOST_AUTO_TEST_SUITE_END()
