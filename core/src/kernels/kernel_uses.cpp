#include "ferry/core/detail/kernels/kernel_uses.hpp"

#include <algorithm>
#include <cstring>
#include <string>

#include "ferry/core/detail/ordering/array_text.hpp"
#include "ferry/core/detail/support/concat.hpp"
#include "ferry/core/detail/support/plain_text.hpp"
#include "ferry/core/error.hpp"

namespace ferry::inline FERRY_ABI::detail {
namespace {

// Calls f(first element, number of elements, index of the first one in iteration order) for each contiguous piece.
template <class F>
void each_row(const strided_bytes& at, const strided_shape& shape, F f) {
  std::size_t outer = shape.rank, row = 1;  // the last dimensions form one row while they are contiguous
  while (outer > 0 && at.stride_bytes[outer - 1] == static_cast<std::ptrdiff_t>(row * shape.element_bytes))
    row *= shape.extent[--outer];
  std::array<std::size_t, max_rank> index{};
  for (std::size_t number = 0;; number += row) {
    std::byte* p = at.base;
    for (std::size_t d = 0; d != outer; ++d) p += static_cast<std::ptrdiff_t>(index[d]) * at.stride_bytes[d];
    f(p, row, number);
    std::size_t d = outer;
    while (d > 0 && ++index[d - 1] == shape.extent[d - 1]) index[--d] = 0;
    if (d == 0) return;
  }
}

std::size_t count_of(const strided_shape& s) {
  std::size_t n = 1;
  for (std::size_t d = 0; d != s.rank; ++d) n *= s.extent[d];
  return n;
}

byte_range bounding_range_of(const watched_elements& e) {
  const std::byte *begin = e.at.base, *end = e.at.base + e.shape.element_bytes;
  for (std::size_t d = 0; d != e.shape.rank; ++d) {
    const std::ptrdiff_t reach = static_cast<std::ptrdiff_t>(e.shape.extent[d] - 1) * e.at.stride_bytes[d];
    (reach < 0 ? begin : end) += reach;
  }
  return {begin, end};
}

bool share_elements(const watched_elements& a, const watched_elements& b) {
  const byte_range bounding_range = bounding_range_of(a);
  if (!bounding_range.overlaps(bounding_range_of(b))) return false;
  std::vector<bool> taken(bounding_range.size());
  each_row(a.at, a.shape, [&](const std::byte* p, std::size_t n, std::size_t) {
    const auto first = taken.begin() + (p - bounding_range.begin);
    std::fill(first, first + static_cast<std::ptrdiff_t>(n * a.shape.element_bytes), true);
  });
  bool shared = false;
  each_row(b.at, b.shape, [&](const std::byte* p, std::size_t n, std::size_t) {
    for (const std::byte* q = p; q != p + n * b.shape.element_bytes && !shared; ++q)
      shared = q >= bounding_range.begin && q < bounding_range.end &&
               taken[static_cast<std::size_t>(q - bounding_range.begin)];
  });
  return shared;
}

// Returns words that are signalling NaNs as double and as float: no arithmetic operation results in one.
std::uint64_t pattern_word(std::size_t number) {
  std::uint64_t h = (number + 1) * 0x9E3779B97F4A7C15u;
  h ^= h >> 29;
  return 0x7FF4'0000'7FA0'0000u | (h & 0x0003'FFFF'001F'FFFFu);
}
// Writes the pattern of element `number`.
void pattern_of(std::size_t number, std::size_t bytes, std::byte* to) {
  const std::size_t words = (bytes + 7) / 8;
  for (std::size_t w = 0; w != words; ++w) {
    const std::uint64_t word = pattern_word(number * words + w);
    std::memcpy(to + 8 * w, &word, std::min<std::size_t>(8, bytes - 8 * w));
  }
}

std::string index_text(const watched_elements& e, std::size_t number) {
  std::array<std::string, max_rank> parts;
  for (std::size_t d = e.shape.rank; d-- > 0; number /= e.shape.extent[d])
    parts[d] = std::to_string(e.first[d] + static_cast<std::ptrdiff_t>(number % e.shape.extent[d]));
  std::string all = "(";
  for (std::size_t d = 0; d != e.shape.rank; ++d) all += (d ? ", " : "") + parts[d];
  return all + ")";
}

std::string argument_text(const watched_elements& e) {
  const std::size_t n = count_of(e.shape);
  std::string text = quoted_name(e.array.text());
  text += concat(" of ", n, n == 1 ? " element" : " elements");
  return text + (e.line.is_known() ? " (passed in " + e.line.text() + ")" : "");
}

[[noreturn]] void throw_changed(const watched_elements& e, std::size_t first, std::size_t count) {
  throw invalid_argument(concat(argument_text(e), " is declared as read only, and the kernel wrote ", count,
                                " of them, the first at index ", index_text(e, first),
                                ": pass inout(a), or out(a) where every element is written"));
}
[[noreturn]] void throw_unwritten(const watched_elements& e, std::size_t first, std::size_t count) {
  throw invalid_argument(concat(argument_text(e), " is passed as out, and the kernel did not write ", count,
                                " of them, the first at index ", index_text(e, first),
                                ": write every element, pass a view of those that are written, or pass inout(a)"));
}

}  // namespace

