// SPDX-License-Identifier: Apache-2.0
//
// Descriptors and requests to block devices as the index has them, against what the engine knew at
// each moment.
#include "state/index_records.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "recording/open.h"
#include "state/index.h"
#include "state/index_writer.h"
#include "state/pass.h"
#include "state/told_events.h"
#include "support/corpus.h"
#include "support/temporary_folder.h"
#include "trace/merge.h"

namespace strata::state {
namespace {

template <typename Record>
std::vector<Record> records_of(Index& index, RecordKind kind, int64_t begin = INT64_MIN,
                               int64_t end = INT64_MAX) {
  std::vector<Record> all;
  history::Records::Walk walk = index.records(kind, begin, end);
  for (auto next = walk.next(); next && *next != nullptr; next = walk.next())
    all.push_back(Record::unpacked(**next));
  return all;
}

// Events of files, and what the index kept of them, as text: "5:3 /a 100-200 read 70 openat close".
class IndexedFiles : public testing::Test {
 protected:
  IndexedFiles() { told_.at(10, 0, 5).returns("getpid").state_of_task(5, 5); }

  void call(int64_t time, int32_t tid, const std::string& name,
            const std::vector<int64_t>& arguments, int64_t result, std::string_view path = {}) {
    static constexpr std::string_view kNames[] = {"a", "b", "c", "d"};
    std::vector<Told::Value> values = {{"__syscall_nr", 0}};
    for (size_t i = 0; i < arguments.size(); ++i) values.push_back({kNames[i], arguments[i]});
    if (!path.empty()) values.push_back({"__filename_val", 0, path});
    told_.at(time, 0, tid).event("syscalls", "sys_enter_" + name, values);
    told_.event("syscalls", "sys_exit_" + name, {{"ret", result}});
  }
  std::set<std::string> finish(int64_t time) {
    told_.engine.tell_index(time);
    EXPECT_TRUE(writer_->finish(time));
    std::set<std::string> found;
    Result<Index> index = Index::open(path_, 1);
    if (!index) {
      ADD_FAILURE() << index.error().text();
      return found;
    }
    for (const auto& one : records_of<DescriptorRecord>(*index, RecordKind::Descriptor))
      found.insert(std::to_string(raw(one.process)) + ':' + std::to_string(one.fd) + ' ' +
                   index->name(one.name) + ' ' + std::to_string(one.begin) + '-' +
                   std::to_string(one.end) + " read " + std::to_string(one.traffic.read_bytes) +
                   ' ' + index->name(one.made_by) + ' ' + std::string(name_of(one.how_ended)) +
                   (one.close_on_exec ? " cloexec" : ""));
    return found;
  }

