// Runs the steps of a random program with ferry, on the current runtime.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <ferry/unified.hpp>

#include "race/program.hpp"

namespace race {

class executor {
 public:
  executor();
  ~executor();
  // Moves pages, or sets advice, of a unified array that the number selects. Contents do not change. FERRY_TEST_HINTS,
  // a list of digits, enables only these kinds of hints; a `d` in it enables discards.
  void hint(u32 number);
  // If the step overwrites all of a range and the number selects it: discards that range first.
  void discard_before(const step& s, u32 number);
  // Fills a device's memory, so that idle pages leave it. offers: first marks the array that the number selects as
  // discardable, then uses it. That use withdraws the permission, so contents do not change here, either.
  void run_out_of_memory(u32 number, bool offers);
  // False if the step read other bytes than expected.
  bool run(const step& s);
  // After a wrong read: which elements differ, whether they still do when all devices are idle, and which hints were
  // given.
  std::string explain(const step& s);

 private:
  struct any_array {
    std::variant<ferry::unified_array<u32>, ferry::device_array<u32>, ferry::host_array<u32>> a;
  };
  struct part {  // a range of an array's elements, passed as an argument
    const ferry::detail::allocation_ref* owner;
    u32* data;
    std::size_t n;
  };
  part of(int slot, std::size_t lo, std::size_t n) const;
  ferry::array_argument<const u32, 1> in(int slot, std::size_t lo, std::size_t n) const;
  ferry::array_argument<u32, 1> inout(int slot, std::size_t lo, std::size_t n, ferry::detail::access_mode mode) const;
  ferry::stream_ref stream(int i) const;
  // Calls f(i, pointers...) for the elements of a step: as a kernel, or at times as a task of the CPU.
  template <class F, class... A>
  void loop(const step& s, const F& f, const A&... a);
  void renew(const step& s);
  void renew_stream(int i);
  void copy(const step& s);
  void strided(const step& s);
  void upload(const step& s);
  void turn(const step& s);
  bool raw_is_possible(const step& s) const;
  void raw_launch(const step& s);
  void shard(const step& s);
  void temporary(const step& s);
  bool reduce(const step& s);
  void graph(const step& s);
  bool read(const step& s);

  std::array<std::unique_ptr<any_array>, slots> arrays_;
  std::array<std::optional<ferry::stream>, 8> own_;
  std::array<ferry::native_stream, 2> foreign_{};
  std::array<std::string, slots> hinted_;
  std::array<bool, slots> pointed_at_{};  // a raw pointer is open, and another use would close it
};

}  // namespace race
