// SPDX-License-Identifier: Apache-2.0
//
// A trace that is read, not followed, while its writer is at work or ends: what the reader finds is
// whole packets or, told as such, damage.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "base/file_descriptor.h"
#include "format/ctf/ctf_trace.h"
#include "format/ctf/stream_file.h"
#include "format/ctf/writer.h"
#include "support/temporary_folder.h"

namespace strata::ctf {
namespace {

constexpr uint64_t kPacket = 192;
constexpr uint64_t kReserve = 1 << 20;  // what a file is longer than what is in it

struct Read {
  uint64_t events = 0;
  bool in_order = true;  // each event's time is the one before's plus one
  std::string problem;
};

Read read_all(trace::Stream& stream) {
  Read read;
  std::optional<int64_t> last;
  while (stream.next() == trace::Step::Event) {
    const auto time = static_cast<int64_t>(raw(stream.event().ticks));
    if (last && time != *last + 1) read.in_order = false;
    last = time;
    ++read.events;
  }
  if (stream.problem()) read.problem = stream.problem()->text();
  return read;
}

// Packets of 192 bytes with an event each, at the times 0, 1, 2 and so on.
class Unfinished : public testing::Test {
 protected:
  Unfinished() : folder_(temporary_.file("trace")) { begin(folder_); }

  void begin(const std::string& folder) {
    writer_ = std::make_unique<Writer>(*Writer::create(folder, {}, {.overwrite = true}));
    const StreamClassId c = *writer_->add_stream_class({});
    type_ = *writer_->add_event_type(c, {"e", {array_field(integer_field("x", 8, false), 96)}});
    stream_ = *writer_->add_stream(c, {"s", 0, {}});
    written_ = 0;
  }

  void write(uint64_t events) {
    const std::array<std::byte, 96> payload{};
    for (uint64_t i = 0; i < events; ++i) {
      EXPECT_TRUE(stream_->write(type_, written_++, payload));
      EXPECT_TRUE(stream_->flush());
    }
  }

  std::string path() const { return folder_ + "/s"; }
  std::unique_ptr<CtfTrace> open() const { return open(folder_); }
  static std::unique_ptr<CtfTrace> open(const std::string& folder) {
    auto traces = CtfTrace::open_all(folder);
    return traces ? std::move(traces->front()) : nullptr;
  }

  test::TemporaryFolder temporary_;
  std::string folder_;
  std::unique_ptr<Writer> writer_;
  EventId type_{};
  StreamWriter* stream_ = nullptr;
  uint64_t written_ = 0;
};

// Behind the end there are zeros of the same page, or there is no page: 64 packets fill three.
TEST_F(Unfinished, AWriterThatEndsMeanwhileIsNoDamage) {
  for (const uint64_t events : {10, 64}) {
    begin(folder_);
    write(events);
    const auto trace = open();
    ASSERT_TRUE(trace);
    const auto first = trace->open_streams();
    const auto second = trace->open_streams();
    ASSERT_EQ(first[0]->next(), trace::Step::Event);
    ASSERT_TRUE(writer_->finish());
    ASSERT_EQ(std::filesystem::file_size(path()), events * kPacket);
    // Two readers of one mapping: the first one has met its end already.
    const Read one = read_all(*first[0]);
    const Read two = read_all(*second[0]);
    EXPECT_EQ(one.events, events - 1);
    EXPECT_EQ(two.events, events);
    EXPECT_EQ(one.problem + two.problem, "");
  }
}

// Its file is larger then than what was mapped.
TEST_F(Unfinished, AWriterThatGoesOnIsNoDamage) {
  write(10);
  for (const bool finished : {false, true}) {
    const auto trace = open();
    ASSERT_TRUE(trace);
    const auto streams = trace->open_streams();
    ASSERT_EQ(streams[0]->next(), trace::Step::Event);
    write(3 * kReserve / kPacket);
    if (finished) {
      ASSERT_TRUE(writer_->finish());
    }
    const Read read = read_all(*streams[0]);
    EXPECT_EQ(read.events, written_ - 1);
    EXPECT_TRUE(read.in_order);
    EXPECT_EQ(read.problem, "");
  }
}

// Between the two steps of growing, and of ending.
TEST_F(Unfinished, AChangeThatIsUnderWayIsWaitedFor) {
  write(10);
  const uint64_t last = 9 * kPacket;
  for (const uint64_t size : {2 * kReserve, 10 * kPacket}) {
    const FileDescriptor file(::open(path().c_str(), O_RDWR | O_CLOEXEC));
    ASSERT_EQ(flock(file.get(), LOCK_EX), 0);
    ASSERT_EQ(ftruncate(file.get(), static_cast<off_t>(size)), 0);
    const auto trace = open();
    ASSERT_TRUE(trace);
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      const uint64_t bits = (size - last) * 8;
      EXPECT_EQ(pwrite(file.get(), &bits, sizeof bits, last + kPacketSizeAt), 8);
      EXPECT_EQ(flock(file.get(), LOCK_UN), 0);
    });
    const Read read = read_all(*trace->open_streams()[0]);
    other.join();
    EXPECT_EQ(read.events, 10u);
    EXPECT_EQ(read.problem, "");
  }
}

