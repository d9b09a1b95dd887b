// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "collect/collector.h"
#include "stress.h"

namespace strata::test {

// Several collectors over one program, each for a session of its own.
class Sessions : public testing::Test {
 protected:
  void SetUp() override { setenv(probe::abi::kSocketVariable, folder_.file("socket").c_str(), 1); }
  void TearDown() override { unsetenv(probe::abi::kSocketVariable); }

  // Everything, or one site of the provider "stress".
  collect::CollectorOptions options(const char* site = nullptr) {
    collect::CollectorOptions options;
    options.socket = folder_.file("socket");
    options.folder = folder_.file("session" + std::to_string(sessions_++));
    std::filesystem::create_directory(options.folder);
    options.layout = small_layout(probe::abi::Policy::Discard, true);
    if (site != nullptr) {
      collect::Site chosen;
      chosen.provider = "stress";
      chosen.name = site;
      options.sites.add(chosen);
    }
    return options;
  }
  std::unique_ptr<collect::Collector> start(const collect::CollectorOptions& options) {
    Result<std::unique_ptr<collect::Collector>> collector = collect::Collector::start(options);
    if (!collector) ADD_FAILURE() << collector.error().text();
    return collector ? std::move(*collector) : nullptr;
  }
  // Ends it. Its events, and losses.
  static collect::TraceTotals end(collect::Collector& collector) {
    const Status status = collector.stop();
    EXPECT_TRUE(status) << status.error().text();
    collect::TraceTotals sum;
    for (const collect::ProgramTraces::Told& trace : collector.traces()) {
      sum.events += trace.totals.events;
      sum.lost += trace.totals.lost;
      sum.lost_unknown += trace.totals.lost_unknown;
    }
    return sum;
  }

  TemporaryFolder folder_;
  int sessions_ = 0;
};

// Fires both sites, so often.
inline void fire_both(uint64_t count) {
  switch_on();
  for (uint64_t number = 0; number < count; ++number) {
    STRATA_TRACE(stress, step, 0, number);
    STRATA_TRACE(stress, handler, number);
  }
}

// The program: from stage 1 on, handing over between the parts.
[[noreturn]] inline void fire_in_three_parts(const SharedTold& told) {
  while (told->stage != 1) usleep(100);
  fire_both(100);
  hand_over(told, 2);
  fire_both(100);
  hand_over(told, 4);
  fire_both(100);
  _exit(0);
}

}  // namespace strata::test
