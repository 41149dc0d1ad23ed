#include "tuning/tune_progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <iostream>

#include "ferry/core/detail/support/plain_text.hpp"

namespace ferry {
namespace {

constexpr std::size_t bar = 24, line = 100;
constexpr const char* wipe = "\r\033[K";

}  // namespace

tune_progress::tune_progress(std::ostream* to, std::size_t trials)
    : to_(to                      ? to
          : isatty(STDERR_FILENO) ? &std::cerr
                                  : nullptr),
      trials_(std::max<std::size_t>(trials, 1)) {}

tune_progress::~tune_progress() {
  if (to_) *to_ << wipe << std::flush;
}

void tune_progress::show(const std::string& array, const array_policy& p, double best) {
  if (!to_) return;
  const std::size_t at = std::min(done_++, trials_), full = bar * at / trials_;
  std::string text = "tuning [" + std::string(full, '#') + std::string(bar - full, '.') + "] " +
                     std::to_string(100 * at / trials_) + " %";
  if (best > 0) text += ", best " + detail::short_text(best, 4) + " ms";
  text += "  " + (array.empty() ? std::string("all") : array) + ": " + p.text();
  *to_ << wipe << text.substr(0, line) << std::flush;
}

}  // namespace ferry
