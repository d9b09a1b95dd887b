// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "query/table.h"

namespace strata::query {

// A table of few rows that lie in a list. Each column says itself how its value is had of a row.
template <typename Row>
class ListTable : public Table {
 public:
  struct Part {
    Column column;
    void (*show)(const Row& row, Cell& cell);
  };
  // Makes the list, for each statement that reads the table.
  using List = std::function<Result<std::vector<Row>>()>;

  ListTable(std::string called, std::string what, std::vector<Part> parts, List list)
      : parts_(std::move(parts)), list_(std::move(list)) {
    name = std::move(called);
    about = std::move(what);
    for (const Part& part : parts_) columns.push_back(part.column);
  }

  std::unique_ptr<Rows> open(const std::atomic<bool>&) const override {
    return std::make_unique<Walk>(*this);
  }

 private:
  class Walk : public Rows {
   public:
    explicit Walk(const ListTable& table) : table_(table) {}

    void begin(const Conditions&) override {
      row_ = 0;
      if (!rows_.empty()) return;
      Result<std::vector<Row>> rows = table_.list_();
      if (rows)
        rows_ = *std::move(rows);
      else
        failure_ = std::move(rows).error();
    }
    void next() override { ++row_; }
    bool at_end() const override { return row_ >= rows_.size(); }
    void column(size_t column, Cell& cell) override {
      table_.parts_[column].show(rows_[row_], cell);
    }
    int64_t number() const override { return static_cast<int64_t>(row_); }

   private:
    const ListTable& table_;
    std::vector<Row> rows_;
    size_t row_ = 0;
  };

  std::vector<Part> parts_;
  List list_;
};

}  // namespace strata::query
