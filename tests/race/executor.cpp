#include "race/executor.hpp"
#include "ferry/core/detail/pools/memory_pool.hpp"
#include "ferry/core/detail/runtime/peer.hpp"

#include <algorithm>

namespace fr = ferry;

namespace race {
namespace {

struct map_kernel {
  u32 k;
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y, const u32* x, const u32* z) const {
    y[i] = map_of(y[i], x[i], z[i], k);
  }
};
struct set_kernel {
  u32 k;
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y, const u32* x) const { y[i] = set_of(x[i], k); }
};
struct set_strided {
  u32 k;
  FERRY_HOST_DEVICE void operator()(std::size_t i, fr::mdspan<u32, 1> y, fr::mdspan<const u32, 1> x) const {
    y[i] = set_of(x[i], k);
  }
};
struct count_kernel {
  u32 k;
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y) const { y[i] = k + static_cast<u32>(i); }
};
struct add_kernel {
  u32 k;
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y) const { y[i] += k; }
};
struct add_scalar {
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y, const std::uint64_t* x) const {
    y[i] += static_cast<u32>(*x);
  }
};
struct raw_kernel {
  u32 k;
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y, const u32* x) const { y[i] = raw_of(y[i], x[i], k); }
};
struct scaled {
  u32 k;
  FERRY_HOST_DEVICE u32 operator()(std::size_t i, const u32* x) const { return x[i] * k; }
};
// One shard of y, computed from the same rows of x and one neighbouring row on each side, if there is one.
struct stencil_kernel {
  std::size_t halo_left, last;
  FERRY_HOST_DEVICE void operator()(std::size_t i, u32* y, const u32* x) const {
    const std::size_t j = i + halo_left;
    y[i] = stencil_of(x[j ? j - 1 : 0], x[j], x[j + 1 < last ? j + 1 : last]);
  }
};

#if defined(__CUDACC__)
__global__ void raw_on_device(u32* y, const u32* x, std::size_t n, u32 k) {
  for (std::size_t i = threadIdx.x; i < n; i += blockDim.x) y[i] = raw_of(y[i], x[i], k);
}
#endif

}  // namespace

executor::executor() {
  const std::size_t devices = fr::devices().size();
  for (std::size_t i = 0; i < own_.size(); ++i) own_[i].emplace(fr::devices()[i % devices]);
  for (int h = 0; h < 2; ++h) renew_stream(foreign_stream(h));
}

executor::~executor() {
  for (int h = 0; h < 2; ++h) {
    stream(foreign_stream(h)).release();
    fr::runtime::current().backend().destroy_stream(foreign_[static_cast<std::size_t>(h)]);
  }
}

fr::stream_ref executor::stream(int i) const {
  const auto at = static_cast<std::size_t>(i);
  if (at < own_.size()) return *own_[at];
  const std::size_t h = at - own_.size();
  return fr::stream_ref::from_native(fr::devices()[h % fr::devices().size()], foreign_.at(h));
}

void executor::renew_stream(int i) {
  const auto at = static_cast<std::size_t>(i);
  if (at < own_.size()) {
    const fr::device d = own_[at]->where();
    own_[at].reset();  // returns the stream to the pool; the next line most likely gets the same one
    own_[at].emplace(d);
    return;
  }
  fr::detail::backend& backend = fr::runtime::current().backend();
  fr::native_stream& s = foreign_[at - own_.size()];
  if (s.handle) {
    stream(i).release();
    backend.destroy_stream(s);
  }
  s = backend.create_stream(static_cast<int>((at - own_.size()) % fr::devices().size()), 0);
}

executor::part executor::of(int slot, std::size_t lo, std::size_t n) const {
  return std::visit(
      [&](auto& a) {
        return part{&a.owner(), a.unsynchronized_data() + lo, n};
      },
      arrays_[static_cast<std::size_t>(slot)]->a);
}

fr::array_argument<const u32, 1> executor::in(int slot, std::size_t lo, std::size_t n) const {
  const part p = of(slot, lo, n);
  const auto* at = reinterpret_cast<const std::byte*>(p.data);
  return {p.owner,
          fr::mdspan<const u32, 1>(p.data, fr::extents<1>{n}, {1}),
          {at, at + n * 4},
          fr::detail::access_mode::in,
          true};
}

