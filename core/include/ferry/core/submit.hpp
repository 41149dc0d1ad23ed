/// @file
/// Work that ferry does not generate: library calls and CUDA kernels, ordered by their array arguments.
#pragma once
#include <memory>
#include <type_traits>
#include <utility>

#include "ferry/core/detail/kernels/call_checks.hpp"
#include "ferry/core/detail/kernels/captured_pointers.hpp"
#include "ferry/core/detail/kernels/kernel_parameters.hpp"
#include "ferry/core/detail/ordering/host_tasks.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/parallel_for.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI {

/// @addtogroup kernels
/// @{

namespace detail {

// Type of the callee's stream parameter: ferry's own handle, or a pointer type such as cudaStream_t.
template <class F, class P = std::remove_cvref_t<typename declared_at<F, 0>::type>>
using stream_type = std::conditional_t<std::is_pointer_v<P>, P, native_stream>;
template <class F>
auto stream_parameter(runtime& m, native_stream s) {
  using P = std::remove_cvref_t<typename declared_at<F, 0>::type>;
  if constexpr (std::is_pointer_v<P>) {
    if (m.is_simulated())
      throw not_supported(
          "submit: the call takes a CUDA stream, and the devices are simulated: pass a function for these too, by "
          "ferry::cuda_or_simulated(f, g), run it with FERRY_BACKEND=cuda, or use parallel_for");
    return static_cast<P>(s.handle);
  } else {
    return s;
  }
}

template <class F, class Call, class... A>
void enqueue_call(stream_ref s, ordered_launch& enqueue, Call& call, const A&... a) {
  refuse_inside_host_task("submit");  // before the driver refuses to make the device current
  runtime& m = runtime::current();
  const auto stream = stream_parameter<F>(m, s.timeline().stream());
  with_parameters<F, 1>(
      std::index_sequence_for<A...>(),
      [&](const auto&... p) {
        current_device_scope current(m, s.timeline().device());
        enqueue([&](native_stream) { call(stream, p...); });
      },
      a...);
}

// A submission that accesses the arrays among some arguments. by: what uses `values` and the arguments that are not
// arrays.
template <class F, class Values, class Call, class... A>
void submit_call(located<stream_ref> to, used_by by, const F&, const Values& values, Call call, const A&... a) {
  const stream_ref s = to.value;
  access_list<(most_arrays<A> + ... + 0)> uses;
  (add_use(uses, a), ...);
  if (needs_staging(s, uses.get())) [[unlikely]] {
    search_call(s, to.at, by, values, a...);
    staged_launch enqueue(s, uses.get());
    enqueue.poison_outputs(a...);
    return enqueue_call<F>(s, enqueue, call, enqueue.moved(a)...);
  }
  direct_launch enqueue(s, uses);
  check_call(
      s, to.at, by, [&] { enqueue.poison_outputs(a...); }, values, a...);
  enqueue_call<F>(s, enqueue, call, a...);
}

// Submits an accepted call; does nothing for a refused one.
template <class... P, class F, class Values, class Call, class... A>
void submit_checked(accepted_call<P...>, const located<stream_ref>& s, used_by by, const F& f, const Values& values,
                    const Call& call, A&&... a) {
  submit_call(s, by, f, values, call, as_argument<P>(std::forward<A>(a), s.at)...);
}
template <class... Any>
void submit_checked(refused_call, const Any&...) {}

inline namespace FERRY_UNIT {

// Calls g on a simulated device, as a kernel of one index.
template <class G, class... A>
void simulate_call(const located<stream_ref>& to, const G& g, const A&... a) {
  const stream_ref s = to.value;
  access_list<(most_arrays<A> + ... + 0)> uses;
  (add_use(uses, a), ...);
  const auto body = [f = std::make_shared<G>(g)](const auto&... p) {
    const host_task_scope inside;
    (*f)(p...);
  };
  if (needs_staging(s, uses.get())) [[unlikely]] {
    search_call(s, to.at, used_by::task, g, a...);
    staged_launch enqueue(s, uses.get());
    enqueue.poison_outputs(a...);
    return launch_simulated<unwatched_run, G, 0>(enqueue, body, enqueue.moved(a)...);
  }
  direct_launch enqueue(s, uses);
  check_call(
      s, to.at, used_by::task, [&] { enqueue.poison_outputs(a...); }, g, a...);
  launch_simulated<unwatched_run, G, 0>(enqueue, body, a...);
}

// Submits one of two functions that use their arguments alike.
template <class... P, class... Q, class F, class G, class... A>
void submit_either(accepted_call<P...>, accepted_call<Q...>, const located<stream_ref>& s, const F& f, const G& g,
                   A&&... a) {
  constexpr bool alike =
      (std::is_same_v<decltype(as_argument<P>(std::declval<A>())), decltype(as_argument<Q>(std::declval<A>()))> && ...);
  static_assert(alike,
                "declare the elements of each array const in both functions or in neither, or pass in(a), out(a) or "
                "inout(a): of the two functions of cuda_or_simulated, one writes an array that the other only reads");
  if constexpr (!alike)
    return;
  else if (runtime::current().is_simulated())
    simulate_call(s, g, as_argument<Q>(std::forward<A>(a), s.at)...);
  else
    submit_call(s, used_by::cpu, f, f, f, as_argument<P>(std::forward<A>(a), s.at)...);
}
template <class First, class Second, class... Any>
void submit_either(First, Second, const Any&...) {}

}  // namespace FERRY_UNIT
}  // namespace detail

