// Launches, ordered by the accesses of their arguments.
#pragma once
#include <vector>

#include "ferry/core/arguments.hpp"
#include "ferry/core/detail/copies/out_of_reach.hpp"
#include "ferry/core/detail/support/function_ref.hpp"
#include "ferry/core/detail/support/internal.hpp"
#include "ferry/core/detail/support/owning_ptr.hpp"

namespace ferry::inline FERRY_ABI::detail {

// A launch that is ordered after the hazards of its accesses. The code that a program generates for each loop uses this
// interface alone, so that there is one copy of it for the kinds of launches.
class ordered_launch : public output_poison {
 public:
  ordered_launch(const ordered_launch&) = delete;
  ordered_launch& operator=(const ordered_launch&) = delete;
  // Adds an access of memory that the device can access.
  virtual void add(const allocation_ref& owner, byte_range where, bool write) = 0;
  // True if a raw pointer was taken on the stream, which kernels there may use.
  bool has_pointers() const { return stream_.timeline().has_pointers(); }
  // As submit_ordered.
  using submission = function_ref<void(native_stream)>;
  void operator()(submission submit) { run(submit); }

 protected:
  explicit ordered_launch(stream_ref s) : stream_(s) {}
  ~ordered_launch() = default;
  virtual void run(submission submit) = 0;
  const stream_ref stream_;
};

// On memory that the device can access.
class direct_launch final : public ordered_launch {
 public:
  direct_launch(stream_ref s, access_collector& uses, reach how = reach::by_kernel)
      : ordered_launch(s),
        uses_(uses),
        how_(how) {}
  void add(const allocation_ref& owner, byte_range where, bool write) override { uses_.add(owner, where, write); }

 private:
  void run(submission submit) override;
  access_collector& uses_;
  const reach how_;
};

// On staging copies, on the stream's device, of the declared arguments that the device cannot access
// (FERRY_PEER_KERNELS=stage). The kernel and the copies in and back form one access of the arrays.
class staged_launch final : public ordered_launch {
 public:
  // Allocates the staging copies; may block. Throws out_of_memory.
  staged_launch(stream_ref s, std::span<const access> uses);
  ~staged_launch();
  void add(const allocation_ref& owner, byte_range where, bool write) override;
  // Addresses in the staging copies. Valid as long as this object.
  relocation addresses() const { return relocation({pieces_.data(), pieces_.size()}); }
  // The argument with addresses of its staging copy.
  template <class A>
  A moved(const A& a) const {
    if constexpr (is_struct_argument<A>) {
      return a.with_arrays([&](const auto& x) { return moved(x); });
    } else if constexpr (is_array_argument<A>) {
      const allocation_ref* owner = owner_of(a.bytes);
      if (!owner) return a;
      const relocation move = addresses();
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

 private:
  struct staging_copy;
  struct lanes;
  const allocation_ref* owner_of(byte_range where) const;
  void run(submission submit) override;
  void run_captured(submission submit);
  std::vector<access> uses_;
  owning_ptr<lanes> lanes_;
  std::vector<owning_ptr<staging_copy>> copies_;
  std::vector<relocation::piece> pieces_;
};

}  // namespace ferry::inline FERRY_ABI::detail