fr::array_argument<u32, 1> executor::inout(int slot, std::size_t lo, std::size_t n,
                                           fr::detail::access_mode mode) const {
  const part p = of(slot, lo, n);
  const auto* at = reinterpret_cast<const std::byte*>(p.data);
  return {p.owner, fr::mdspan<u32, 1>(p.data, fr::extents<1>{n}, {1}), {at, at + n * 4}, mode, true};
}

void executor::run_out_of_memory(u32 number, bool offers) {
  // With two threads each has slots of its own, and the number may choose the other thread's.
  auto* a = offers ? std::get_if<fr::unified_array<u32>>(&arrays_[number % slots]->a) : nullptr;
  if (a && !a->empty() && !pointed_at_[number % slots]) {
    fr::discard_when_needed(*a);
    switch (number / 64 % 3) {
      case 0: (void)a->cbegin(); break;
      case 1: (void)std::as_const(*a)[number / 256 % a->size()]; break;
      default: {
        fr::unified_array<u32> elsewhere(a->extents());
        fr::copy(stream(static_cast<int>(number / 16 % shared_streams)), std::as_const(*a), elsewhere);
      }
    }
  }
  try {
    const fr::device d = fr::devices()[number / 1024 % fr::devices().size()];
    const fr::device_array<char> too_large({std::size_t{1} << 40}, d);
  } catch (const fr::out_of_memory&) {
  }
}

template <class F, class... A>
void executor::loop(const step& s, const F& f, const A&... a) {
  const bool by_task = s.k % 3 == 0 && ((a.owner->get().kind != fr::memory_kind::device) && ...);
  if (!by_task) return fr::parallel_for(stream(s.stream), s.n, f, a...);
  fr::host_task(
      stream(s.stream),
      [f, n = s.n](const auto&... p) {
        for (std::size_t i = 0; i < n; ++i) f(i, p.data()...);
      },
      a...);
}

bool executor::run(const step& s) {
  auto& y = arrays_[static_cast<std::size_t>(s.y)];
  const auto write = [&](fr::detail::access_mode mode) { return inout(s.y, s.lo, s.n, mode); };
  switch (s.what) {
    case op::map:
      loop(s, map_kernel{s.k}, write(fr::detail::access_mode::inout), in(s.x, s.lx, s.n), in(s.z, s.lz, s.n));
      break;
    case op::set: loop(s, set_kernel{s.k}, write(fr::detail::access_mode::out), in(s.x, s.lx, s.n)); break;
    case op::fill:
      std::visit([&](auto& a) { fr::fill(stream(s.stream), a.slice({s.lo, s.lo + s.n}), s.k); }, y->a);
      break;
    case op::accumulate: loop(s, add_kernel{s.k}, inout(s.y, 0, s.n, fr::detail::access_mode::inout)); break;
    case op::copy: copy(s); break;
    case op::upload: upload(s); break;
    case op::turn: turn(s); break;
    case op::strided: strided(s); break;
    case op::host_read: return read(s);
    case op::host_scan: {
      bool same = true;
      std::visit(
          [&](auto& a) {
            if constexpr (fr::is_host_accessible(std::remove_reference_t<decltype(a)>::kind))
              for (std::size_t i = 0; i < a.size(); ++i) same &= std::as_const(a)[i] == s.expect[i];
          },
          y->a);
      return same;
    }
    case op::host_write:
      std::visit(
          [&](auto& a) {
            if constexpr (fr::is_host_accessible(std::remove_reference_t<decltype(a)>::kind)) {
              if (s.flag) {
                for (std::size_t i = 0; i < s.n; ++i) a[s.lo + i] = s.k * static_cast<u32>(i);
              } else {
                auto range = a.slice({s.lo, s.lo + s.n});
                u32 i = 0;
                for (u32& e : range) e = s.k * i++;
              }
            }
          },
          y->a);
      break;
    case op::renew: renew(s); break;
    case op::freed:
      std::visit([](auto& a) { a.free(); }, y->a);
      renew(s);
      break;
    case op::raw_take:
      if (!raw_is_possible(s)) break;
      pointed_at_[static_cast<std::size_t>(s.y)] = pointed_at_[static_cast<std::size_t>(s.x)] = true;
      std::visit([&](auto& a) { (void)fr::pointer(a.slice({s.lo, s.lo + s.n}), stream(s.stream)); }, y->a);
      std::visit(
          [&](const auto& a) {
            (void)fr::pointer(a.slice({s.lx, s.lx + s.n}), stream(s.stream));
          },
          std::as_const(arrays_[static_cast<std::size_t>(s.x)]->a));
      break;
    case op::raw_launch:
      raw_launch(s);
      pointed_at_[static_cast<std::size_t>(s.y)] = pointed_at_[static_cast<std::size_t>(s.x)] = false;
      break;
    case op::shard: shard(s); break;
    case op::temporary: temporary(s); break;
    case op::reduce: return reduce(s);
    case op::graph: graph(s); break;
    case op::renew_stream: renew_stream(s.stream); break;
    case op::synchronize: stream(s.stream).synchronize(); break;
    case op::trim:
      for (const fr::device d : fr::devices())
        for (const auto kind : {fr::memory_kind::device, fr::memory_kind::unified, fr::memory_kind::host})
          fr::runtime::current().pool(kind, d.index()).trim();
      break;
    case op::count: return false;
  }
  return true;
}