struct watched_run::watched {
  watched_elements what;  // at the address that the kernel uses
  std::vector<std::byte> before;
};

void use_watch::add(const watched_elements& e) {
  if (count_of(e.shape) > 0) all_.push_back(e);
}

watched_run::watched_run(const use_watch* w, const relocation& move) {
  if (!w) return;
  for (const watched_elements& e : w->all_) {
    const bool is_input = e.mode == access_mode::in;
    if (std::any_of(w->all_.begin(), w->all_.end(), [&](const watched_elements& o) {
          return &o != &e && (is_input ? o.mode != access_mode::in : true) && share_elements(e, o);
        }))
      continue;
    if (e.mode == access_mode::inout) continue;
    watched one{e, {}};
    one.what.at.base = move(e.at.base);
    const std::size_t size = e.shape.element_bytes;
    if (is_input) one.before.resize(count_of(e.shape) * size);
    each_row(one.what.at, e.shape, [&](std::byte* p, std::size_t n, std::size_t number) {
      if (is_input)
        std::memcpy(one.before.data() + number * size, p, n * size);
      else
        for (std::size_t i = 0; i != n; ++i) pattern_of(number + i, size, p + i * size);
    });
    all_.push_back(std::move(one));
  }
}

watched_run::~watched_run() = default;

void watched_run::finish() {
  for (const watched& w : all_) {
    const watched_elements& e = w.what;
    const std::size_t size = e.shape.element_bytes, total = count_of(e.shape);
    const bool is_input = e.mode == access_mode::in;
    const bool alone_counts = size > 4 || (size == 4 && (e.are_floating || total <= 65536));
    const std::size_t run_needed =
        is_input || size >= 4 ? 1 : (std::min<std::size_t>(8, total * size) + size - 1) / size;
    if (!is_input && total * size < 4) continue;
    std::size_t first = 0, count = 0, run = 0;
    std::vector<std::byte> pattern(size);
    each_row(e.at, e.shape, [&](const std::byte* p, std::size_t n, std::size_t number) {
      if (is_input && std::memcmp(p, w.before.data() + number * size, n * size) == 0) return;
      for (std::size_t i = 0; i != n; ++i, p += size) {
        bool wrong = false;
        if (is_input) {
          wrong = std::memcmp(p, w.before.data() + (number + i) * size, size) != 0;
        } else {
          pattern_of(number + i, size, pattern.data());
          wrong = std::memcmp(p, pattern.data(), size) == 0;
        }
        run = wrong ? run + 1 : 0;
        if (run < run_needed) continue;
        if (count == 0) first = number + i + 1 - run;
        count += run == run_needed ? run : 1;
      }
    });
    if (count == 0) continue;
    if (is_input) throw_changed(e, first, count);
    if (alone_counts || count > 1) throw_unwritten(e, first, count);
  }
}

}  // namespace ferry::inline FERRY_ABI::detail
