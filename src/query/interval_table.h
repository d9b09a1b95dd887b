// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "query/interval_walk.h"
#include "query/machines.h"
#include "query/table.h"

namespace strata::query {

// A row of a table of intervals: one interval of a history, or several that make a whole.
struct Span {
  int64_t begin = 0;
  int64_t end = 0;
  history::State state = 0;
  uint32_t info = 0;
  uint32_t before = 0;                             // the info of the interval before it
  std::array<uint64_t, history::kStates> ns = {};  // of several: how long each state was
};

// Makes rows of the intervals of one thing, which come in order.
class Shape {
 public:
  virtual ~Shape() = default;
  // True where the interval completes a row, which is `span` then.
  virtual bool add(const history::Interval& interval, Span& span) = 0;
  // A row has begun that further intervals may complete.
  virtual bool is_open() const { return false; }
};

// A shape in which each interval that is wanted is a row.
class EachInterval : public Shape {
 public:
  explicit EachInterval(bool (*is_wanted)(const history::Interval&)) : is_wanted_(is_wanted) {}
  bool add(const history::Interval& interval, Span& span) override;

 private:
  bool (*is_wanted_)(const history::Interval&);
  uint32_t before_ = 0;
};

// A shape in which intervals that follow each other are one row: between two that are outside of
// such things, from the first that begins one. Where a part of it is not known, it is none.
class RunOfIntervals : public Shape {
 public:
  enum class Part : uint8_t { Outside, Begins, Within, Unknown };
  explicit RunOfIntervals(Part (*part)(const history::Interval&)) : part_(part) {}
  bool add(const history::Interval& interval, Span& span) override;
  bool is_open() const override { return is_open_; }

 private:
  Part (*part_)(const history::Interval&);
  bool may_begin_ = false;  // the interval before was outside of any
  bool is_open_ = false;
  Span open_;
};

// What intervals are of: a CPU, a task, a virtual CPU.
struct Subject {
  Machine* machine = nullptr;
  uint32_t id = 0;       // the CPU's number, state::TaskId, state::VcpuIndex
  int64_t number = 0;    // the CPU's, or the thread's id: what the table's column shows
  history::Row row = 0;  // of the history
};

// A table of intervals: begin, end, duration, machine, then the subject's number, then its own
// columns. Conditions on begin, end, machine and number lead to what is read.
class IntervalTable : public Table {
 public:
  struct Row {
    Subject subject;
    Span span;
  };
  struct Part {
    Column column;
    void (*show)(const Row& row, Cell& cell);
  };
  struct Plan {
    std::string name;
    std::string about;
    Column number;
    std::vector<Part> parts;
    std::vector<Subject> (*subjects)(Machine& machine);
    std::unique_ptr<Shape> (*shape)();
    bool is_run = false;  // rows are several intervals: one cannot begin reading within them
  };
  IntervalTable(Machines& machines, Plan plan);

  std::unique_ptr<Rows> open(const std::atomic<bool>& interrupted) const override;

 private:
  class Walk;

  Machines& machines_;
  Plan plan_;
};

}  // namespace strata::query
