// Hooks that the fake NCCL calls.
#pragma once
#include <functional>

struct fake_nccl_hooks {
  std::function<void(void* stream)> gives;  // when an operation is enqueued on a stream
  std::function<void()> aborts;             // on abort; afterwards no operation waits
};
fake_nccl_hooks& fake_nccl();
