// Guarded operations: several arrays on one stream, and work of a given duration on the CPU.
#pragma once
#include <array>
#include <chrono>

#include <ferry/core.hpp>

namespace benchmarks {

// `Count` arrays that one stream uses: it reads the first half, and writes the rest.
template <std::size_t Count>
class owned_arrays {
 public:
  explicit owned_arrays(ferry::device d) : stream_(d) {
    for (std::size_t i = 0; i < Count; ++i) {
      arrays_[i] = ferry::device_array<float>({1024}, d);
      uses_[i] = {&arrays_[i].owner().get(), arrays_[i].bytes(), 2 * i + 1 >= Count};
    }
  }
  // One guarded, empty submission.
  void submit() {
    std::array<ferry::detail::access, Count> uses = uses_;
    ferry::detail::access_guard guard(ferry::detail::admission::unchecked(stream_.timeline(), uses));
  }

 private:
  ferry::stream stream_;
  std::array<ferry::device_array<float>, Count> arrays_;
  std::array<ferry::detail::access, Count> uses_;
};

// One array that two streams write alternately.
class handed_over {
 public:
  explicit handed_over(ferry::device d) : streams_{ferry::stream(d), ferry::stream(d)}, array_({1024}, d) {}
  void submit() {
    ferry::detail::access use{&array_.owner().get(), array_.bytes(), true};
    ferry::detail::access_guard guard(ferry::detail::admission::unchecked(streams_[turn_ ^= 1].timeline(), {&use, 1}));
  }
  void drain() { streams_[0].synchronize(), streams_[1].synchronize(); }

 private:
  ferry::stream streams_[2];
  ferry::device_array<float> array_;
  int turn_ = 0;
};

// Busy-waits for 2.5 us, the typical time of a kernel launch.
inline void pretend_to_launch() {
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(2500);
  while (std::chrono::steady_clock::now() < until) {
  }
}

// A thread's stream, an input that another thread may share, and an output of its own.
class reader {
 public:
  reader(ferry::device d, const ferry::device_array<float>& input) : stream_(d), input_(&input), output_({1024}, d) {}
  template <class Launch>
  void submit(Launch launch) {
    std::array<ferry::detail::access, 2> uses{
        {{&input_->owner().get(), input_->bytes(), false}, {&output_.owner().get(), output_.bytes(), true}}};
    ferry::detail::access_guard guard(ferry::detail::admission::unchecked(stream_.timeline(), uses));
    launch();
  }

 private:
  ferry::stream stream_;
  const ferry::device_array<float>* input_;
  ferry::device_array<float> output_;
};

}  // namespace benchmarks
