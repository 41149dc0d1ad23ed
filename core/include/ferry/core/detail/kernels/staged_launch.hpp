// Kernels on memory that their device cannot access: they run on staging copies (FERRY_PEER_KERNELS=stage).
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/copies/out_of_reach.hpp"
#include "ferry/core/detail/support/internal.hpp"

namespace ferry::inline FERRY_ABI::detail {

// Staging copies, on the stream's device, of a kernel's declared arguments that the device cannot access. The kernel
// and the copies in and back form one access of the arrays.
class staged_launch : public output_poison {
 public:
  // Allocates the staging copies; may block. Throws out_of_memory.
  staged_launch(stream_ref s, std::span<const access> uses);
  ~staged_launch();
  staged_launch(const staged_launch&) = delete;
  staged_launch& operator=(const staged_launch&) = delete;

  // Adds an access of memory that the device can access.
  void add(const allocation_ref& owner, byte_range where, bool write);
  // True if a raw pointer was taken on the stream, which kernels there may use.
  bool has_pointers() const { return s_.timeline().has_pointers(); }
  // Addresses in the staging copies. Valid as long as this object.
  relocation addresses() const { return relocation(pieces_); }
  // The argument with addresses of its staging copy.
  template <class A>
  A moved(const A& a) const {
    if constexpr (is_struct_argument<A>) {
      return a.with_arrays([&](const auto& x) { return moved(x); });
    } else if constexpr (is_array_argument<A>) {
      const allocation_ref* owner = owner_of(a.bytes);
      if (!owner) return a;
      const relocation move(pieces_);
      const auto* begin = move(a.bytes.begin);
      A there = a;
      there.owner = owner;
      there.span = a.span.relocated(move);
      there.bytes = {begin, begin + a.bytes.size()};
      return there;
    } else {
      return a;
    }
  }
  // As submit_ordered, between the copies.
  template <class Submit>
  void operator()(Submit submit) {
    run([&](native_stream n) { submit(n); });
  }

 private:
  struct staging_copy;
  struct lanes;
  const allocation_ref* owner_of(byte_range where) const;
  void run(const std::function<void(native_stream)>& submit);
  void run_captured(const std::function<void(native_stream)>& submit);
  stream_ref s_;
  std::vector<access> uses_;
  std::unique_ptr<lanes> lanes_;
  std::vector<std::unique_ptr<staging_copy>> copies_;
  std::vector<relocation::piece> pieces_;
};

// A direct submission with the same interface, for generic code.
template <std::size_t Most>
class direct_launch : public output_poison {
 public:
  direct_launch(stream_ref s, access_list<Most>& uses, reach how = reach::by_kernel) : s_(s), uses_(uses), how_(how) {}
  void add(const allocation_ref& owner, byte_range where, bool write) { uses_.add(owner, where, write); }
  bool has_pointers() const { return s_.timeline().has_pointers(); }
  template <class Submit>
  void operator()(Submit submit) {
    submit_ordered(s_, uses_.get(), how_, [&](native_stream n) {
      enqueue_poison(n);
      submit(n);
    });
  }

 private:
  stream_ref s_;
  access_list<Most>& uses_;
  reach how_;
};

}  // namespace ferry::inline FERRY_ABI::detail
