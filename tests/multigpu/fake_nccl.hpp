// What the made-up NCCL calls.
#pragma once
#include <functional>

struct fake_nccl_hooks {
  std::function<void(void* stream)> gives;  // an operation to a stream
  std::function<void()> aborts;             // from then on nothing waits any more
};
fake_nccl_hooks& fake_nccl();
