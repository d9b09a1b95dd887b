// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "format/ctf/writer.h"
#include "support/temporary_folder.h"

namespace strata::ctf {
namespace {

TEST(CtfWriterThreads, EachWritesAStreamOfItsOwnAndDeclaresTypesMeanwhile) {
  const test::TemporaryFolder temporary;
  const std::string folder = temporary.file("trace");
  Result<Writer> writer = Writer::create(folder, NewTrace{}, {.packet_size = 4096});
  ASSERT_TRUE(writer);
  const StreamClassId c = *writer->add_stream_class({});
  constexpr int kThreads = 4;
  constexpr uint64_t kEvents = 20'000;
  std::vector<std::thread> threads;
  std::vector<StreamWriter*> streams(kThreads);
  for (size_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      streams[i] = *writer->add_stream(c, {"s" + std::to_string(i), 0, {}});
      const std::array<std::byte, 20> payload{};
      EventId id{};
      for (uint64_t t = 0; t < kEvents; ++t) {
        if (t % 1000 == 0)
          id = *writer->add_event_type(c, {"e" + std::to_string(i) + "_" + std::to_string(t),
                                           {array_field(integer_field("x", 8, false), 20)}});
        streams[i]->write(id, t, payload);
      }
      (void)streams[i]->flush();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const StreamWriter* stream : streams) {
    EXPECT_TRUE(stream->status());
    EXPECT_EQ(stream->events(), kEvents);
  }
  ASSERT_TRUE(writer->finish());
  const std::string metadata = test::read_whole_file(folder + "/metadata");
  EXPECT_NE(metadata.find("\"e3_19000\""), std::string::npos);
  for (int i = 0; i < kThreads; ++i)
    EXPECT_GT(std::filesystem::file_size(folder + "/s" + std::to_string(i)), kEvents * 24);
}

}  // namespace
}  // namespace strata::ctf
