// Forwards to another backend's pools. Tests derive from it to count, refuse or watch some calls.
#pragma once
#include <ferry/core/detail/backend/pool_backend.hpp>

namespace support {

class forwarding_pools : public ferry::detail::pool_backend {
 public:
  // `below` must outlive this object.
  explicit forwarding_pools(ferry::detail::pool_backend& below) : below_(below) {}

  bool has_pools(ferry::memory_kind kind, int device) const override { return below_.has_pools(kind, device); }
  ferry::detail::native_pool create_pool(ferry::memory_kind kind, int device, const ferry::pool_options& o) override {
    return below_.create_pool(kind, device, o);
  }
  ferry::detail::native_pool default_pool(int device, const ferry::pool_options& o) override {
    return below_.default_pool(device, o);
  }
  ferry::detail::native_pool_usage usage(ferry::detail::native_pool p) override { return below_.usage(p); }
  void trim(ferry::detail::native_pool p, std::size_t keep) override { below_.trim(p, keep); }
  void grant(ferry::detail::native_pool p, int device) override { below_.grant(p, device); }
  void* allocate(ferry::detail::native_pool p, std::size_t bytes, ferry::native_stream s) override {
    return below_.allocate(p, bytes, s);
  }
  void free(void* p, ferry::native_stream s) override { below_.free(p, s); }

  int export_pool(ferry::detail::native_pool p) override { return below_.export_pool(p); }
  ferry::detail::native_pool import_pool(int device, int descriptor) override {
    return below_.import_pool(device, descriptor);
  }
  ferry::detail::shared_pointer_key export_pointer(void* p) override { return below_.export_pointer(p); }
  void* import_pointer(ferry::detail::native_pool p, const ferry::detail::shared_pointer_key& key) override {
    return below_.import_pointer(p, key);
  }
  ferry::native_event create_shared_event(int device) override { return below_.create_shared_event(device); }
  ferry::detail::shared_event_key export_event(ferry::native_event e) override { return below_.export_event(e); }
  ferry::native_event import_event(const ferry::detail::shared_event_key& key) override {
    return below_.import_event(key);
  }

 private:
  ferry::detail::pool_backend& below_;
};

}  // namespace support
