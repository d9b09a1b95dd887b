// SPDX-License-Identifier: Apache-2.0
#include "state/block.h"

#include <gtest/gtest.h>

#include "state/told_events.h"

namespace strata::state {
namespace {

constexpr DeviceId kDisk{0x800000};
constexpr DeviceId kMapped{0xfd00000};
constexpr TaskId kOne = 1;
constexpr TaskId kTwo = 2;

class Block : public testing::Test {
 protected:
  const BlockDevice& disk(DeviceId id = kDisk) { return devices_.devices().at(id); }

  BlockDevices devices_;
};

TEST_F(Block, ARequestIsTimedFromIssueToCompletion) {
  devices_.issue({kDisk, 1000, 8}, BlockDirection::Write, kOne, 100);
  devices_.complete({kDisk, 1000, 8}, 350);
  EXPECT_EQ(disk().requests, 1u);
  EXPECT_EQ(disk().bytes.written, 4096u);
  EXPECT_EQ(disk().service.sum_ns, 250u);
  EXPECT_EQ(disk().service.histogram[8], 1u) << "from 128 to 255";
  EXPECT_EQ(disk().waiting.count, 0u) << "when it was wished for nobody told";
  EXPECT_EQ(devices_.bytes_of(kOne).written, 4096u);
}

TEST_F(Block, BusyTimeIsThatWithAnyRequestAndDepthTheSumOfAll) {
  devices_.issue({kDisk, 0, 8}, BlockDirection::Read, kOne, 100);
  devices_.issue({kDisk, 100, 8}, BlockDirection::Read, kOne, 150);
  devices_.complete({kDisk, 0, 8}, 200);
  devices_.complete({kDisk, 100, 8}, 300);
  devices_.issue({kDisk, 200, 8}, BlockDirection::Read, kOne, 400);
  devices_.settle(500);
  EXPECT_EQ(disk().busy_ns, 200u + 100u);
  EXPECT_EQ(disk().depth_ns, 100u + 150u + 100u);
  EXPECT_EQ(disk().deepest, 2u);
  devices_.reset(500);
  devices_.complete({kDisk, 200, 8}, 520);
  EXPECT_EQ(disk().busy_ns, 20u) << "it was under way when the period began";
}

TEST_F(Block, AWishIsItsTasksAlsoWhereAnotherIssuesIt) {
  devices_.queue({kDisk, 1000, 8}, kOne, 10);
  devices_.insert({kDisk, 1000, 8}, kOne, 20);
  devices_.issue({kDisk, 1000, 8}, BlockDirection::Read, kTwo, 50);
  devices_.complete({kDisk, 1000, 8}, 90);
  EXPECT_EQ(devices_.bytes_of(kOne).read, 4096u);
  EXPECT_EQ(devices_.bytes_of(kTwo).read, 0u);
  EXPECT_EQ(disk().waiting.sum_ns, 40u);
}

TEST_F(Block, WishesMergeAtEitherEnd) {
  devices_.queue({kDisk, 1000, 8}, kOne, 10);
  devices_.queue({kDisk, 1008, 8}, kOne, 12);
  devices_.merge({kDisk, 1008, 8}, kOne, 12);
  devices_.queue({kDisk, 992, 8}, kOne, 14);
  devices_.merge({kDisk, 992, 8}, kOne, 14);
  devices_.issue({kDisk, 992, 24}, BlockDirection::Read, kTwo, 20);
  devices_.complete({kDisk, 992, 24}, 30);
  EXPECT_EQ(disk().requests, 1u);
  EXPECT_EQ(disk().sectors, 24u);
  EXPECT_EQ(disk().waiting.sum_ns, 10u) << "since the first of them";
  EXPECT_EQ(devices_.bytes_of(kOne).read, 24u * 512);
}

TEST_F(Block, WhatIsPassedOnIsDoneForTheFirstDeviceToo) {
  devices_.queue({kMapped, 0, 8}, kOne, 10);
  devices_.remap({kDisk, 2048, 8}, kMapped, 0, kTwo, 11);
  devices_.issue({kDisk, 2048, 8}, BlockDirection::Write, kTwo, 20);
  devices_.complete({kDisk, 2048, 8}, 30);
  EXPECT_EQ(disk().requests, 1u);
  EXPECT_EQ(disk(kMapped).requests, 1u);
  EXPECT_EQ(disk(kMapped).busy_ns, 10u);
  EXPECT_EQ(disk(kMapped).waiting.sum_ns, 10u);
  EXPECT_EQ(devices_.bytes_of(kOne).written, 4096u);
}

TEST_F(Block, ARequestMayBeCompletedInParts) {
  devices_.issue({kDisk, 0, 16}, BlockDirection::Read, kOne, 0);
  devices_.complete({kDisk, 0, 8}, 10);
  EXPECT_EQ(disk().requests, 0u);
  devices_.complete({kDisk, 8, 8}, 30);
  EXPECT_EQ(disk().requests, 1u);
  EXPECT_EQ(disk().bytes.read, 8192u);
  EXPECT_EQ(disk().service.longest_ns, 30u);
}

TEST_F(Block, AfterALossNothingIsUnderWay) {
  devices_.issue({kDisk, 0, 8}, BlockDirection::Read, kOne, 0);
  devices_.lose(10);
  devices_.complete({kDisk, 0, 8}, 500);
  EXPECT_EQ(disk().requests, 0u);
  EXPECT_EQ(disk().busy_ns, 10u);
  EXPECT_EQ(disk().in_flight, 0u);
}

TEST_F(Block, EventsOfTheKernelsTracerTellDirectionInLetters) {
  Told told;
  told.at(0, 0, 5).returns("read");
  const std::vector<Told::Value> place = {{"dev", 0x800000}, {"sector", 64}, {"nr_sector", 8}};
  std::vector<Told::Value> issued = place;
  issued.push_back({"rwbs", 0, "FWS"});
  told.at(10, 0, 5).event("block", "block_rq_issue", issued);
  told.at(40, 0, 5).event("block", "block_rq_complete", place);
  const BlockDevice& device = told.engine.block_devices().devices().at(kDisk);
  EXPECT_EQ(device.bytes.written, 4096u);
  EXPECT_EQ(device.service.sum_ns, 30u);
  EXPECT_EQ(direction_of("RA"), BlockDirection::Read);
  EXPECT_EQ(direction_of("DS"), BlockDirection::Other);
}

}  // namespace
}  // namespace strata::state