/// Two functions for submit(): one calls a library for CUDA devices, the other computes the same on the CPU. So
/// programs that call libraries run on simulated devices.
/// @tparam F takes the stream, then the arguments, as for submit()
/// @tparam G takes the arguments only, and reads and writes the same arrays
template <class F, class G>
class cuda_or_simulated {
 public:
  /// @param f for CUDA devices: is called at once, and enqueues work to the stream
  /// @param g for simulated devices: is called on the CPU when its turn on the stream comes, as a kernel. It also gets
  ///   arrays of devices. It must not call ferry. If it throws, the simulated device fails
  cuda_or_simulated(F f, G g) : cuda_(std::move(f)), simulated_(std::move(g)) {}
  const F& on_cuda() const { return cuda_; }            ///< The function for CUDA devices.
  const G& on_simulated() const { return simulated_; }  ///< The function for simulated devices.

 private:
  F cuda_;
  G simulated_;
};

/// Calls f(stream, parameters...) on the CPU at once. f enqueues work to that stream.
///
/// The work is ordered after its hazards, and conflicting later work after it. The stream's device is current during
/// the call. f must not call ferry. Blocks only where parallel_for does, or f itself.
/// @param s stream of the work
/// @param f takes the stream as cudaStream_t (CUDA only) or ferry::native_stream, and arrays as pointers or mdspans
/// @param arguments arrays, which the work accesses as declared, and values
/// @throws not_supported if f takes a cudaStream_t and the devices are simulated
/// @throws use_after_free if an array was freed
/// @throws peer_access_error if the device cannot access an argument
/// @note What f throws passes through.
template <class F, class... Arguments>
void submit(located<stream_ref> s, const F& f, Arguments&&... arguments) {
  using call = detail::call_check<detail::submitted_arguments, false, F, void(detail::stream_type<F>), Arguments...>;
  detail::submit_checked(detail::checked<call>(), s, detail::used_by::cpu, f, f, f,
                         std::forward<Arguments>(arguments)...);
}

inline namespace FERRY_UNIT {

/// Submits f.on_cuda() to CUDA devices. Simulated devices run f.on_simulated() instead, with its accesses checked for
/// races and copied as those of kernels. Blocks and throws as submit() of one function.
/// @param s stream of the work
/// @param f the two functions
/// @param arguments arrays, which both functions access as declared, and values
template <class F, class G, class... Arguments>
void submit(located<stream_ref> s, const cuda_or_simulated<F, G>& f, Arguments&&... arguments) {
  using cuda = detail::call_check<detail::submitted_arguments, false, F, void(detail::stream_type<F>), Arguments...>;
  using simulated = detail::call_check<detail::submitted_arguments, false, G, void(), Arguments...>;
  detail::submit_either(detail::checked<cuda>(), detail::checked<simulated>(), s, f.on_cuda(), f.on_simulated(),
                        std::forward<Arguments>(arguments)...);
}

}  // namespace FERRY_UNIT

