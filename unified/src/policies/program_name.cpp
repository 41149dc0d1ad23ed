#include "policies/program_name.hpp"

#include <cerrno>
#include <mutex>

namespace ferry::inline FERRY_ABI::detail {
namespace {

std::mutex& guards() {
  static auto* m = new std::mutex;
  return *m;
}
program_identity& known() {
  static auto* p = new program_identity;
  return *p;
}

}  // namespace

program_identity program_identity::now() {
  std::lock_guard lock(guards());
  program_identity p = known();
  if (p.name.empty()) p.name = program_invocation_short_name;
  return p;
}

void program_identity::set(program_identity p) {
  std::lock_guard lock(guards());
  known() = std::move(p);
}

}  // namespace ferry::inline FERRY_ABI::detail
