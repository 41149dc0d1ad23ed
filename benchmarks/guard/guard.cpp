// The CPU cost of ordering per submission, with the null backend and with the real one.
#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>

#include "../../tests/support/counting_backend.hpp"
#include "../support/null_backend.hpp"
#include "../support/suite.hpp"
#include "operations.hpp"
#include "raw_events.hpp"

namespace bm = benchmarks;

namespace {

// All measurements on one runtime; constructed while that runtime is current.
class questions {
 public:
  explicit questions(std::string below)
      : below_(std::move(below)),
        one_(d_),
        two_(d_),
        four_(d_),
        handed_(d_),
        raw_(ferry::runtime::current().backend()),
        inputs_{ferry::device_array<float>({1024}, d_), ferry::device_array<float>({1024}, d_)},
        readers_{{d_, inputs_[0]}, {d_, inputs_[0]}, {d_, inputs_[0]}, {d_, inputs_[1]}} {}

  void add_to(bm::suite& s) {
    using bm::bound;
    const auto own = [&](const char* text, auto& arrays, double limit) {  // the bounds apply to the real backend
      s.add({name(text),
             "ns",
             bm::on_cpu([&arrays] { arrays.submit(); }),
             "",
             {},
             below_ == "cuda" ? bound::value_at_most(limit, "ns") : bound::none()});
    };
    // Contains no ferry code: shows when the CPU itself is slow.
    s.add({name("an atomic increment, for reference"),
           "ns",
           bm::on_cpu([this] { ++reference_; }),
           "",
           {},
           bound::none()});
    own("guard of 1 array, own stream", one_, 20);
    own("guard of 2 arrays, own stream", two_, 35);
    own("guard of 4 arrays, own stream", four_, 60);
    const auto hand_over = bm::on_cpu_drained(
        64, [&] { handed_.submit(); }, [&] { handed_.drain(); });
    const auto raw = bm::on_cpu_drained(
        64, [&] { raw_.run(); }, [&] { raw_.drain(); });
    s.add({name("hand-over to another stream"), "ns", hand_over, "record and wait", raw,
           bound::excess_at_most(100, "ns")});
    add_threads(
        s, "two threads, guards only", [] {}, bound::none());
    add_threads(s, "two threads, guards and 2.5 us of launch", bm::pretend_to_launch, bound::ratio_at_most(1.10));
  }

 private:
  std::string name(const char* text) const { return std::string(text) + " (" + below_ + ")"; }
  template <class Launch>
  void add_threads(bm::suite& s, const char* text, Launch launch, bm::bound limit) {
    const auto body = [&](int i) { return bm::on_cpu([r = &readers_[i], launch] { r->submit(launch); }); };
    s.add({name(text), "ns", bm::by_two_threads(body(0), body(1)), "nothing shared",
           bm::by_two_threads(body(2), body(3)), limit});
  }
  const std::string below_;
  const ferry::device d_{0};
  bm::owned_arrays<1> one_;
  bm::owned_arrays<2> two_;
  bm::owned_arrays<4> four_;
  bm::handed_over handed_;
  bm::raw_hand_over raw_;
  ferry::device_array<float> inputs_[2];
  bm::reader readers_[4];
  std::atomic<std::uint64_t> reference_{0};
};

// The number of backend calls of a thousand guards.
template <std::size_t Count>
bm::result calls_of_guards(ferry::detail::backend& below, const std::string& name) {
  support::call_counts calls;
  ferry::runtime_scope counting(std::make_unique<support::counting_backend>(below, calls));
  bm::owned_arrays<Count> arrays(ferry::device(0));
  const long before = calls.all;
  for (int i = 0; i < 1000; ++i) arrays.submit();
  return {"calls to " + name + " by guards of " + std::to_string(Count) + ", own stream",
          "",
          static_cast<double>(calls.all - before) / 1000,
          "",
          0,
          0,
          0,
          bm::bound::value_at_most(0, "calls")};
}

}  // namespace

int main(int argc, char** argv) {
  bm::suite s(argc, argv, {});
  ferry::runtime& real = ferry::runtime::current();
  std::unique_ptr<questions> on_real;
  if (!real.is_simulated()) {
    on_real = std::make_unique<questions>("cuda");
    on_real->add_to(s);
    s.state(calls_of_guards<4>(real.backend(), "cuda"));
  }
  bm::null_backend nothing;
  s.state(calls_of_guards<1>(nothing, "the backend"));
  s.state(calls_of_guards<2>(nothing, "the backend"));
  s.state(calls_of_guards<4>(nothing, "the backend"));
  ferry::runtime_scope null_machine(std::make_unique<bm::null_backend>());
  questions on_null("null");
  on_null.add_to(s);
  return s.run();
}