/// Address of an array for work on `s` that ferry does not track: an unbounded access.
///
/// Ordered after its hazards. It covers all work enqueued to the stream until the next access of the array elsewhere.
/// After that, take the pointer again. It points to the first element; the strides are those of the view. Const arrays
/// are read; others are read and written. Does not block, except on the first use of a pair of devices.
/// @throws invalid_argument on a default stream, in a capture or in a submission
/// @throws use_after_free if the array was freed
/// @throws peer_access_error if the stream's device cannot access it
template <class T, std::size_t Rank, memory_kind Kind>
const T* pointer(const array_view<T, Rank, Kind>& v, stream_ref s, source_line at = source_line::here()) {
  detail::access_list<1> uses;
  uses.add(v.owner(), v.bytes(), false, false, at);
  detail::escaped_pointer_use(detail::admit(s, uses.get(), detail::reach::by_kernel));
  return v.unsynchronized_data();
}
/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
T* pointer(array_view<T, Rank, Kind>& v, stream_ref s, source_line at = source_line::here()) {
  detail::access_list<1> uses;
  uses.add(v.owner(), v.bytes(), true, false, at);
  detail::escaped_pointer_use(detail::admit(s, uses.get(), detail::reach::by_kernel));
  return v.unsynchronized_data();
}

/// @overload
template <class T, std::size_t Rank, memory_kind Kind>
T* pointer(array_view<T, Rank, Kind>&& v, stream_ref s, source_line at = source_line::here()) {
  return pointer(v, s, at);
}

/// Grid of a CUDA launch.
struct launch_size {
  /// Three dimensions; each must be in [1, 2^31 - 1], otherwise the constructor throws invalid_argument.
  struct dimensions {
    unsigned x = 1, y = 1, z = 1;
    dimensions(std::size_t x_ = 1, std::size_t y_ = 1, std::size_t z_ = 1)
        : x(narrow(x_)),
          y(narrow(y_)),
          z(narrow(z_)) {}

   private:
    static unsigned narrow(std::size_t n) {
      if (n == 0 || n > 0x7fffffff) throw invalid_argument(detail::concat("a launch dimension of ", n));
      return static_cast<unsigned>(n);
    }
  };
  dimensions blocks, threads;    ///< number of blocks, and of threads of a block
  std::size_t shared_bytes = 0;  ///< bytes of dynamic shared memory of a block
};

inline namespace FERRY_UNIT {

/// Launches a __global__ function. CUDA only. Blocks only where parallel_for does.
/// @param s stream of the launch
/// @param size blocks, threads, and bytes of dynamic shared memory
/// @param kernel function that declares arrays as pointers or mdspans
/// @param arguments arrays and values to pass to the kernel
/// @throws not_supported if the devices are simulated
/// @throws use_after_free if an array was freed
/// @throws peer_access_error if the device cannot access an argument
template <class... P, class... Arguments>
void launch([[maybe_unused]] located<stream_ref> s, [[maybe_unused]] const launch_size& size,
            [[maybe_unused]] void (*kernel)(P...), [[maybe_unused]] Arguments&&... arguments) {
#if defined(__CUDACC__)
  runtime& m = runtime::current();
  if (m.is_simulated())
    throw not_supported(
        "launch runs __global__ functions, and the devices are simulated: use parallel_for, or run with "
        "FERRY_BACKEND=cuda");
  using with_stream = void (*)(native_stream, P...);
  using call = detail::call_check<detail::submitted_arguments, false, with_stream, void(native_stream), Arguments...>;
  detail::submit_checked(
      detail::checked<call>(), s, detail::used_by::kernel, with_stream(nullptr), kernel,
      [&](native_stream n, const auto&... p) {
        kernel<<<dim3(size.blocks.x, size.blocks.y, size.blocks.z),
                 dim3(size.threads.x, size.threads.y, size.threads.z), size.shared_bytes,
                 static_cast<cudaStream_t>(n.handle)>>>(p...);
        m.backend().check_launch(n, "a kernel given to ferry::launch");
      },
      std::forward<Arguments>(arguments)...);
#else
  static_assert(sizeof...(P) > 1000000,
                "ferry::launch runs __global__ functions: compile this source as CUDA, by "
                "ferry_add_executable() in a build with CUDA");
#endif
}

}  // namespace FERRY_UNIT

/// @}

}  // namespace ferry::inline FERRY_ABI
