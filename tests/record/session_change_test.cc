// SPDX-License-Identifier: Apache-2.0
#include "record/session_change.h"

#include <gmock/gmock.h>

namespace strata::record {
namespace {

using Json = ControlSocket::Json;

TEST(SessionChange, ComesBackAsItWasSent) {
  const SessionChange change{{{"sched:*", {}}, {"block_rq_issue", {"bytes > 4096", "dev == 8"}}},
                             {"syscalls:*"},
                             std::vector<pid_t>{1, 17}};
  const Result<SessionChange> again = parse_change(to_json(change));
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(*again, change);
}

TEST(SessionChange, AllProcessesIsAnotherThingThanNoChangeOfProcesses) {
  SessionChange change;
  change.processes.emplace();
  EXPECT_EQ(*parse_change(to_json(change)), change);
  change = {{}, {"irq"}, std::nullopt};
  EXPECT_EQ(*parse_change(to_json(change)), change);
}

TEST(SessionChange, WhatIsNoChangeIsRefused) {
  for (const char* text :
       {R"({})", R"({"enable": []})", R"({"enable": "sched"})", R"({"enable": ["sched"]})",
        R"({"enable": [{"events": 1}]})", R"({"enable": [{"events": "a", "filters": "b"}]})",
        R"({"disable": [1]})", R"({"disable": {"a": 1}})", R"({"processes": "1"})",
        R"({"processes": [0]})", R"({"processes": [1e300]})", R"({"processes": [4294967297]})"})
    EXPECT_FALSE(parse_change(Json::parse(text))) << text;
}

}  // namespace
}  // namespace strata::record
