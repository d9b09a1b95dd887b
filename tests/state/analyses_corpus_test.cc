// SPDX-License-Identifier: Apache-2.0
//
// What lttng-analyses found in a trace of LTTng's, the engine finds, too.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "recording/open.h"
#include "state/pass.h"
#include "support/corpus.h"

namespace strata::state {
namespace {

using nlohmann::json;

class AnalysesCorpus : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const auto corpus = test::corpus();
    if (!corpus) return;
    folder_ = *corpus + "/ctf/lttng-ref-traces/";
    auto traces = recording::open_traces(folder_ + "basic-kernel-analysis");
    ASSERT_TRUE(traces) << traces.error().text();
    traces_ = std::move(*traces);
    pass_ = std::make_unique<Pass>(traces_);
    pass_->run();
  }
  static void TearDownTestSuite() {
    pass_.reset();
    traces_.clear();
  }
  void SetUp() override {
    if (!pass_) GTEST_SKIP() << test::kNoCorpus;
  }

  static const Engine& engine() { return *pass_->machines().at(0).engine; }
  // The rows of one of the tables in what an analysis found.
  static json rows(const std::string& analysis, size_t table) {
    std::ifstream file(folder_ + "oracle/basic-kernel-analysis/" + analysis + ".mi.json");
    return json::parse(file).at("results").at(table).at("data");
  }
  static TaskId task(const json& process) {
    return engine().tasks().find(Tid{process.at("tid").get<int32_t>()});
  }
  static uint64_t value(const json& cell) { return cell.at("value").get<uint64_t>(); }
  // Their number, the shortest, average and longest, behind what they are of.
  static void expect_durations(const Durations& durations, const json& row) {
    EXPECT_EQ(durations.count, value(row[1])) << row;
    EXPECT_EQ(durations.shortest_ns, value(row[2])) << row;
    EXPECT_NEAR(static_cast<double>(durations.average_ns()), row[3].at("value").get<double>(), 1);
    EXPECT_EQ(durations.longest_ns, value(row[4])) << row;
  }

  static inline std::string folder_;
  static inline Pass::Traces traces_;
  static inline std::unique_ptr<Pass> pass_;
};

TEST_F(AnalysesCorpus, BytesThatProcessesReadAndWrote) {
  for (const json& row : rows("io-runusage", 0))
    EXPECT_EQ(engine().descriptors().traffic(task(row[0])).read_bytes, value(row[1])) << row;
  for (const json& row : rows("io-runusage", 1))
    EXPECT_EQ(engine().descriptors().traffic(task(row[0])).written_bytes, value(row[1])) << row;
}

TEST_F(AnalysesCorpus, BytesOfFiles) {
  std::map<std::string, Traffic> files;
  for (const File& file : engine().descriptors().files().files())
    files[engine().names().text(file.name)] += file.traffic;
  for (const json& row : rows("io-runusage", 2))
    EXPECT_EQ(files[row[0].at("path")].read_bytes, value(row[1])) << row;
  for (const json& row : rows("io-runusage", 3)) {
    // Which is a pipe, as the engine knows.
    if (row[0].at("path") == "unknown (gzip)") continue;
    EXPECT_EQ(files[row[0].at("path")].written_bytes, value(row[1])) << row;
  }
}

TEST_F(AnalysesCorpus, RequestsToDisksAndTheirTimes) {
  for (const json& row : rows("io-runstats", 1)) {
    const NameId name = engine().names().find(row[0].at("name").get<std::string>());
    const auto& devices = engine().block_devices().devices();
    const auto found =
        std::ranges::find_if(devices, [&](const auto& at) { return at.second.name == name; });
    ASSERT_NE(found, devices.end()) << row;
    EXPECT_EQ(found->second.requests, value(row[1]));
    expect_durations(found->second.service, row);
  }
  EXPECT_EQ(engine().block_devices().devices().at(DeviceId{265289728}).sectors,
            value(rows("io-runusage", 5).at(0).at(1)))
      << "and of the disk that the partition is on";
}

TEST_F(AnalysesCorpus, BytesThatProcessesWroteToDisks) {
  for (const json& row : rows("io-runusage", 4)) {
    // There a request is of the task that issues it: one of 8 sectors, which the journal wished
    // for, of a worker.
    const uint64_t passed_on = row[0].at("name") == "jbd2/vda1-8" ? 8 * 512 : 0;
    EXPECT_EQ(engine().block_devices().bytes_of(task(row[0])).written, value(row[1]) + passed_on)
        << row;
  }
}

TEST_F(AnalysesCorpus, BytesOfInterfaces) {
  const Interface& interface = engine().interfaces().at(engine().names().find("ens3"));
  EXPECT_EQ(interface.sent.bytes, value(rows("io-runusage", 9).at(0).at(1)));
  EXPECT_EQ(interface.received.bytes, value(rows("io-runusage", 8).at(0).at(1)));
}

// There, what an interrupt frees is freed by the task that it hit.
TEST_F(AnalysesCorpus, PagesThatProcessesAllocatedAndFreed) {
  const Memory& memory = engine().memory();
  for (const json& row : rows("memtop-run", 0))
    EXPECT_EQ(memory.of(task(row[0])).allocations, value(row[1])) << row;
  uint64_t by_interrupts = 0;
  for (const json& row : rows("memtop-run", 1)) {
    const uint64_t frees = memory.of(task(row[0])).frees;
    ASSERT_LE(frees, value(row[1])) << row;
    by_interrupts += value(row[1]) - frees;
  }
  EXPECT_LE(by_interrupts, memory.of(kNoTask).frees);
}

TEST_F(AnalysesCorpus, TimesOfInterrupts) {
  for (const json& row : rows("irq-runstats", 0)) {
    const std::string name =
        std::to_string(row[0].at("nr").get<int>()) + ' ' + row[0].at("name").get<std::string>();
    const auto found = engine().interrupts().find({Mode::Irq, engine().names().find(name)});
    ASSERT_NE(found, engine().interrupts().end()) << name;
    expect_durations(found->second, row);
  }
}

}  // namespace
}  // namespace strata::state
