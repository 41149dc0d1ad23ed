// Names and tags are counted separately, however many there are.
#include <array>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>
#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>
#include <ferry/core/memory_snapshot.hpp>

#include "ferry/core/detail/accounting/memory_accounting.hpp"

namespace fr = ferry;

namespace memory_labels {
namespace {

constexpr std::size_t KiB = std::size_t{1} << 10, MiB = KiB << 10;

fr::device_array<char> device_bytes(std::size_t n) { return fr::device_array<char>({n}); }

std::size_t bytes_of(const std::string& label, bool is_tag) {
  for (const auto& l : fr::memory_use().labels)
    if (l.label == label && l.is_tag == is_tag) return l.current_bytes;
  return 0;
}

bool is_refused(std::size_t bytes) {
  try {
    (void)device_bytes(bytes);
    return false;
  } catch (const fr::out_of_memory&) {
    return true;
  }
}

boost::test_tools::assertion_result devices_are_simulated(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result ok(fr::runtime::current().is_simulated());
  ok.message() << "needs simulated devices: CUDA does not survive a fork";
  return ok;
}

// Runs part of a test in its own process, because labels are numbered for a process's lifetime. Returns the first
// mismatch; empty if there is none.
template <class Body>
std::string in_a_child(Body body) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return "no pipe";
  const pid_t pid = ::fork();
  if (pid == 0) {
    std::string wrong;
    try {
      wrong = body();
    } catch (const std::exception& e) {
      wrong = std::string("threw: ") + e.what();
    }
    wrong += '.';
    const ssize_t written = ::write(ends[1], wrong.data(), wrong.size());
    ::_exit(written < 0);
  }
  ::close(ends[1]);
  std::string told;
  std::array<char, 512> some;
  for (ssize_t n = 0; (n = ::read(ends[0], some.data(), some.size())) > 0;)
    told.append(some.data(), static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = 0;
  ::waitpid(pid, &status, 0);
  if (told.empty() || told.back() != '.') return "the child ended early, with status " + std::to_string(status);
  told.pop_back();
  return told;
}

}  // namespace
}  // namespace memory_labels

BOOST_AUTO_TEST_SUITE(memory_labels)

BOOST_AUTO_TEST_CASE(an_array_named_as_a_tag_does_not_count_under_it) {
  for (const fr::pool_kind kind : {fr::pool_kind::split, fr::pool_kind::driver, fr::pool_kind::none}) {
    fr::simulation sim("devices=1;memory=64MiB", {.kind = kind});
    fr::set_memory_limit({.tag = "twofold"}, {.hard = "1MiB"});
    auto plain = device_bytes(4 * MiB);
    plain.name("twofold");
    BOOST_TEST((bytes_of("twofold", true) == 0u && bytes_of("twofold", false) == 4 * MiB));
    BOOST_TEST(sim.get().memory().limits().used_bytes({.tag = "twofold"}) == 0u);
    const fr::memory_tag_scope scope{"twofold"};
    {
      auto tagged = device_bytes(MiB);
      tagged.name("twofold");  // has a name and a tag: counts once under each
      BOOST_TEST((bytes_of("twofold", true) == MiB && bytes_of("twofold", false) == 5 * MiB));
      BOOST_TEST(is_refused(KiB));
    }
    BOOST_TEST(!is_refused(MiB));
    BOOST_TEST((bytes_of("twofold", true) == 0u && bytes_of("twofold", false) == 4 * MiB));
  }
}

// Snapshots list names and tags.
BOOST_AUTO_TEST_CASE(snapshots_tell_a_name_from_a_tag) {
  fr::simulation sim("devices=1;memory=64MiB");
  fr::memory_recording recording;
  std::vector<fr::device_array<char>> held;
  {
    const fr::memory_tag_scope scope{"first tag"};
    held.push_back(device_bytes(MiB));
  }
  held.push_back(device_bytes(2 * MiB));
  held.back().name("a name");
  bool tagged = false, named = false;
  for (const fr::pool_blocks& p : recording.snapshot().pools)
    for (const fr::detail::block_info& b : p.blocks) {
      const std::string tag = fr::detail::label_text(fr::detail::label_kind::tag, b.tag),
                        name = fr::detail::label_text(fr::detail::label_kind::name, b.name);
      tagged = tagged || (tag == "first tag" && name.empty() && b.bytes >= MiB);
      named = named || (tag.empty() && name == "a name" && b.bytes >= 2 * MiB);
    }
  BOOST_TEST((tagged && named));
  const std::string json = recording.snapshot().json();
  BOOST_TEST((json.find("\"first tag\"") != json.npos && json.find("\"a name\"") != json.npos));
}

BOOST_AUTO_TEST_CASE(many_names_leave_tags_and_limits_alone, *boost::unit_test::precondition(devices_are_simulated)) {
  const std::string wrong = in_a_child([]() -> std::string {
    fr::simulation sim("devices=1;memory=64MiB");
    auto a = device_bytes(512);
    for (std::size_t i = 0; i < 2 * fr::detail::most_names; ++i) a.name("array " + std::to_string(i));
    auto b = device_bytes(1024);
    b.name("one more");
    std::string status;
    for (const auto& l : fr::memory_use().labels)
      if (!l.is_tag && l.label.starts_with("(other names")) status = l.label + " " + std::to_string(l.current_bytes);
    if (!status.ends_with(" 1536")) return "status of other names: " + status;
    b.name("array 7");  // has its own account
    if (bytes_of("array 7", false) != 1024) return "an early name is not counted";
    for (int i = 0; i < 5000; ++i) {
      const fr::memory_tag_scope other{"other tag " + std::to_string(i)};
      const auto c = device_bytes(512);
    }
    fr::set_memory_limit({.tag = "late tag"}, {.hard = "1MiB"});
    const fr::memory_tag_scope unlimited{"late tag without a limit"};
    const auto large = device_bytes(4 * MiB);
    if (bytes_of("late tag", true) != 0) return "the limited tag counts what another has";
    const fr::memory_tag_scope limited{"late tag"};
    if (is_refused(MiB)) return "the limit refuses what it should allow";
    const auto most = device_bytes(MiB);
    if (!is_refused(512)) return "the limit allows too much";
    if (bytes_of("late tag", true) != MiB) return "the limited tag counts something else";
    return "";
  });
  BOOST_TEST(wrong == "");
}

// A tag that would share an account with others is refused.
BOOST_AUTO_TEST_CASE(too_many_tags_are_refused, *boost::unit_test::precondition(devices_are_simulated)) {
  const std::string wrong = in_a_child([]() -> std::string {
    fr::simulation sim("devices=1;memory=64MiB");
    const fr::detail::memory_label known = fr::detail::intern_tag("known");
    for (std::size_t i = known + 1; i < fr::detail::most_tags; ++i) (void)fr::detail::intern_tag(std::to_string(i));
    try {
      const fr::memory_tag_scope one_more{"one more"};
      return "one more tag was accepted";
    } catch (const fr::invalid_argument& e) {
      if (std::string(e.what()).find("cannot tag memory with 'one more'") == std::string::npos) return e.what();
    }
    const fr::memory_tag_scope scope{"524287"};  // the last one
    const auto a = device_bytes(MiB);
    if (bytes_of("524287", true) != MiB) return "the last tag is not counted";
    return fr::detail::intern_tag("known") == known ? "" : "a known tag has another number now";
  });
  BOOST_TEST(wrong == "");
}

BOOST_AUTO_TEST_SUITE_END()
