// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <strata/strata.h>

#include <memory>
#include <string>

#include "period/json.h"

namespace strata::lib {

inline const std::string kSample = STRATA_SOURCE_DIR "/samples/first.dat";
constexpr int64_t kMillisecond = 1'000'000;

struct Free {
  void operator()(strata_feed* feed) const { strata_feed_close(feed); }
  void operator()(strata_table* table) const { strata_table_free(table); }
};
using Feed = std::unique_ptr<strata_feed, Free>;
using Table = std::unique_ptr<strata_table, Free>;

inline Feed feed_of(const std::string& path) {
  const char* const name = path.c_str();
  char why[STRATA_WHY] = "";
  Feed feed(strata_feed_open(&name, 1, kMillisecond, why, sizeof why));
  EXPECT_TRUE(feed) << why;
  return feed;
}

inline Table next_of(const Feed& feed) {
  strata_table* table = nullptr;
  EXPECT_EQ(strata_feed_next(feed.get(), &table), 1) << strata_feed_problem(feed.get());
  return Table(table);
}

inline std::string line_of(const period::Table& table) {
  TextBuffer line;
  put_json(table, line);
  return std::string(line.view());
}

// Asks a table for everything there is, and a little more.
inline void walk(const strata_table* table) {
  for (size_t machine = 0; machine <= strata_table_machines(table); ++machine) {
    for (int kind = -1; kind <= STRATA_ROW_LATENCY + 1; ++kind) {
      for (size_t number = 0; number <= strata_table_rows(table, machine, kind); ++number) {
        const strata_row row = strata_table_row(table, machine, kind, number);
        for (int column = -1; column <= static_cast<int>(period::kColumnCount); ++column) {
          const bool is_unknown = strata_row_certainty(row, column) == STRATA_UNKNOWN;
          EXPECT_TRUE(!is_unknown || strata_row_value(row, column) == 0u) << column;
        }
        int64_t pid = 0;
        strata_row_number(row, "pid", &pid);
        strata_row_text(row, "name");
        uint64_t count = 0;
        strata_row_histogram(row, &count, nullptr);
      }
    }
  }
}

}  // namespace strata::lib
