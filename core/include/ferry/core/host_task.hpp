/// @file
/// Functions that the CPU runs in the order of a stream, between kernels and copies.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/kernels/call_checks.hpp"
#include "ferry/core/detail/kernels/captured_pointers.hpp"
#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/detail/kernels/simulated_launch.hpp"
#include "ferry/core/detail/kernels/staged_launch.hpp"
#include "ferry/core/detail/ordering/host_tasks.hpp"
#include "ferry/core/detail/ordering/timelines.hpp"
#include "ferry/core/struct_argument.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

namespace detail {

// A call of the program's function by a stream: once, or at each launch of a graph. The scope also covers the end of
// the function, which may free arrays.
template <class Call>
class host_call {
 public:
  host_call(Call call, std::shared_ptr<host_task_failures> failures, source_line at)
      : call_(std::move(call)),
        failures_(std::move(failures)),
        at_(at) {}
  ~host_call() {
    const host_task_scope inside;
    call_.reset();
  }
  host_call(const host_call&) = delete;
  host_call& operator=(const host_call&) = delete;
  void run() noexcept {
    const host_task_scope inside;
    try {
      (*call_)();
    } catch (...) {
      failures_->add(at_, std::current_exception());
    }
  }

 private:
  std::optional<Call> call_;
  const std::shared_ptr<host_task_failures> failures_;
  const source_line at_;
};

// Throws if the CPU cannot access the memory while a stream works. invalid_argument: memory of a device.
// not_supported: managed memory that ferry did not allocate, without concurrent managed access.
void need_host_access(std::span<const access> uses);

// How arguments are passed to a host task. Arrays of devices are refused where their type shows that.
struct task_arguments : submitted_arguments {
  template <class A>
  static consteval bool is_of_device() {
    using X = std::remove_cvref_t<A>;
    if constexpr (requires { X::kind; }) return X::kind == memory_kind::device;
    return unmarked_argument<X>::is_of_device;
  }
  template <class P, class A>
  using given =
      std::conditional_t<is_of_device<A>(), refused_argument<call_fault::device_memory>, device_arguments::given<P, A>>;
};

template <class F, class... A>
void enqueue_task(const located<stream_ref>& to, F f, const A&... a) {
  const stream_ref s = to.value;
  access_list<(most_arrays<A> + ... + 0)> uses;
  (add_use(uses, a), ...);
  need_host_access(uses.get());
  direct_launch enqueue(s, uses, reach::by_copy);  // the CPU needs no peer access, and pages stay in place
  check_call(
      s, to.at, used_by::task, [&] { enqueue.poison_outputs(a...); }, f, a...);
  kernel_use_list<(most_kernel_uses<A> + ... + 0)> touched;
  (add_kernel_use(touched, a), ...);
  with_parameters<F, 0>(
      std::index_sequence_for<A...>(),
      [&](const auto&... p) {
        auto call = [f = std::move(f), parameters = std::tuple(p...)]() mutable {
          std::apply(f, std::as_const(parameters));
        };
        runtime& m = runtime::current();
        const auto task =
            std::make_shared<host_call<decltype(call)>>(std::move(call), m.streams().task_failures(), to.at);
        enqueue([&](native_stream n) {
          m.backend().run_on_host_using(
              n, [task] { task->run(); }, touched.get());
        });
      },
      a...);
}

// Enqueues the task of an accepted call; does nothing for a refused one.
template <class... P, class F, class... A>
void enqueue_task_checked(accepted_call<P...>, const located<stream_ref>& s, F&& f, A&&... a) {
  enqueue_task<std::decay_t<F>>(s, std::forward<F>(f), as_argument<P>(std::forward<A>(a), s.at)...);
}
template <class... Any>
void enqueue_task_checked(refused_call, const Any&...) {}

}  // namespace detail

/// Calls f(parameters...) on the CPU when its turn on the stream comes.
///
/// The call is ordered after its hazards, and conflicting later work after it. Never blocks, except on the first use of
/// unified memory by a pair of devices. In a capture, f becomes a part of the graph and is called at each launch. The
/// thread that calls f may be one of the driver; work of other streams may run meanwhile, later work of this stream
/// waits.
///
/// f must not call ferry or CUDA: calls of ferry that submit, wait or allocate throw there. Nor may it be the last
/// owner of memory that borrow() returned, whose end waits. If f throws, the next call that waits for work of the
/// runtime throws host_task_error: a synchronize, an access of the CPU to an array, or a copy to the CPU.
/// @param s stream of the call
/// @param f takes arrays as pointers or mdspans, and values. It is copied, and destroyed after the call; in a capture,
///   with the graph
/// @param arguments host or unified arrays, which f accesses as declared, and values, which are copied
/// @throws invalid_argument if the call is wrong as written
/// @throws not_supported for managed memory that ferry did not allocate, if a device lacks concurrent managed access
/// @note If it throws, f is not called.
template <class F, class... Arguments>
void host_task(located<stream_ref> s, F&& f, Arguments&&... arguments) {
  using call = detail::call_check<detail::task_arguments, false, std::decay_t<F>, void(), Arguments...>;
  detail::enqueue_task_checked(detail::checked<call>(), s, std::forward<F>(f), std::forward<Arguments>(arguments)...);
}

/// @}

}  // namespace ferry::inline FERRY_ABI
