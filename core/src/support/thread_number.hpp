// Small numbers for threads, to spread them over shards.
#pragma once

namespace ferry {

inline thread_local constinit unsigned known_thread_number = ~0u;
unsigned new_thread_number() noexcept;
// Of the calling thread, from 0, in the order of first use. Also while a thread ends, and after main.
inline unsigned this_thread_number() noexcept {
  if (known_thread_number == ~0u) known_thread_number = new_thread_number();
  return known_thread_number;
}

}  // namespace ferry
