// as: host
// Sharing with other processes: refused calls and their reasons. A successful exchange needs two processes:
// examples/two_processes.
#include "contract/fixture.hpp"

using namespace contract;

BOOST_FIXTURE_TEST_SUITE(contract_of_sharing, clean)

BOOST_AUTO_TEST_CASE(what_cannot_be_shared_is_refused) {
  fr::pool usual(fr::device(0), {.kind = fr::pool_kind::split});
  check_error<fr::invalid_argument>([&] { (void)fr::export_pool(usual); }, {"export_pool", ".shareable = true"});
  fr::device_array<float> a({100}), strided_from({100}), empty;
  check_error<fr::invalid_argument>([&] { (void)fr::share(a); }, {"share", ".shareable = true"});
  check_error<fr::invalid_argument>([&] { (void)fr::share(strided_from.slice({0, 100, 2})); }, {"strided"});
  check_error<fr::invalid_argument>([&] { (void)fr::share(empty); }, {"empty"});
  fr::workspace w;
  const fr::workspace_scope use(w);
  const fr::device_array<float> b({100});
  check_error<fr::invalid_argument>([&] { (void)fr::share(b); }, {"workspace", "FERRY_POISON"});
}

BOOST_AUTO_TEST_CASE(simulated_devices_share_nothing) {
  const fr::simulation runtime("devices=1");
  check_error<fr::not_supported>([] { fr::shared_event e(fr::device(0)); }, {"one process", "shared"});
  check_error<fr::not_supported>([] { fr::imported_pool p(fr::device(0), 0); }, {"one process"});
  fr::pool p(fr::device(0), {.kind = fr::pool_kind::driver, .shareable = true});
  check_error<fr::not_supported>([&] { (void)fr::export_pool(p); }, {"one process"});
  {
    const fr::pool_scope use(p);
    fr::device_array<float> a({100});
    check_error<fr::not_supported>([&] { (void)fr::share(a); }, {"one process"});
  }
}

BOOST_AUTO_TEST_SUITE_END()
