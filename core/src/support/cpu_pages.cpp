#include "support/cpu_pages.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

namespace ferry::inline FERRY_ABI::detail {
namespace {

bool is_in_memory(std::uintptr_t address) {
  static const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  unsigned char resident = 0;
  return ::mincore(reinterpret_cast<void*>(address / page * page), 1, &resident) == 0 && (resident & 1) != 0;
}

}  // namespace

bool is_written_page(const void* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  if (!is_in_memory(address)) return false;
  std::FILE* const maps = std::fopen("/proc/self/maps", "re");
  if (!maps) return false;
  bool writable = false;
  char line[512];
  bool at_start = true;  // at the start of a line: paths may be longer than the buffer
  while (std::fgets(line, sizeof line, maps)) {
    unsigned long long begin = 0, end = 0;
    char rights[5] = {};
    const bool is_range = at_start && std::sscanf(line, "%llx-%llx %4s", &begin, &end, rights) == 3;
    at_start = false;
    for (const char* c = line; *c; ++c) at_start = at_start || *c == '\n';
    if (!is_range || address < begin || address >= end) continue;
    writable = rights[1] == 'w' && (end - begin) >> 40 == 0;
    break;
  }
  std::fclose(maps);
  return writable;
}

}  // namespace ferry::inline FERRY_ABI::detail
