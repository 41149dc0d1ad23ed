// Implements pool_backend by CUDA's stream-ordered allocator.
#pragma once
#include <map>

#include <ferry/core/detail/backend/pool_backend.hpp>

#include "errors.hpp"
#include "ferry/core/detail/support/mutex.hpp"
#include "ferry/version.hpp"

namespace ferry::inline FERRY_ABI::detail::cuda {

class cuda_backend;

class driver_pools final : public pool_backend {
 public:
  explicit driver_pools(int devices) : devices_(devices) {}

  bool has_pools(memory_kind kind, int device) const override;
  native_pool create_pool(memory_kind kind, int device, const pool_options& options) override;
  native_pool default_pool(int device, const pool_options& options) override;
  native_pool_usage usage(native_pool p) override;
  void trim(native_pool p, std::size_t keep) override;
  void grant(native_pool p, int device) override;
  void* allocate(native_pool p, std::size_t bytes, native_stream s) override;
  void free(void* p, native_stream s) override;

  int export_pool(native_pool p) override;
  native_pool import_pool(int device, int descriptor) override;
  shared_pointer_key export_pointer(void* p) override;
  void* import_pointer(native_pool p, const shared_pointer_key& key) override;
  native_event create_shared_event(int device) override;
  shared_event_key export_event(native_event e) override;
  native_event import_event(const shared_event_key& key) override;

 private:
  struct owner {
    memory_kind kind = memory_kind::device;
    int device = 0;
  };
  owner owner_of(native_pool p) const;
  native_pool keep(cudaMemPool_t p, owner o);
  const int devices_;
  mutable mutex mutex_;
  std::map<void*, owner> owners_ FERRY_GUARDED_BY(mutex_);
};

}  // namespace ferry::inline FERRY_ABI::detail::cuda
