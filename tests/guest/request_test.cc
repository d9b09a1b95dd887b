// SPDX-License-Identifier: Apache-2.0
#include "guest/request.h"

#include <gmock/gmock.h>

namespace strata::guest {
namespace {

using ::testing::HasSubstr;

std::string why_not(std::string_view json) {
  const Result<Request> request = parse_request(json);
  return request ? "" : request.error().cause;
}

TEST(Request, ComesBackAsItWasAsked) {
  Request request;
  request.events = {{"sched", {"prev_pid == 1", "next_pid == 2"}}, {"net:*", {}}};
  request.filters = {"common_pid != 7"};
  request.profiles = {"system"};
  request.uprobes = {"/bin/bash:readline arg1=%di"};
  request.usdts = {"/lib/libc.so.6:libc:memory_sbrk_more"};
  request.kprobes = {"do_sys_open"};
  request.presets = {"qemu"};
  request.counters = {"task-clock"};
  request.read_at = {"sched:sched_switch"};
  request.apps = {"/usr/bin/shop"};
  request.contexts = {"tid"};
  request.processes = {1, 99};
  request.clock = "mono";
  request.buffer_bytes = 8 << 20;
  request.state = false;
  request.max_bytes = uint64_t{1} << 40;
  request.sync = std::chrono::milliseconds(250);
  request.compressed = true;
  request.profiles_file = "mine.txt";
  request.profiles_text = "mine: sched:*";
  request.cgroup = "/system.slice";
  request.container = "shop";
  request.policy = probe::abi::Policy::Block;
  request.wait = std::chrono::milliseconds(10);
  const Result<Request> read = parse_request(to_json(request));
  ASSERT_TRUE(read) << read.error().text();
  EXPECT_EQ(*read, request);
}

TEST(Request, WhatIsNotSaidIsTheDefault) {
  const Result<Request> read = parse_request("{}");
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, Request());
  EXPECT_EQ(
      parse_request(R"({"events":[{"events":"irq","filters":["irq == 3"]}]})")->events[0].pattern,
      "irq");
}

TEST(Request, WhatNobodyHereKnowsIsRefusedRatherThanLeftOut) {
  EXPECT_THAT(why_not(R"({"command":["rm","-rf","/"]})"),
              HasSubstr("\"command\": nobody here knows what that is"));
  EXPECT_THAT(why_not(R"({"output":"/etc"})"), HasSubstr("\"output\""));
  EXPECT_THAT(why_not(R"({"events":[{"events":"a","filters":[],"run":"x"}]})"),
              HasSubstr("\"events\""));
}

TEST(Request, WhatIsOfAnotherKindIsRefused) {
  for (const std::string_view json :
       {R"({"profiles":"system"})", R"({"profiles":[1]})", R"({"buffer_bytes":-1})",
        R"({"buffer_bytes":1.5})", R"({"state":1})", R"({"processes":[0]})",
        R"({"processes":[-4]})", R"({"processes":[99999999999]})", R"({"events":["sched"]})",
        R"({"events":{}})", R"({"events":[{"events":"a"}]})", R"({"sync_ms":99999999999})",
        R"({"clock":null})"})
    EXPECT_THAT(why_not(json), HasSubstr("the request's")) << json;
  for (const std::string_view json : {"", "[]", "7", "{", "{}}", "\"x\""})
    EXPECT_EQ(why_not(json), "the request is no JSON object") << json;
}

}  // namespace
}  // namespace strata::guest
