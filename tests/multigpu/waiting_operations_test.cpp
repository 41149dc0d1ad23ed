// Which operations wait for other processes in vain. The processes are made up; streams that matter are those of a
// simulated device.
#include "transport/waiting_operations.hpp"

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "support/busy_stream.hpp"
#include "transport/enqueued_operation.hpp"

namespace fr = ferry;
using namespace std::chrono_literals;

namespace waiting_operations {
namespace {

class made_up final : public fr::detail::processes {
 public:
  explicit made_up(std::chrono::steady_clock::duration patience) : patience_(patience) {}
  std::size_t rank() const override { return 0; }
  std::size_t size() const override { return 3; }
  std::span<const std::size_t> neighbours() const override { return {}; }
  void exchange(std::span<const outgoing>, std::span<const incoming>, std::string_view) override {}
  void fail(const std::string&) noexcept override {}
  [[noreturn]] void end_all(const std::string&) noexcept override { std::abort(); }
  bool allows_threads() const override { return true; }
  std::chrono::steady_clock::duration patience() const override { return patience_; }
  std::string trouble() override { return {}; }
  std::vector<departure> departed() override { return ++asked, gone; }
  std::vector<departure> gone;
  int asked = 0;

 private:
  const std::chrono::steady_clock::duration patience_;
};

struct made_up_progress final : fr::detail::stream_progress {
  struct state {
    bool begun = true, over = false;
    int asked = 0, asked_whether_begun = 0;
  };
  made_up_progress(state& s, const fr::detail::timeline* on) : is(s), line(on) {}
  std::vector<const fr::detail::timeline*> streams() const override { return {line}; }
  bool has_begun() override { return ++is.asked_whether_begun, is.begun; }
  bool is_over() override { return ++is.asked, is.over; }
  state& is;
  const fr::detail::timeline* line;
};

// Streams are compared, but not used.
const fr::detail::timeline* line(int n) {
  static const char names[4] = {};
  return reinterpret_cast<const fr::detail::timeline*>(names + n);
}

struct fixture {
  explicit fixture(std::chrono::steady_clock::duration patience = 600s) : all(patience) {}
  void give(made_up_progress::state& s, const char* what, const fr::detail::joint_part& part, int stream = 0) {
    std::list<fr::detail::waiting_operations::operation> one;
    one.push_back({what, all.parts().enqueue(part), std::make_unique<made_up_progress>(s, line(stream)), {}});
    waiting.add(std::move(one));
  }
  std::string overdue(std::chrono::seconds at) { return waiting.overdue(all, start + at); }
  made_up all;
  fr::detail::waiting_operations waiting;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

const fr::detail::joint_part collective{1, {}, {}};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace
}  // namespace waiting_operations

BOOST_AUTO_TEST_SUITE(waiting_operations)

BOOST_AUTO_TEST_CASE(an_uninvolved_process_may_leave) {
  fixture f;
  made_up_progress::state s;
  f.give(s, "a receive", {0, {}, {1}});
  f.all.gone = {{2, {}}};
  BOOST_TEST(f.overdue(0s) == "");
  BOOST_TEST(f.overdue(500s) == "");
  f.all.gone = {{1, {}}, {2, {}}};
  BOOST_TEST(f.overdue(501s) == "process 0 waited in a receive for process 1, which ended without taking part");
  f.all.gone = {{1, {.sends = 1}}, {2, {}}};
  s.over = true;
  BOOST_TEST(f.overdue(502s) == "");
  BOOST_TEST(f.waiting.size() == 0u);
}

// A device query may block while an NCCL call waits: whether a process left is known without it.
BOOST_AUTO_TEST_CASE(departures_are_reported_before_device_queries) {
  fixture f;
  made_up_progress::state s;
  f.give(s, "a receive", {0, {}, {1}});
  f.all.gone = {{1, {}}};
  BOOST_TEST(contains(f.overdue(0s), "for process 1, which ended"));
  BOOST_TEST((s.asked == 0 && s.asked_whether_begun == 0));
}

BOOST_AUTO_TEST_CASE(a_process_that_took_part_may_leave) {
  fixture f;
  made_up_progress::state s{.begun = false};  // waits for long work of this process
  f.give(s, "a reduction", collective);
  f.give(s, "a receive", {0, {}, {1}});  // small: the sender does not wait for the receiver
  f.all.gone = {{1, {.collectives = 1, .sends = 1}}, {2, {.collectives = 1}}};
  BOOST_TEST(f.overdue(0s) == "");
  BOOST_TEST(f.overdue(10'000s) == "");
  f.give(s, "one more", collective);
  BOOST_TEST(f.overdue(10'001s) == "process 0 waited in one more for processes 1, 2, which ended without taking part");
}

BOOST_AUTO_TEST_CASE(patience_begins_when_nothing_of_this_process_is_waited_for) {
  fixture f;
  made_up_progress::state first{.begun = false}, second, elsewhere{.begun = false};
  f.give(first, "the first", collective);
  f.give(second, "the second", collective);
  f.give(elsewhere, "another", collective, 1);
  BOOST_TEST(f.overdue(0s) == "");
  BOOST_TEST(f.overdue(1000s) == "");
  first.begun = true;
  BOOST_TEST(f.overdue(1001s) == "");
  BOOST_TEST(f.overdue(1600s) == "");
  first.over = true;
  BOOST_TEST(f.overdue(1700s) == "");
  BOOST_TEST(f.waiting.size() == 2u);
  BOOST_TEST(f.overdue(2299s) == "");  // waited for the first until then
  BOOST_TEST(contains(f.overdue(2300s), "process 0 waited 600 s in the second (FERRY_COLLECTIVE_TIMEOUT"));
  second.over = elsewhere.begun = true;
  BOOST_TEST(f.overdue(2301s) == "");
  BOOST_TEST(contains(f.overdue(2901s), "600 s in another"));
}

BOOST_AUTO_TEST_CASE(what_is_behind_another_stream_is_seen) {
  fixture f;
  made_up_progress::state long_one{.begun = false}, stuck;
  f.give(long_one, "behind long work", collective);
  f.give(stuck, "stuck", collective, 1);
  BOOST_TEST(f.overdue(0s) == "");
  BOOST_TEST(contains(f.overdue(600s), "600 s in stuck"));
}

BOOST_AUTO_TEST_CASE(being_given_does_not_count_once_it_turns_out_that_it_is_behind_other_work) {
  fixture f;
  made_up_progress::state s;
  f.give(s, "it", collective);
  BOOST_TEST(f.overdue(0s) == "");
  s.begun = false;
  BOOST_TEST(f.overdue(1s) == "");
  s.begun = true;
  BOOST_TEST(f.overdue(700s) == "");
  BOOST_TEST(f.overdue(1299s) == "");
  BOOST_TEST(contains(f.overdue(1300s), "600 s in it"));
}

BOOST_AUTO_TEST_CASE(without_a_timeout_others_may_be_late_but_not_gone) {
  fixture f(0s);
  made_up_progress::state s;
  f.give(s, "a broadcast", collective);
  BOOST_TEST(f.overdue(0s) == "");
  BOOST_TEST(f.overdue(1'000'000s) == "");
  f.all.gone = {{2, {}}};
  BOOST_TEST(contains(f.overdue(1'000'001s), "for process 2, which ended"));
}

BOOST_AUTO_TEST_CASE(of_a_stream_only_the_first_is_queried) {
  fixture f;
  made_up_progress::state first, second, other;
  BOOST_TEST(f.overdue(0s) == "");
  BOOST_TEST(f.all.asked == 0);  // nothing waits
  f.give(first, "a", collective);
  f.give(second, "b", collective);
  f.give(other, "c", collective, 1);
  (void)f.overdue(0s);
  BOOST_TEST((first.asked == 1 && second.asked == 0 && other.asked == 1));
  first.over = second.over = true;
  (void)f.overdue(1s);
  BOOST_TEST((second.asked == 1 && f.waiting.size() == 1));
}

BOOST_AUTO_TEST_CASE(streams_tell_when_they_come_to_it) {
  const fr::simulation runtime("devices=2;schedule=random:1");
  {
    const fr::stream s{fr::device(0)}, t{fr::device(1)};
    fr::detail::event_stock events;
    support::busy_stream busy(s);
    fr::detail::timeline* const lines[] = {&s.timeline(), &t.timeline()};
    std::optional<fr::detail::enqueued_operation> both;
    s.timeline().in_turn([&] {
      t.timeline().in_turn([&] {
        both.emplace(events, lines);
        BOOST_TEST(!both->has_begun(), "whoever gives it may wait for what this stream has to do before");
        BOOST_TEST(!both->is_over());
      });
    });
    BOOST_TEST(!both->has_begun());
    BOOST_TEST(!both->is_over());
    BOOST_TEST(busy.is_busy());
    busy.release();
    s.synchronize(), t.synchronize();
    BOOST_TEST(both->has_begun());
    BOOST_TEST(both->is_over());
    fr::detail::enqueued_operation last(events, s.timeline());
    BOOST_TEST((last.has_begun() && last.is_over()));
  }
}

BOOST_AUTO_TEST_CASE(a_call_on_idle_streams_may_wait_for_others) {
  const fr::simulation runtime("devices=1;schedule=random:1");
  const fr::stream s;
  fr::detail::event_stock events;
  fr::detail::timeline* const lines[] = {&s.timeline()};
  std::optional<fr::detail::enqueued_operation> one;
  s.timeline().in_turn([&] {
    one.emplace(events, lines);
    bool has_begun = false;
    for (int i = 0; i < 100 && !has_begun; ++i) has_begun = one->has_begun();  // a query executes simulated work
    BOOST_TEST((has_begun && !one->is_over()));
  });
  s.synchronize();
  BOOST_TEST(one->is_over());
}

BOOST_AUTO_TEST_CASE(an_event_is_used_again) {
  const fr::simulation runtime("devices=2");
  fr::detail::backend& backend = fr::runtime::current().backend();
  fr::detail::event_stock events;
  const fr::native_event a = events.take(backend, 0), b = events.take(backend, 1);
  events.give_back(backend, 0, a);
  events.give_back(backend, 1, b);
  BOOST_TEST(events.take(backend, 1).handle == b.handle);
  const fr::native_event again = events.take(backend, 0);
  BOOST_TEST(again.handle == a.handle);
  events.give_back(backend, 0, again);
  events.give_back(backend, 1, b);
}

BOOST_AUTO_TEST_SUITE_END()