  test::TemporaryFolder folder_;
  std::string path_ = folder_.file("index");
  std::unique_ptr<IndexWriter> writer_ =
      std::make_unique<IndexWriter>(*IndexWriter::create(path_, 1));
  Told told_{0, writer_.get()};
};

using Texts = std::set<std::string>;

TEST_F(IndexedFiles, ADescriptorLastsFromBeingOpenedToBeingClosed) {
  call(100, 5, "openat", {-100, 0, 0, 0}, 3, "/a");
  call(120, 5, "read", {3, 0, 100}, 70);
  call(150, 5, "dup2", {3, 4}, 4);
  call(170, 5, "read", {4, 0, 100}, 5);
  call(200, 5, "close", {3}, 0);
  call(250, 5, "openat", {-100, 0, 02000000, 0}, 3, "/b");
  EXPECT_EQ(finish(300),
            (Texts{"5:3 /a 100-200 read 70 openat close", "5:4 /a 150-300 read 5 dup2 open",
                   "5:3 /b 250-300 read 0 openat open cloexec"}));
}

TEST_F(IndexedFiles, OneThatWasOnlyUsedBeginsThen) {
  call(100, 5, "read", {7, 0, 100}, 70);
  call(110, 5, "openat", {-100, 0, 0, 0}, 3, "/a");
  call(120, 5, "dup2", {7, 3}, 3);
  EXPECT_EQ(finish(300),
            (Texts{"5:7  100-300 read 70  open", "5:3 /a 110-120 read 0 openat replaced",
                   "5:3  120-300 read 0 dup2 open"}));
}

TEST_F(IndexedFiles, ChildrenHaveTheirOwnUntilExecAndExit) {
  call(100, 5, "openat", {-100, 0, 02000000, 0}, 3, "/a");
  call(110, 5, "openat", {-100, 0, 0, 0}, 4, "/b");
  told_.at(120, 0, 5).event("task", "task_newtask",
                            {{"pid", 6}, {"comm", 0, "sh"}, {"clone_flags", 0}});
  told_.at(125, 0, 5).switches(5, 0, 6);
  told_.at(130, 0, 6).event("sched", "sched_process_exec", {{"filename", 0, "x"}, {"pid", 6}});
  told_.at(140, 0, 6).event("sched", "sched_process_exit", {{"comm", 0, "x"}, {"pid", 6}});
  EXPECT_EQ(finish(300),
            (Texts{"5:3 /a 100-300 read 0 openat open cloexec", "5:4 /b 110-300 read 0 openat open",
                   "6:3 /a 120-130 read 0 fork exec cloexec", "6:4 /b 120-140 read 0 fork exit"}));
}

TEST_F(IndexedFiles, AfterALossNothingIsKnownToBeOpen) {
  call(100, 5, "openat", {-100, 0, 0, 0}, 3, "/a");
  told_.at(200, 0, 5).lost().event("syscalls", "sys_enter_getpid", {{"__syscall_nr", 0}});
  call(210, 5, "read", {3, 0, 100}, 70);
  EXPECT_EQ(finish(300),
            (Texts{"5:3 /a 100-100 read 0 openat lost", "5:3  210-300 read 70  open"}));
}

TEST_F(IndexedFiles, ARequestLastsFromTheWishToCompletion) {
  BlockDevices devices(writer_.get());
  constexpr DeviceId kDisk{0x800000};
  const TaskId task = told_.engine.tasks().find(Tid{5});
  told_.engine.tell_index(10);
  devices.queue({kDisk, 1000, 8}, task, 10);
  devices.queue({kDisk, 1008, 8}, task, 12);
  devices.merge({kDisk, 1008, 8}, task, 13);
  devices.issue({kDisk, 1000, 16}, BlockDirection::Write, task, 50);
  devices.complete({kDisk, 1000, 8}, 80);
  devices.complete({kDisk, 1008, 8}, 90);
  devices.issue({kDisk, 5000, 8}, BlockDirection::Read, kNoTask, 95);
  devices.tell_open(100);
  ASSERT_TRUE(writer_->finish(100));
  Result<Index> index = Index::open(path_, 1);
  ASSERT_TRUE(index);
  auto found = records_of<BlockRecord>(*index, RecordKind::BlockRequest);
  std::ranges::sort(found, {}, &BlockRecord::begin);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0], (BlockRecord{.begin = 10,
                                   .end = 90,
                                   .tid = Tid{5},
                                   .task = task,
                                   .device = kDisk,
                                   .origin = kDisk,
                                   .sector = 1000,
                                   .sectors = 16,
                                   .direction = BlockDirection::Write,
                                   .has_wish = true,
                                   .is_issued = true,
                                   .is_completed = true,
                                   .issued = 50,
                                   .merged = 1}));
  EXPECT_EQ(found[1], (BlockRecord{.begin = 95,
                                   .end = 100,
                                   .device = kDisk,
                                   .origin = kDisk,
                                   .sector = 5000,
                                   .sectors = 8,
                                   .direction = BlockDirection::Read,
                                   .is_issued = true,
                                   .issued = 95}));
}

TEST(IndexRecords, NumbersFromOutsideBecomeSomethingThatIs) {
  history::Record record{1, 2, {}};
  record.values.fill(-77);
  EXPECT_EQ(DescriptorRecord::unpacked(record).kind, FileKind::Unknown);
  EXPECT_EQ(DescriptorRecord::unpacked(record).how_ended, DescriptorEnd::None);
  EXPECT_EQ(BlockRecord::unpacked(record).direction, BlockDirection::Other);
}

// At a moment: the number, and the call that made it. That it was open before is told late.
using OpenThen = std::multiset<std::pair<int32_t, std::string>>;

std::string maker(std::string_view name) { return std::string(name == "before" ? "" : name); }

