// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <random>
#include <string>
#include <vector>

#include "history/writer.h"

namespace strata::history {

// What was told to a writer, kept as plainly as can be: what answers are compared with.
class ToldRows {
 public:
  explicit ToldRows(Writer& writer) : writer_(writer) {}

  void set(const std::string& key, int64_t time, State state, uint32_t info = 0) {
    writer_.set(writer_.row(key), time, state, info);
    std::vector<Interval>& row = rows_[key];
    if (!row.empty()) {
      if (row.back().state == state && row.back().info == info) return;
      if (time <= row.back().begin) {
        row.back().state = state;
        row.back().info = info;
        return;
      }
      row.back().end = time;
    }
    row.push_back({time, INT64_MAX, state, info});
  }
  // Of some rows at random: `most` ns at most between two changes, a pause now and then.
  void set_at_random(std::mt19937_64& random, size_t rows, size_t changes, int64_t most) {
    for (size_t i = 0; i < changes; ++i) {
      now_ += static_cast<int64_t>(random() % static_cast<uint64_t>(most));
      if (random() % 1000 == 0) now_ += 1000 * most;
      set("row " + std::to_string(random() % rows), now_, static_cast<State>(random() % 7),
          static_cast<uint32_t>(random() % 3 == 0 ? random() % 1000 : 0));
    }
  }

  int64_t now() const { return now_; }
  // The rows, with all that has not ended ending at this time.
  std::map<std::string, std::vector<Interval>> until(int64_t end) const {
    std::map<std::string, std::vector<Interval>> rows = rows_;
    for (auto& [key, row] : rows) {
      row.back().end = end;
      if (row.back().begin >= end) row.pop_back();
    }
    return rows;
  }

 private:
  Writer& writer_;
  std::map<std::string, std::vector<Interval>> rows_;
  int64_t now_ = 1'000'000;
};

}  // namespace strata::history