void executor::renew(const step& s) {
  hinted_[static_cast<std::size_t>(s.y)].clear();
  auto& y = arrays_[static_cast<std::size_t>(s.y)];
  const fr::device d = fr::devices()[static_cast<std::size_t>(s.device) % fr::devices().size()];
  y.reset();
  y = std::make_unique<any_array>();
  if (s.kind == fr::memory_kind::device)
    y->a = fr::device_array<u32>({s.n}, d);
  else if (s.kind == fr::memory_kind::host)
    y->a = fr::host_array<u32>({s.n}, d);
  else
    y->a = fr::unified_array<u32>({s.n}, d);
  if (s.flag && s.kind != fr::memory_kind::device) {  // the first writer is the CPU
    std::visit(
        [&](auto& a) {
          if constexpr (fr::is_host_accessible(std::remove_reference_t<decltype(a)>::kind))
            for (std::size_t i = 0; i < a.size(); ++i) a[i] = s.k + static_cast<u32>(i);
        },
        y->a);
    return;
  }
  fr::parallel_for(stream(s.stream), s.n, count_kernel{s.k}, inout(s.y, 0, s.n, fr::detail::access_mode::out));
}

void executor::copy(const step& s) {
  std::visit(
      [&](auto& to, const auto& from) {
        auto range = to.slice({s.lo, s.lo + s.n});
        fr::copy(stream(s.stream), from.slice({s.lx, s.lx + s.n}), range);
      },
      arrays_[static_cast<std::size_t>(s.y)]->a, std::as_const(arrays_[static_cast<std::size_t>(s.x)]->a));
}

void executor::strided(const step& s) {
  std::visit(
      [&](auto& to, const auto& from) {
        auto even = to.slice({s.lo, s.lo + s.n, 2});
        auto backwards = from.slice({s.lx, s.lx + s.n, -2});
        fr::parallel_for(stream(s.stream), even.size(), set_strided{s.k}, fr::out(even), fr::in(backwards));
      },
      arrays_[static_cast<std::size_t>(s.y)]->a, std::as_const(arrays_[static_cast<std::size_t>(s.x)]->a));
}

// Uses the program's own kernel, which ferry does not track.
void executor::upload(const step& s) {
  std::vector<u32> v(s.n);
  for (std::size_t j = 0; j < s.n; ++j) v[j] = s.k ^ static_cast<u32>(j);
  std::visit([&](auto& a) { fr::copy(v, a.slice({s.lo, s.lo + s.n})); }, arrays_[static_cast<std::size_t>(s.y)]->a);
}

void executor::turn(const step& s) {
  std::visit(
      [&](auto& to, const auto& from) {
        fr::copy(stream(s.stream), from.slice({s.lx, s.lx + s.n, -1}), to.slice({s.lo, s.lo + s.n}));
      },
      arrays_[static_cast<std::size_t>(s.y)]->a, std::as_const(arrays_[static_cast<std::size_t>(s.x)]->a));
}

// A raw pointer gets no staging copy, so the device must reach the memory itself.
bool executor::raw_is_possible(const step& s) const {
  const fr::device d = stream(s.stream).where();
  const auto reached = [&](int slot) {
    const fr::detail::allocation& a = of(slot, 0, 0).owner->get();
    return a.kind != fr::memory_kind::device || fr::runtime::current().peers().can_reach(d.index(), a.device);
  };
  return reached(s.x) && reached(s.y);
}

