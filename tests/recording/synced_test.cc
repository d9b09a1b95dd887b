// SPDX-License-Identifier: Apache-2.0
#include "recording/synced.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <vector>

#include "format/ctf/writer.h"
#include "recording/description.h"
#include "recording/open.h"
#include "support/temporary_folder.h"

namespace strata::recording {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Synced : testing::Test {
  test::TemporaryFolder folder;

  // A trace with an event at each of the times.
  std::string make(const std::string& name, const std::vector<uint64_t>& times) {
    std::filesystem::create_directories(std::filesystem::path(folder.file(name)).parent_path());
    Result<ctf::Writer> writer = ctf::Writer::create(folder.file(name), {});
    EXPECT_TRUE(writer);
    const Result<ctf::StreamClassId> streams = writer->add_stream_class({});
    const Result<ctf::EventId> type =
        writer->add_event_type(*streams, {"e", {ctf::integer_field("x", 8, false)}});
    const Result<ctf::StreamWriter*> stream = writer->add_stream(*streams, {"s", 0, {}});
    const std::byte payload{};
    for (const uint64_t time : times) EXPECT_TRUE((*stream)->write(*type, time, {&payload, 1}));
    EXPECT_TRUE(writer->finish());
    return folder.file(name);
  }

  std::vector<std::vector<int64_t>> times_at(const std::string& path) {
    const auto traces = open_traces(path);
    EXPECT_TRUE(traces) << traces.error().text();
    std::vector<std::vector<int64_t>> all;
    for (const auto& trace : *traces) {
      std::vector<int64_t>& times = all.emplace_back();
      for (const auto& stream : trace->open_streams())
        while (stream->next() == trace::Step::Event) times.push_back(stream->event().time.count);
    }
    return all;
  }

  // u = 2 (t - 100) + 5000
  static trace::ClockMap map() {
    return trace::ClockMap({{.t0 = 100, .u0 = 5000, .mult = 2, .bound_ns = 7}});
  }
};

TEST_F(Synced, OpensAsBothOnOneTimeline) {
  const std::string one = make("one", {100, 101, 150});
  const std::string other = make("other", {10, 20});
  const std::string both = folder.file("both");
  const Status written = write_synced(both, {one, "a"}, {other, "b"}, map());
  ASSERT_TRUE(written) << written.error().text();
  EXPECT_THAT(times_at(both), ElementsAre(ElementsAre(5000, 5002, 5100), ElementsAre(10, 20)));
  EXPECT_THAT(times_at(one), ElementsAre(ElementsAre(100, 101, 150)))
      << "by itself it is as it was";

  const Result<Description> description = read_description(both);
  ASSERT_TRUE(description) << description.error().text();
  EXPECT_EQ(description->maps.front().pieces().front().bound_ns, 7u);
  EXPECT_TRUE(description->clocks.front().is_timeline);
}

TEST_F(Synced, TracesOfOneNameAreKeptApart) {
  const std::string one = make("host/kernel", {100});
  const std::string other = make("guest/kernel", {10});
  ASSERT_TRUE(write_synced(folder.file("both"), {one, "a"}, {other, "b"}, map()));
  EXPECT_THAT(times_at(folder.file("both")), ElementsAre(ElementsAre(5000), ElementsAre(10)));
}

TEST_F(Synced, AnEndOfALinkThatHasGoneIsTold) {
  const std::string one = make("one", {100});
  const std::string other = make("other", {10});
  ASSERT_TRUE(write_synced(folder.file("both"), {one, "a"}, {other, "b"}, map()));
  std::filesystem::remove_all(other);
  const auto traces = open_traces(folder.file("both"));
  ASSERT_FALSE(traces);
  EXPECT_THAT(traces.error().text(), HasSubstr("both/other"));
}

TEST_F(Synced, AFolderIsNotWrittenOver) {
  const std::string one = make("one", {100});
  EXPECT_FALSE(write_synced(one, {one, "a"}, {one, "b"}, map()));
  EXPECT_THAT(times_at(one), ElementsAre(ElementsAre(100)));
}

TEST_F(Synced, FoldersThatLieInEachOtherWithoutAnEndAreRefused) {
  Description description;
  Part& part = description.parts.emplace_back();
  part.file = "again";
  part.finished = true;
  const std::string loop = folder.file("loop");
  std::filesystem::create_directory(loop);
  std::filesystem::create_symlink(".", loop + "/again");
  ASSERT_TRUE(write_description(loop, description));
  const auto traces = open_traces(loop);
  ASSERT_FALSE(traces);
  EXPECT_THAT(traces.error().text(), HasSubstr("without an end"));
}

TEST_F(Synced, AMapToAClockThatNothingHasIsRefused) {
  const std::string one = make("both/one", {100});
  Description description;
  Part& part = description.parts.emplace_back();
  part.file = "one";
  part.clock = "one.time";
  part.finished = true;
  NamedClock& clock = description.clocks.emplace_back();
  clock.name = "one.time";
  clock.is_timeline = true;
  description.maps = {map()};
  description.maps.front().from = "one.time";
  description.maps.front().to = "none";
  ASSERT_TRUE(write_description(folder.file("both"), description));
  const auto traces = open_traces(folder.file("both"));
  ASSERT_FALSE(traces);
  EXPECT_THAT(traces.error().text(), HasSubstr("clock none"));
}

}  // namespace
}  // namespace strata::recording