OpenThen open_now(const Engine& engine) {
  OpenThen open;
  std::set<const Descriptor*> seen;  // by tasks that share a table
  for (TaskId task = 0; task < engine.tasks().size(); ++task) {
    for (const Descriptor& one : engine.descriptors().of(task)) {
      if (!seen.insert(&one).second) continue;
      open.insert({one.fd, one.made_by == nullptr ? "" : maker(one.made_by->name)});
    }
  }
  return open;
}

// Records at a time: those that have begun and not ended, but for what a process that nobody told
// of keeps.
TEST(IndexRecordsOfCorpus, AreWhatWasOpenAtEachMoment) {
  if (!test::corpus()) GTEST_SKIP() << test::kNoCorpus;
  size_t compared = 0;
  for (const char* name :
       {"ctf/lttng-ref-traces/basic-kernel-analysis", "ctf/lttng-ref-traces/picotrace",
        "ctf/nested-kvm/host", "ctf/tracecompass/perf-taskset2"}) {
    SCOPED_TRACE(name);
    auto traces = recording::open_traces(*test::corpus() + '/' + name);
    ASSERT_TRUE(traces) << traces.error().text();
    const test::TemporaryFolder folder;
    Pass whole(*traces);
    ASSERT_TRUE(whole.write_index([&](size_t) { return folder.file("index"); }, 1));
    whole.run();
    ASSERT_EQ(whole.machines().size(), 1u);
    Result<Index> index = Index::open(folder.file("index"), 1);
    ASSERT_TRUE(index) << index.error().text();

    std::mt19937_64 random(3);
    std::set<int64_t> times;
    const auto span = static_cast<uint64_t>(whole.span().end.count - whole.span().begin.count);
    for (int i = 0; i < 300; ++i)
      times.insert(whole.span().begin.count + static_cast<int64_t>(random() % span));
    Pass replay(*traces);
    replay.at_event = [&](const trace::Event& event, size_t, const Engine& engine) {
      for (; !times.empty() && *times.begin() < event.time.count; times.erase(times.begin())) {
        if (engine.losses() > 0) continue;  // that it was lost is told later than it was
        const int64_t at = *times.begin();
        OpenThen expected;
        for (const auto& one : records_of<DescriptorRecord>(*index, RecordKind::Descriptor, at, at))
          if (one.begin <= at && (at < one.end || one.how_ended == DescriptorEnd::None))
            expected.insert({one.fd, maker(index->name(one.made_by))});
        EXPECT_EQ(open_now(engine), expected) << at;
        compared += expected.size();
      }
      return true;
    };
    replay.run();
  }
  EXPECT_GT(compared, 1000u);
}

TEST(IndexRecordsOfCorpus, RequestsAddUpToWhatTheDevicesDid) {
  if (!test::corpus()) GTEST_SKIP() << test::kNoCorpus;
  auto traces =
      recording::open_traces(*test::corpus() + "/ctf/lttng-ref-traces/basic-kernel-analysis");
  ASSERT_TRUE(traces) << traces.error().text();
  const test::TemporaryFolder folder;
  Pass pass(*traces);
  ASSERT_TRUE(pass.write_index([&](size_t) { return folder.file("index"); }, 1));
  pass.run();
  Result<Index> index = Index::open(folder.file("index"), 1);
  ASSERT_TRUE(index) << index.error().text();
  struct Sum {
    uint64_t requests = 0;
    uint64_t sectors = 0;
    uint64_t service_ns = 0;
    bool operator==(const Sum&) const = default;
  };
  std::map<DeviceId, Sum> found;
  for (const auto& one : records_of<BlockRecord>(*index, RecordKind::BlockRequest)) {
    if (!one.is_completed) continue;
    for (const DeviceId device : std::set{one.device, one.origin}) {
      ++found[device].requests;
      found[device].sectors += one.sectors;
      found[device].service_ns += static_cast<uint64_t>(one.end - one.issued);
    }
  }
  EXPECT_FALSE(found.empty());
  for (const auto& [id, device] : pass.machines().front().engine->block_devices().devices()) {
    if (device.requests == 0) continue;
    EXPECT_EQ(found[id], (Sum{device.requests, device.sectors, device.service.sum_ns}));
  }
}

}  // namespace
}  // namespace strata::state
