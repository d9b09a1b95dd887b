// SPDX-License-Identifier: Apache-2.0
#include "recording/description.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "support/temporary_folder.h"

namespace strata::recording {
namespace {

Description example() {
  Description description;
  description.machines = {{"web1", "host", "d4f64135", "6.1.0"}};
  description.clocks = {{"host.tsc", "web1", 2'600'000'000, "checked"}};
  description.parts = {{.file = "host.dat",
                        .kind = "tracedat",
                        .what = "kernel",
                        .machine = "web1",
                        .clock = "host.tsc",
                        .segment = 1,
                        .lost = 17,
                        .lost_unknown = 2,
                        .finished = true}};
  trace::ClockMap map({{.t0 = 1ull << 60,
                        .u0 = -5,
                        .mult = 3ull << 60,
                        .shift = 62,
                        .rounding = 1ull << 61,
                        .bound_ns = 28}});
  map.from = "host.tsc";
  map.to = "epoch";
  description.maps = {map};
  description.sessions = {
      {"nightly", "root", 1, 2, {"strata", "record", "-e", "x\xff"}, {{3, "+e"}}}};
  return description;
}

TEST(Description, ReadsBackWhatItWrote) {
  Description description = example();
  description.sessions[0].asked[3] = "sched:*";
  const Result<Description> again = parse_description(to_json(description), "recording.json");
  ASSERT_TRUE(again) << again.error().text();
  EXPECT_EQ(again->machines, description.machines);
  EXPECT_EQ(again->clocks, description.clocks);
  EXPECT_EQ(again->parts, description.parts);
  EXPECT_EQ(again->sessions, description.sessions);
  ASSERT_EQ(again->maps.size(), 1u);
  EXPECT_EQ(again->maps[0].pieces(), description.maps[0].pieces());
  EXPECT_EQ(again->maps[0].from, "host.tsc");
}

TEST(Description, WordsThatAreNotUtf8AreReplacedInsteadOfThrown) {
  const std::string json = to_json(example());
  EXPECT_TRUE(parse_description(json, "recording.json"));
}

TEST(Description, BrokenJsonIsAnErrorWithItsPlace) {
  const Result<Description> broken = parse_description("{\"version\": 1, ", "x/recording.json");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().file, "x/recording.json");
  EXPECT_TRUE(broken.error().offset);
}

TEST(Description, ALaterVersionIsRefused) {
  const Result<Description> later = parse_description("{\"version\": 2}", "recording.json");
  ASSERT_FALSE(later);
  EXPECT_NE(later.error().cause.find("version 2"), std::string::npos);
}

TEST(Description, PartsStayInTheFolder) {
  for (const std::string file : {"../x", "/etc/passwd", "..", "a/b", ""}) {
    const Result<Description> led = parse_description(
        R"({"version": 1, "parts": [{"file": ")" + file + R"("}]})", "recording.json");
    EXPECT_FALSE(led) << file;
  }
}

TEST(Description, SlopesThatNoClockHasAreRefused) {
  const auto with = [](const char* piece) {
    return parse_description(
        std::string(R"({"version": 1, "maps": [{"pieces": [)") + piece + "]}]}", "recording.json");
  };
  EXPECT_TRUE(with(R"({"t0": 1, "u0": 2, "mult": 3, "shift": 63})"));
  EXPECT_FALSE(with(R"({"t0": 1, "u0": 2, "mult": 3, "shift": 64})"));
  EXPECT_FALSE(with(R"({"t0": 1, "u0": 2, "mult": 18446744073709551615, "shift": 1})"));
  EXPECT_FALSE(with(R"({"t0": "soon"})"));
}

TEST(Description, IsReplacedAsAWhole) {
  const test::TemporaryFolder folder;
  ASSERT_TRUE(write_description(folder.path(), example()));
  ASSERT_TRUE(write_description(folder.path(), {}));
  const Result<Description> now = read_description(folder.path());
  ASSERT_TRUE(now);
  EXPECT_TRUE(now->parts.empty());
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.path()), {}), 1);
}

}  // namespace
}  // namespace strata::recording
