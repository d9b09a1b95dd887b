// SPDX-License-Identifier: Apache-2.0
//
// Traces that others recorded. The numbers are trace-cmd's.
#include "support/corpus.h"

#include <gtest/gtest.h>

#include "format/tracedat/trace_dat.h"
#include "trace/merge.h"

namespace strata::tracedat {
namespace {

struct Known {
  const char* name;
  uint64_t events;
  unsigned version;
  uint8_t long_size;
};

class CorpusTest : public testing::TestWithParam<Known> {};

INSTANTIATE_TEST_SUITE_P(Files, CorpusTest,
                         testing::Values(Known{"lisa_sched_load", 3'724, 6, 8},
                                         Known{"trappy_trace", 525, 6, 4},
                                         Known{"trace2", 7'283, 7, 8},
                                         Known{"pair-host", 92'444, 7, 8},
                                         Known{"pair-guest", 511'340, 7, 8}),
                         [](const auto& known) {
                           std::string name = known.param.name;
                           std::erase_if(name, [](char c) { return !isalnum(c); });
                           return name;
                         });

TEST_P(CorpusTest, EveryEventIsReadInOrder) {
  const auto folder = test::corpus();
  if (!folder) GTEST_SKIP() << test::kNoCorpus;
  auto trace = TraceDat::open(*folder + "/dat/" + GetParam().name + ".dat");
  ASSERT_TRUE(trace) << trace.error().text();
  EXPECT_EQ((*trace)->layout().version, GetParam().version);
  EXPECT_EQ((*trace)->layout().target.long_size, GetParam().long_size);
  EXPECT_TRUE((*trace)->problems().empty()) << (*trace)->problems()[0].text();
  trace::Merge merge((*trace)->open_streams());
  uint64_t events = 0;
  int64_t last = std::numeric_limits<int64_t>::min();
  while (merge.next() == trace::Step::Event) {
    ++events;
    EXPECT_GE(merge.event().time.count, last);
    last = merge.event().time.count;
  }
  EXPECT_EQ(events, GetParam().events);
  for (const auto& stream : merge.streams())
    EXPECT_FALSE(stream->problem()) << stream->problem()->text();
  const auto span = (*trace)->time_span();
  ASSERT_TRUE(span);
  EXPECT_EQ(span->end.count, last);
}

}  // namespace
}  // namespace strata::tracedat
