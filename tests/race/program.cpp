// as: host
#include "race/program.hpp"

#include <algorithm>
#include <numeric>

namespace race {

generator::generator(u32 seed, int threads, int devices, sizes large)
    : random_(seed * 2654435761u + 12345u),
      threads_(threads),
      devices_(devices),
      sizes_(large) {}

std::vector<phase> generator::make(int operations) {
  std::vector<phase> all(1);
  for (int y = 0; y < slots; ++y) all[0].of_thread[0].push_back(fresh(y));
  const int length = std::max(1, operations / 6);
  for (int done = 0; done < operations; done += length) {
    deal_roles();
    phase& p = all.emplace_back();
    for (int i = 0; i < length; ++i) add(threads_ == 1 ? 0 : static_cast<int>(below(2)), p);
    for (int h = 0; h < 2; ++h)
      if (raw_[h]) finish_raw(h, p);
    if (done + length >= operations || below(3) == 0)
      for (int y = 0; y < slots; ++y) p.check.push_back(read_all(y));
  }
  return all;
}

step generator::fresh(int y) {
  constexpr ferry::memory_kind kinds[] = {ferry::memory_kind::unified, ferry::memory_kind::device,
                                          ferry::memory_kind::unified, ferry::memory_kind::host};
  step s;
  s.what = op::renew;
  s.y = y;
  s.kind = kind_[y] = kinds[below(4)];
  s.device = static_cast<int>(below(static_cast<std::size_t>(devices_)));
  s.stream = static_cast<int>(below(shared_streams));
  if (sizes_ == sizes::tiny)
    s.n = 8 + below(56);
  else
    s.n = below(3) == 0 ? 1000 + below(60000) : 300000 + below(1200000);
  s.k = random_();
  s.flag = below(4) == 0;
  value_[y].resize(s.n);
  for (u32 i = 0; i < s.n; ++i) value_[y][i] = s.k + i;
  return s;
}

step generator::read_all(int y) {
  step s;
  s.what = op::host_read;
  s.y = y;
  s.n = value_[y].size();
  s.expect = value_[y];
  return s;
}

// With two threads each has arrays of its own. Both threads only read the shared arrays, and only add to the
// accumulators.
void generator::deal_roles() {
  std::array<int, slots> role;
  std::iota(role.begin(), role.end(), 0);
  std::shuffle(role.begin(), role.end(), random_);
  own_ = {};
  shared_.clear(), accumulators_.clear();
  for (int j = 0; j < slots; ++j) {
    if (threads_ == 1 || j < 3)
      own_[0].push_back(role[j]);
    else if (j < 6)
      own_[1].push_back(role[j]);
    else
      (below(2) ? shared_ : accumulators_).push_back(role[j]);
  }
}

int generator::any(int thread) {
  const std::size_t c = below(own_[thread].size() + shared_.size());
  return c < own_[thread].size() ? own_[thread][c] : shared_[c - own_[thread].size()];
}

void generator::finish_raw(int thread, phase& into) {
  const step s = raw_[thread]->second;
  for (std::size_t i = 0; i < s.n; ++i)
    value_[s.y][s.lo + i] = raw_of(value_[s.y][s.lo + i], value_[s.x][s.lx + i], s.k);
  own_[thread].push_back(s.y), own_[thread].push_back(s.x);
  raw_[thread].reset();
  into.of_thread[thread].push_back(s);
}

void generator::add(int thread, phase& into) {
  if (raw_[thread] && raw_[thread]->first-- == 0) finish_raw(thread, into);
  for (;;) {
    step s;
    s.what = static_cast<op>(below(static_cast<std::size_t>(op::count)));
    s.y = mine(thread), s.x = any(thread), s.z = any(thread);
    s.stream = static_cast<int>(below(shared_streams));
    if (const std::size_t c = below(6); c < 2) s.stream = own_stream(thread, static_cast<int>(c));
    if (below(10) == 0) s.stream = foreign_stream(thread);
    s.other = own_stream(thread, static_cast<int>(below(2)));
    s.device = static_cast<int>(below(static_cast<std::size_t>(devices_)));
    s.k = random_();
    s.flag = below(2);
    const bool simple = s.what == op::map || s.what == op::set || s.what == op::copy;
    if (raw_[thread] && simple && below(2)) {  // may continue on the same stream while the pointer is open
      const step& r = raw_[thread]->second;
      s.stream = r.stream;
      (below(2) ? s.x : s.y) = below(2) ? r.x : r.y;
    }
    if (!apply(thread, s)) continue;
    into.of_thread[thread].push_back(std::move(s));
    return;
  }
}

// Chooses ranges and computes the expected result. Returns false if the step does not apply.
bool generator::apply(int thread, step& s) {
  const bool host_op = s.what == op::host_scan || s.what == op::host_write;
  if (host_op && kind_[s.y] == ferry::memory_kind::device) return false;
  const bool elementwise = s.what == op::map || s.what == op::set || s.what == op::copy || s.what == op::turn ||
                           s.what == op::raw_take || s.what == op::strided || s.what == op::temporary ||
                           s.what == op::reduce || s.what == op::graph;
  if (elementwise && (s.x == s.y || s.z == s.y)) return false;
  auto &y = value_[s.y], &x = value_[s.x], &z = value_[s.z];
  s.n = below(3) ? y.size() : 1 + below(y.size());
  if (elementwise) s.n = std::min({s.n, x.size(), z.size()});
  s.lo = below(y.size() - s.n + 1);
  s.lx = s.n <= x.size() ? below(x.size() - s.n + 1) : 0;
  s.lz = s.n <= z.size() ? below(z.size() - s.n + 1) : 0;
  switch (s.what) {
    case op::map:
      for (std::size_t j = 0; j < s.n; ++j) y[s.lo + j] = map_of(y[s.lo + j], x[s.lx + j], z[s.lz + j], s.k);
      return true;
    case op::set:
      for (std::size_t j = 0; j < s.n; ++j) y[s.lo + j] = set_of(x[s.lx + j], s.k);
      return true;
    case op::fill:
      for (std::size_t j = 0; j < s.n; ++j) y[s.lo + j] = s.k;
      return true;
    case op::copy:
      for (std::size_t j = 0; j < s.n; ++j) y[s.lo + j] = x[s.lx + j];
      return true;
    case op::turn:  // a reversed copy
      for (std::size_t j = 0; j < s.n; ++j) y[s.lo + j] = x[s.lx + s.n - 1 - j];
      return true;
    case op::upload:
      for (std::size_t j = 0; j < s.n; ++j) y[s.lo + j] = s.k ^ static_cast<u32>(j);
      return true;
    case op::strided:  // every second element, and x reversed
      for (std::size_t j = 0; 2 * j < s.n; ++j) y[s.lo + 2 * j] = set_of(x[s.lx + s.n - 1 - 2 * j], s.k);
      return true;
    case op::accumulate:
      if (!accumulators_.empty()) s.y = accumulators_[below(accumulators_.size())];
      s.n = value_[s.y].size();
      for (u32& e : value_[s.y]) e += s.k;
      return true;
    case op::host_read: {
      const auto first = y.begin() + static_cast<std::ptrdiff_t>(s.lo);
      s.expect.assign(first, first + static_cast<std::ptrdiff_t>(s.n));
      return true;
    }
    case op::host_scan: s.expect = y; return true;
    case op::host_write:
      for (std::size_t j = 0; j < s.n; ++j) y[s.lo + j] = s.k * static_cast<u32>(j);
      return true;
    case op::renew: {
      const int stream = s.stream;
      s = fresh(s.y);
      s.stream = stream;
      return true;
    }
    case op::freed:  // free() while work is pending, and a new array in its place
      s = fresh(s.y);
      s.what = op::freed;
      return true;
    case op::raw_take: {
      const bool x_is_shared = std::find(shared_.begin(), shared_.end(), s.x) != shared_.end();
      if (raw_[thread] || own_[thread].size() < 3 || x_is_shared) return false;
      step launch = s;
      launch.what = op::raw_launch;
      raw_[thread] = {static_cast<int>(below(4)), launch};
      std::erase(own_[thread], s.y), std::erase(own_[thread], s.x);
      return true;
    }
    case op::shard: {
      if (s.x == s.y) return false;
      s.n = std::min(x.size(), y.size());
      for (std::size_t j = 0; j < s.n; ++j) y[j] = stencil_of(x[j ? j - 1 : 0], x[j], x[std::min(j + 1, s.n - 1)]);
      return true;
    }
    case op::temporary:  // through an array that is destroyed while its work is pending
      for (std::size_t j = 0; j < s.n; ++j) y[s.lo + j] = set_of(set_of(x[s.lx + j], s.k), s.k + 1);
      return true;
    case op::reduce: {
      u32 sum = 0;
      for (std::size_t j = 0; j < s.n; ++j) sum += x[s.lx + j] * (s.k | 1u);
      s.expect = {sum};
      for (std::size_t j = 0; j < s.n; ++j) y[s.lo + j] += sum;
      return true;
    }
    case op::graph:  // two kernels on two streams, launched twice
      if (std::find(shared_.begin(), shared_.end(), s.x) != shared_.end()) return false;
      s.stream = own_stream(thread, 0), s.other = own_stream(thread, 1);
      if (raw_[thread] && (raw_[thread]->second.stream == s.stream || raw_[thread]->second.stream == s.other))
        return false;
      for (int launch = 0; launch < 2; ++launch) {
        for (std::size_t j = 0; j < s.n; ++j) y[s.lo + j] = raw_of(y[s.lo + j], x[s.lx + j], s.k);
        for (std::size_t j = 0; j < s.n; ++j) x[s.lx + j] = set_of(y[s.lo + j], s.k);
      }
      return true;
    case op::renew_stream:
      s.stream = below(3) ? own_stream(thread, static_cast<int>(below(2))) : foreign_stream(thread);
      return !(raw_[thread] && raw_[thread]->second.stream == s.stream);
    case op::trim: return below(4) == 0;
    case op::synchronize: return true;
    case op::raw_launch:
    case op::count: return false;
  }
  return false;
}

}  // namespace race
