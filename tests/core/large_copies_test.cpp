// Copies of more than 2^31 and 2^32 bytes and elements, in address space without memory. Checks which bytes the driver
// is asked to copy.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>

#include <boost/test/unit_test.hpp>

#include <ferry/core.hpp>

#include "../../benchmarks/support/null_backend.hpp"
#include "backend/cpu_strided.hpp"
#include "contract/small_chunks.hpp"

namespace large_copies {
namespace {

namespace fr = ferry;
using byte = std::uint8_t;

constexpr std::size_t n = (std::size_t{1} << 32) + 4321;

// Reserves zero pages, which take no memory until written.
void* addresses(std::size_t bytes) {
  void* const p = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::bad_alloc();
  return p;
}

struct range {
  const std::byte* begin;
  std::size_t bytes;
};
struct asked {
  std::vector<range> to, from;
  std::size_t strided_elements = 0;
};

class recorder final : public benchmarks::null_backend {
 public:
  recorder(bool peers, asked& all) : null_backend(2), peers_(peers), all_(all) {}
  bool can_access_peer(int, int) const override { return peers_; }
  void* allocate(ferry::memory_kind, int, std::size_t bytes) override { return addresses(bytes); }
  void release(ferry::memory_kind, int, void* p, std::size_t bytes) override { munmap(p, bytes); }
  void copy(fr::native_stream, void* to, const void* from, std::size_t bytes) override { add(to, from, bytes); }
  void copy_peer(fr::native_stream, void* to, int, const void* from, int, std::size_t bytes) override {
    add(to, from, bytes);
  }
  void copy_batch(fr::native_stream, std::span<const fr::detail::copy_part> parts) override {
    for (const fr::detail::copy_part& p : parts) add(p.to, p.from, p.bytes);
  }
  void copy_strided(fr::native_stream, const fr::detail::strided_bytes& to, const fr::detail::strided_bytes& from,
                    const fr::detail::strided_shape& shape) override {
    if (strided(to, shape, from, shape) <= few) fr::detail::copy_on_cpu(to, from, shape);
  }
  void convert_strided(fr::native_stream, const fr::detail::strided_bytes& to, fr::detail::number_type to_type,
                       const fr::detail::strided_bytes& from, fr::detail::number_type from_type,
                       const fr::detail::strided_shape& shape) override {
    fr::detail::strided_shape target = shape, source = shape;
    target.element_bytes = size_of(to_type), source.element_bytes = size_of(from_type);
    strided(to, target, from, source);
  }

 private:
  // Copies up to this size are executed, so that peer self-tests pass.
  static constexpr std::size_t few = std::size_t{1} << 16;

  void add(void* to, const void* from, std::size_t bytes) {
    if (bytes <= few) std::memcpy(to, from, bytes);
    std::lock_guard lock(mutex_);
    all_.to.push_back({static_cast<const std::byte*>(to), bytes});
    all_.from.push_back({static_cast<const std::byte*>(from), bytes});
  }
  std::size_t strided(const fr::detail::strided_bytes& to, const fr::detail::strided_shape& target,
                      const fr::detail::strided_bytes& from, const fr::detail::strided_shape& source) {
    std::size_t elements = 1;
    for (std::size_t d = 0; d < source.rank; ++d) elements *= source.extent[d];
    const fr::detail::kernel_use t = fr::detail::bounding_range(to, target, true),
                                 f = fr::detail::bounding_range(from, source, false);
    std::lock_guard lock(mutex_);
    all_.strided_elements += elements;
    all_.to.push_back({t.begin, t.bytes});
    all_.from.push_back({f.begin, f.bytes});
    return elements;
  }
  const bool peers_;
  asked& all_;
  std::mutex mutex_;
};

// Checks that the requested parts cover the whole range exactly once.
template <class Array>
void check_covered(const std::vector<range>& parts, const Array& whole) {
  const auto* const begin = reinterpret_cast<const std::byte*>(whole.unsynchronized_data());
  const auto* const end = begin + whole.size_bytes();
  std::vector<range> mine;
  for (const range& r : parts)
    if (r.begin < end && r.begin + r.bytes > begin) mine.push_back(r);
  std::sort(mine.begin(), mine.end(), [](const range& a, const range& b) { return a.begin < b.begin; });
  const std::byte* at = begin;
  for (const range& r : mine) {
    BOOST_REQUIRE(r.begin == at);
    at += r.bytes;
  }
  BOOST_TEST((at == end));
}

template <class From, class To>
void check_copy(const From& from, To& to, asked& all) {
  all = {};
  fr::copy(from, to);
  check_covered(all.from, from);
  check_covered(all.to, to);
}

}  // namespace
}  // namespace large_copies

BOOST_AUTO_TEST_SUITE(large_copies)

BOOST_AUTO_TEST_CASE(contiguous_on_every_route) {
  for (const bool peers : {true, false}) {
    const contract::variable on("FERRY_PEER", "on");
    asked all;
    fr::runtime_scope scope(std::make_unique<recorder>(peers, all));
    const fr::device_array<byte> a({n}, fr::device(0));
    fr::device_array<byte> near({n}, fr::device(0)), far({n}, fr::device(1));
    const fr::host_array<byte> pinned({n});
    check_copy(a, near, all);
    BOOST_TEST(all.to.size() == 1u);
    check_copy(a, far, all);
    check_copy(a, far, all);  // again: the first copy also tested the link
    BOOST_TEST((all.to.size() == 1u) == peers);
    check_copy(pinned, near, all);
    fr::unified_array<byte> unified({n});
    check_copy(pinned, unified, all);
    check_copy(unified, far, all);
  }
}

BOOST_AUTO_TEST_CASE(pageable_memory) {
  asked all;
  fr::runtime_scope scope(std::make_unique<recorder>(false, all));
  fr::copy_options o = fr::current_copy_options();
  o.threads = 2;
  fr::set_copy_options(o);
  constexpr std::size_t half = (std::size_t{1} << 31) + 4321;
  auto* const memory = static_cast<byte*>(addresses(half));
  fr::device_array<byte> a({half});
  fr::copy(std::span<const byte>(memory, half), a);
  check_covered(all.to, a);
  BOOST_TEST(all.to.size() > half / o.parallel_chunk_bytes);
  munmap(memory, half);
}

// Packed and sent in parts of the scratch memory's size.
BOOST_AUTO_TEST_CASE(strided_and_converting) {
  asked all;
  fr::runtime_scope scope(std::make_unique<recorder>(false, all));
  const fr::extents<2> e{(std::size_t{1} << 17) + 3, (std::size_t{1} << 15) + 1};
  const fr::extents<2> turned{e[1], e[0]};
  fr::device_array<byte, 2> a(e, fr::device(0));
  fr::device_array<byte, 2> there(turned, fr::device(1));
  fr::copy(a.transpose(), there);
  BOOST_TEST(all.strided_elements == e.count());
  check_covered(all.to, there);
  all = {};
  fr::device_array<std::int16_t, 2> wide(e, fr::device(0));
  fr::copy(a, wide);
  BOOST_TEST(all.strided_elements == e.count());
  check_covered(all.from, a);
  check_covered(all.to, wide);
}

BOOST_AUTO_TEST_SUITE_END()
