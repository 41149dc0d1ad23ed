// Limits on memory: soft ones make ferry give unused bytes back early, hard ones are never crossed.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ferry/core/device.hpp"
#include "ferry/core/memory_size.hpp"
#include "ferry/core/memory_tag.hpp"

namespace ferry {

struct memory_limit {
  memory_size soft = {}, hard = {};  // percentages are of the scope's device, or of the system's RAM for pinned memory
};

// The bytes that a limit or a budget is about.
//   {.on = d}                                device and unified memory of that device
//   {.on = d, .kind = memory_kind::unified}  one kind
//   {.kind = memory_kind::host}              pinned memory, of all devices
//   {.tag = "solver"}                        arrays made under a tag, everywhere or (with .on, .kind) in one place
// Limits without a tag are about what pools hold, with what they cache; those of a tag about arrays alone.
struct memory_scope {
  std::optional<device> on = {};
  std::optional<memory_kind> kind = {};
  std::string tag = {};

  bool covers(memory_kind k, int d) const {
    return (!on || on->index() == d) && (kind ? *kind == k : !tag.empty() || k != memory_kind::host);
  }
  std::string text() const;
  bool operator==(const memory_scope&) const = default;
};

// Sets the limits of a scope, in place of those it had; none to take them away. If more than a hard limit is in use, gives
// cached bytes back first, which may block for their last uses. Throws out_of_memory if arrays, workspaces and pinned ranges
// hold more than a hard limit, with the free parts of the pools' segments that arrays use. Throws invalid_argument for a limit above the device, a soft one above the hard one, a
// scope without a size that a percentage could be of, a device that is not there, and, if bytes have to go back,
// inside a submission.
void set_memory_limit(const memory_scope& scope, const memory_limit& limit);
inline void set_memory_limit(device d, const memory_limit& limit) { set_memory_limit({d, {}, {}}, limit); }
// "soft:60%,hard:8GiB": one limit. Throws parse_error.
memory_limit parse_memory_limit(std::string_view text);

struct scoped_memory_limit {
  memory_scope scope;
  memory_limit limit;
};
// Limits separated by ';', as in FERRY_MEMORY_LIMIT, each with what it is for: "soft:60%;device=1,hard:8GiB;kind=host,hard:4GiB;
// tag=solver,hard:1GiB". No scope twice. Throws parse_error that quotes the part.
std::vector<scoped_memory_limit> parse_memory_limits(std::string_view text);
// Sets them for the current machine: those that name neither device nor tag hold for each device, unless others
// name that device; those of pinned memory for all together. Other threads see none of them, or all. Blocks and throws as
// set_memory_limit does; if it throws, no limit has changed.
void set_memory_limits(const std::vector<scoped_memory_limit>& limits);

// RAM that this process may use: the machine's, or less in a container.
std::size_t system_memory_bytes();

// A limit in bytes.
struct limit_rule {
  static constexpr std::size_t none = SIZE_MAX;
  memory_scope scope;
  memory_label tag = 0;
  std::size_t soft = none, hard = none;
  std::string text() const;  // "device 0: soft 4.800 GiB (60%), hard 8.000 GiB"
  std::string soft_as, hard_as;
  std::string left_text(std::size_t used) const;  // "the hard limit of 8.000 GiB on ... leaves 512.000 MiB"
};

// The limits of one machine.
class memory_limits {
 public:
  using rules = std::vector<limit_rule>;
  // In place of those of the same scopes; all() has none of them, or all.
  void set(rules changed);
  // As all() was before.
  void restore(std::shared_ptr<const rules> before);
  bool any() const { return any_.load(std::memory_order_relaxed); }
  bool any_on_tags() const { return any_on_tags_.load(std::memory_order_relaxed); }
  // As they are now.
  std::shared_ptr<const rules> all() const;

 private:
  void hold(std::shared_ptr<const rules> all);
  std::atomic<bool> any_{false}, any_on_tags_{false};
  mutable std::mutex mutex_;
  std::shared_ptr<const rules> rules_ = std::make_shared<rules>();
};

}  // namespace ferry