void executor::raw_launch(const step& s) {
  if (!raw_is_possible(s))
    return fr::parallel_for(stream(s.stream), s.n, raw_kernel{s.k},
                            inout(s.y, s.lo, s.n, fr::detail::access_mode::inout), in(s.x, s.lx, s.n));
  const part y = of(s.y, s.lo, s.n), x = of(s.x, s.lx, s.n);
  const fr::stream_ref on = stream(s.stream);
  fr::runtime& m = fr::runtime::current();
#if defined(__CUDACC__)
  if (!m.is_simulated()) {
    fr::detail::current_device_scope current(m, on.where().index());
    raw_on_device<<<1, 64, 0, static_cast<cudaStream_t>(on.timeline().stream().handle)>>>(y.data, x.data, s.n, s.k);
    m.backend().check_launch(on.timeline().stream(), "raw_on_device");
    return;
  }
#endif
  const fr::detail::kernel_use uses[] = {{reinterpret_cast<const std::byte*>(y.data), s.n * 4, true, true},
                                         {reinterpret_cast<const std::byte*>(x.data), s.n * 4, true, false}};
  m.backend().launch(on.timeline().stream(), {"raw", uses, [y, x, s](const fr::detail::relocation& move) {
                                                u32 *to = move(y.data), *from = move(x.data);
                                                for (std::size_t i = 0; i < s.n; ++i) raw_kernel{s.k}(i, to, from);
                                              }});
}

// Each device writes its part of y, and reads one element of each neighbouring part of x.
void executor::shard(const step& s) {
  for (std::size_t d = 0; d < shards; ++d) {
    const std::size_t lo = s.n * d / shards, hi = s.n * (d + 1) / shards;
    if (lo == hi) continue;
    const std::size_t left = lo ? lo - 1 : 0, right = std::min(hi + 1, s.n);
    fr::parallel_for(stream((s.stream + static_cast<int>(d)) % shared_streams), hi - lo,
                     stencil_kernel{lo - left, right - left - 1}, inout(s.y, lo, hi - lo, fr::detail::access_mode::out),
                     in(s.x, left, right - left));
  }
}

void executor::temporary(const step& s) {
  const fr::device d = fr::devices()[static_cast<std::size_t>(s.device) % fr::devices().size()];
  fr::device_array<u32> between({s.n}, d);
  fr::parallel_for(stream(s.stream), s.n, set_kernel{s.k}, fr::out(between), in(s.x, s.lx, s.n));
  fr::parallel_for(stream(s.other), s.n, set_kernel{s.k + 1}, inout(s.y, s.lo, s.n, fr::detail::access_mode::out),
                   fr::in(between));
}

bool executor::reduce(const step& s) {
  const auto sum = fr::parallel_reduce(stream(s.stream), s.n, scaled{s.k | 1u}, fr::plus{}, in(s.x, s.lx, s.n));
  fr::parallel_for(stream(s.other), s.n, add_scalar{}, inout(s.y, s.lo, s.n, fr::detail::access_mode::inout),
                   fr::in(sum));
  return !s.flag || static_cast<u32>(sum.value()) == s.expect[0];
}

void executor::graph(const step& s) {
  const fr::stream_ref a = stream(s.stream), b = stream(s.other);
  const auto y = inout(s.y, s.lo, s.n, fr::detail::access_mode::inout);
  fr::graph g = fr::capture(a, [&] {
    loop(s, raw_kernel{s.k}, y, in(s.x, s.lx, s.n));
    fr::parallel_for(b, s.n, set_kernel{s.k}, inout(s.x, s.lx, s.n, fr::detail::access_mode::out), in(s.y, s.lo, s.n));
  });
  g.launch(b);
  g.launch(s.flag ? a : b);
}

bool executor::read(const step& s) {
  return std::visit(
      [&](auto& a) {
        if constexpr (fr::is_host_accessible(std::remove_reference_t<decltype(a)>::kind)) {
          if (s.flag) {
            const auto range = std::as_const(a).slice({s.lo, s.lo + s.n});
            return std::equal(s.expect.begin(), s.expect.end(), range.begin());
          }
        }
        return fr::to_vector(a.slice({s.lo, s.lo + s.n})) == s.expect;
      },
      arrays_[static_cast<std::size_t>(s.y)]->a);
}

}  // namespace race