TEST_F(Unfinished, DamageIsTold) {
  write(10);
  ASSERT_TRUE(writer_->finish());
  const FileDescriptor file(::open(path().c_str(), O_RDWR | O_CLOEXEC));
  const auto problem = [&](uint64_t size) {
    EXPECT_EQ(ftruncate(file.get(), static_cast<off_t>(size)), 0);
    const Read read = read_all(*open()->open_streams()[0]);
    EXPECT_EQ(read.events, std::min<uint64_t>(size / kPacket, 10)) << size;
    return read.problem;
  };
  EXPECT_NE(problem(20 * kPacket).find("not a packet"), std::string::npos);
  EXPECT_EQ(problem(10 * kPacket), "");
  EXPECT_NE(problem(9 * kPacket + 100).find("ends within a packet"), std::string::npos);
}

// A file that becomes shorter than what its packets say has lost something.
TEST_F(Unfinished, AFileThatIsCutMeanwhileIsDamage) {
  write(640);
  ASSERT_TRUE(writer_->finish());
  for (const uint64_t size : {600 * kPacket + 5000, 320 * kPacket + 30}) {
    const auto trace = open();
    const auto streams = trace->open_streams();
    ASSERT_EQ(streams[0]->next(), trace::Step::Event);
    std::filesystem::resize_file(path(), size);
    EXPECT_NE(read_all(*streams[0]).problem, "") << size;
  }
}

// However they meet, on a fast machine or a slow one.
TEST_F(Unfinished, AReaderFindsWhatWasThereAtAnyMoment) {
  constexpr uint64_t kKept = 8;  // traces; older ones are removed
  std::atomic<bool> stops{false};
  // The trace's number, and how many of its events are there for certain.
  std::atomic<uint64_t> written{0};
  const auto name = [&](uint64_t number) {
    return temporary_.file("trace" + std::to_string(number));
  };
  std::thread other([&] {
    for (uint64_t number = 1; !stops; ++number) {
      begin(name(number));
      for (int i = 0; i < 60; ++i) {
        write(100);
        written = number << 32 | written_;
      }
      EXPECT_TRUE(writer_->finish());
      if (number > kKept) std::filesystem::remove_all(name(number - kKept));
    }
  });
  for (int reads = 0; reads < 15 && !HasFailure();) {
    const uint64_t there = written;
    if (there == 0) continue;
    const auto trace = open(name(there >> 32));
    if (!trace) continue;  // it is gone
    const Read read = read_all(*trace->open_streams().at(0));
    EXPECT_GE(read.events, there & 0xffffffff);
    EXPECT_TRUE(read.in_order);
    EXPECT_EQ(read.problem, "");
    ++reads;
  }
  stops = true;
  other.join();
}

}  // namespace
}  // namespace strata::ctf
