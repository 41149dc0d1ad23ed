// Small thread numbers, to spread threads over shards.
#pragma once

namespace ferry {

inline thread_local constinit unsigned known_thread_number = ~0u;
unsigned new_thread_number() noexcept;
// Number of the calling thread, from 0 in order of first use. Also valid while a thread ends, and after main.
inline unsigned this_thread_number() noexcept {
  if (known_thread_number == ~0u) known_thread_number = new_thread_number();
  return known_thread_number;
}

}  // namespace ferry
