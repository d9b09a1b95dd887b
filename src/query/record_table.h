// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "query/machines.h"
#include "query/table.h"

namespace strata::query {

// A table of what an index keeps as records: begin, end, duration, machine, then whose they are,
// then its own columns. Conditions on begin, end, machine and whose lead to what is read. Rows come
// in no order.
template <typename Record>
class RecordTable : public Table {
 public:
  struct Row {
    Machine* machine = nullptr;
    Record record;
  };
  struct Part {
    Column column;
    void (*show)(const Row& row, Cell& cell);
  };
  struct Plan {
    std::string name;
    std::string about;
    state::RecordKind kind;
    Column subject;
    Tid (*subject_of)(const Record& record);
    std::vector<Part> parts;
  };

  RecordTable(Machines& machines, Plan plan) : machines_(machines), plan_(std::move(plan)) {
    using enum ColumnType;
    name = plan_.name;
    about = plan_.about;
    plan_.subject.search = Search::Equal;
    columns = {
        {"begin", Integer, "when it begins, ns on the common timeline", Search::Range},
        {"end", Integer, "when it ends", Search::Range},
        {"duration", Integer, "end - begin"},
        {"machine", Text, "the host's name", Search::Equal},
        plan_.subject,
    };
    for (const Part& part : plan_.parts) columns.push_back(part.column);
    about_rows = 1e5;
  }

  std::unique_ptr<Rows> open(const std::atomic<bool>& interrupted) const override {
    return std::make_unique<Walk>(*this, interrupted);
  }

 private:
  enum Shared : size_t { kBegin, kEnd, kDuration, kMachine, kSubject, kOwn };

  class Walk : public Rows {
   public:
    Walk(const RecordTable& table, const std::atomic<bool>& interrupted)
        : table_(table), interrupted_(interrupted) {}

    void begin(const Conditions& conditions) override {
      conditions_ = conditions;
      machine_ = 0;
      walk_ = {};
      is_at_end_ = true;
      if (conditions.is_empty()) return;
      const Result<std::vector<Machine>*> machines = table_.machines_.open();
      if (!machines) {
        failure_ = machines.error();
        return;
      }
      machines_ = *machines;
      is_at_end_ = false;
      next();
    }

    void next() override {
      for (uint32_t passed = 1; passed % kRecordsBetweenLooks != 0 || !interrupted_; ++passed) {
        const Result<const history::Record*> next = walk_.next();
        if (!next) {
          failure_ = next.error();
          break;
        }
        if (*next == nullptr) {
          if (!begin_machine()) break;
          continue;
        }
        row_.record = Record::unpacked(**next);
        if (conditions_.of(kBegin).accepts(row_.record.begin) &&
            conditions_.of(kEnd).accepts(row_.record.end) &&
            conditions_.of(kSubject).accepts(subject()))
          return;
      }
      is_at_end_ = true;
    }

    bool at_end() const override { return is_at_end_; }

    void column(size_t column, Cell& cell) override {
      switch (column) {
        case kBegin:
          return cell.integer(row_.record.begin);
        case kEnd:
          return cell.integer(row_.record.end);
        case kDuration:
          return cell.integer(row_.record.end - row_.record.begin);
        case kMachine:
          return cell.lasting_text(row_.machine->name());
        case kSubject:
          if (table_.plan_.subject_of(row_.record) != kNoTid) cell.integer(subject());
          return;
        default:
          return table_.plan_.parts[column - kOwn].show(row_, cell);
      }
    }

    int64_t number() const override {
      return static_cast<int64_t>(machine_) << 48 | static_cast<int64_t>(walk_.number());
    }

   private:
    static constexpr uint32_t kRecordsBetweenLooks = 4096;

    int64_t subject() const { return raw(table_.plan_.subject_of(row_.record)); }

    bool begin_machine() {
      for (; machine_ < machines_->size(); ++machine_) {
        Machine& machine = (*machines_)[machine_];
        if (!conditions_.of(kMachine).accepts(machine.name())) continue;
        row_.machine = &machine;
        walk_ = machine.index().records(
            table_.plan_.kind,
            std::max(conditions_.of(kBegin).least(), conditions_.of(kEnd).least()),
            std::min(conditions_.of(kBegin).most(), conditions_.of(kEnd).most()),
            conditions_.of(kSubject).only());
        ++machine_;
        return true;
      }
      return false;
    }

    const RecordTable& table_;
    const std::atomic<bool>& interrupted_;
    Conditions conditions_;
    std::vector<Machine>* machines_ = nullptr;
    size_t machine_ = 0;  // the next
    history::Records::Walk walk_;
    Row row_;
    bool is_at_end_ = true;
  };

  Machines& machines_;
  Plan plan_;
};

}  // namespace strata::query
