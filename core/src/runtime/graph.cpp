#include "ferry/core/graph.hpp"

#include <cstdio>

#include "ferry/core/detail/runtime/submission.hpp"
#include "ferry/core/detail/runtime/unified_pages.hpp"
#include "ferry/core/error.hpp"
#include "ferry/core/runtime.hpp"
#include "ordering/capture.hpp"
#include "runtime/other_runtime.hpp"
#include "runtime/runtime_registry.hpp"

namespace ferry::inline FERRY_ABI {

using namespace detail;

struct graph::state {
  captured_graph captured;
  std::uint64_t serial = 0;
  timeline* last_on = nullptr;
  ticket last_at = 0;
  ~state() {
    try {
      runtime_registry::if_alive(serial, [&](runtime& m) {
        if (last_on) last_on->wait(last_at);
        m.backend().destroy_graph(captured.graph);
      });
    } catch (const error&) {  // a failed device: process exit releases its graphs
    }
  }
};

namespace {

// The launch has succeeded, so an exception of a listener must not reach the caller of launch(): reports it on stderr.
void tell(const std::function<void(timeline&)>& f, timeline& on) noexcept {
  try {
    f(on);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "ferry: a listener of a graph's launches threw: %s\n", plain_what(e));
  } catch (...) {
    std::fprintf(stderr, "ferry: a listener of a graph's launches threw what is no std::exception\n");
  }
}

}  // namespace

graph::graph(owning_ptr<state> s) : state_(std::move(s)) {}
graph::graph() noexcept = default;
graph::graph(graph&&) noexcept = default;
graph& graph::operator=(graph&&) noexcept = default;
graph::~graph() = default;

void graph::launch(stream_ref s, source_line at) {
  if (!state_)
    throw invalid_argument(
        "the graph has no work: it was moved from, or nothing was assigned: use g = fr::capture(s, body)");
  runtime& m = runtime::current();
  if (state_->serial != m.serial()) throw_other_runtime("the graph");
  for (const allocation_ref& r : state_->captured.keep) (void)r.get(at);
  std::vector<access> uses = state_->captured.uses;
  for (const int d : state_->captured.page_users) m.pages().test_links(d);
  const admission admitted = admit(s, uses, reach::by_library);
  if (this_thread_state.capture) this_thread_state.capture->launches(state_.get());
  {
    access_guard guard(admitted);
    for (const int d : state_->captured.devices) takes_part(s.timeline(), d);
    m.backend().launch_graph(state_->captured.graph, s.timeline().stream());
  }
  if (!this_thread_state.capture) {
    state_->last_on = &s.timeline();
    state_->last_at = s.timeline().last();
  }
  for (const auto& f : state_->captured.effects) f();
  for (const auto& f : state_->captured.listeners)
    if (this_thread_state.capture)  // nothing runs now: call f at each launch of the outer graph
      this_thread_state.capture->when_launched(f);
    else
      tell(f, s.timeline());
}

void when_launched(launch_listener f) {
  if (!this_thread_state.capture) throw invalid_argument("when_launched outside of a capture: there is no graph");
  this_thread_state.capture->when_launched([f = std::move(f)](timeline& on) { f(stream_ref(on)); });
}

namespace detail {
std::uint64_t current_capture() { return this_thread_state.capture ? this_thread_state.capture->serial() : 0; }
void at_each_launch(std::function<void()> f) { this_thread_state.capture->at_each_launch(std::move(f)); }
}  // namespace detail

graph capture(stream_ref s, detail::function_ref<void()> body) {
  need_current(s);
  capture_session session(s.timeline());
  body();
  auto made = make_owning<graph::state>();
  made->serial = runtime::current().serial();
  made->captured = session.finish();
  return graph(std::move(made));
}

}  // namespace ferry::inline FERRY_ABI
