// SPDX-License-Identifier: Apache-2.0
#include "query/interval_table.h"

#include <algorithm>
#include <limits>

namespace strata::query {
namespace {

enum Shared : size_t { kBegin, kEnd, kDuration, kMachine, kNumber, kOwn };
constexpr uint32_t kIntervalsBetweenLooks = 4096;

}  // namespace

bool EachInterval::add(const history::Interval& interval, Span& span) {
  const uint32_t before = std::exchange(before_, interval.info);
  if (!is_wanted_(interval)) return false;
  span = {interval.begin, interval.end, interval.state, interval.info, before};
  return true;
}

bool RunOfIntervals::add(const history::Interval& interval, Span& span) {
  const Part part = part_(interval);
  if (part == Part::Outside || part == Part::Unknown) {
    may_begin_ = true;
    const bool is_whole = std::exchange(is_open_, false) && part == Part::Outside;
    if (is_whole) span = open_;
    return is_whole;
  }
  if (part == Part::Begins && may_begin_ && !is_open_) {
    open_ = {interval.begin, interval.end, interval.state, interval.info};
    is_open_ = true;
  }
  may_begin_ = false;
  if (!is_open_) return false;
  open_.end = interval.end;
  open_.ns[interval.state % history::kStates] +=
      static_cast<uint64_t>(interval.end - interval.begin);
  return false;
}

class IntervalTable::Walk : public Rows {
 public:
  Walk(const IntervalTable& table, const std::atomic<bool>& interrupted)
      : table_(table), interrupted_(interrupted) {}

  void begin(const Conditions& conditions) override {
    subjects_.clear();
    next_subject_ = 0;
    walk_ = {};
    is_at_end_ = true;
    if (conditions.is_empty() || !find_subjects(conditions)) return;
    // Whatever fulfils the conditions has a part between these, or touches them. Of what is made of
    // several intervals, the first must be among them, and the last may come at any time.
    const int64_t least = conditions.of(kBegin).least();
    from_ = saturated(
        Int128{table_.plan_.is_run ? least : std::max(least, conditions.of(kEnd).least())} - 1);
    last_begin_ = conditions.of(kBegin).most();
    until_ = table_.plan_.is_run ? std::numeric_limits<int64_t>::max()
                                 : saturated(Int128{last_begin_} + 1);
    is_at_end_ = false;
    next();
  }

  void next() override {
    for (uint32_t passed = 1;; ++passed) {
      if (passed % kIntervalsBetweenLooks == 0 && interrupted_) break;
      const Result<const history::Interval*> next = walk_.next();
      if (!next) {
        failure_ = next.error();
        break;
      }
      const history::Interval* interval = *next;
      if (interval == nullptr || (interval->begin > last_begin_ && !shape_->is_open())) {
        if (!begin_subject()) break;
      } else if (shape_->add(*interval, row_.span)) {
        return;
      }
    }
    is_at_end_ = true;
  }

  bool at_end() const override { return is_at_end_; }

  void column(size_t column, Cell& cell) override {
    switch (column) {
      case kBegin:
        return cell.integer(row_.span.begin);
      case kEnd:
        return cell.integer(row_.span.end);
      case kDuration:
        return cell.integer(row_.span.end - row_.span.begin);
      case kMachine:
        return cell.lasting_text(row_.subject.machine->name());
      case kNumber:
        return cell.integer(row_.subject.number);
      default:
        return table_.plan_.parts[column - kOwn].show(row_, cell);
    }
  }

 private:
  bool find_subjects(const Conditions& conditions) {
    const Result<std::vector<Machine>*> machines = table_.machines_.open();
    if (!machines) {
      failure_ = machines.error();
      return false;
    }
    for (Machine& machine : **machines) {
      if (!conditions.of(kMachine).accepts(machine.name())) continue;
      for (const Subject& subject : table_.plan_.subjects(machine))
        if (conditions.of(kNumber).accepts(subject.number)) subjects_.push_back(subject);
    }
    return true;
  }

  bool begin_subject() {
    if (next_subject_ == subjects_.size()) return false;
    row_.subject = subjects_[next_subject_++];
    walk_ = IntervalWalk(row_.subject.machine->history(), row_.subject.row, from_, until_);
    shape_ = table_.plan_.shape();
    return true;
  }

  const IntervalTable& table_;
  const std::atomic<bool>& interrupted_;
  std::vector<Subject> subjects_;
  size_t next_subject_ = 0;
  int64_t from_ = 0;
  int64_t until_ = 0;
  int64_t last_begin_ = 0;
  IntervalWalk walk_;
  std::unique_ptr<Shape> shape_;
  Row row_;
  bool is_at_end_ = true;
};

IntervalTable::IntervalTable(Machines& machines, Plan plan)
    : machines_(machines), plan_(std::move(plan)) {
  using enum ColumnType;
  name = plan_.name;
  about = plan_.about;
  plan_.number.search = Search::Equal;
  columns = {
      {"begin", Integer, "when it begins, ns on the common timeline", Search::Range},
      {"end", Integer, "when it ends", Search::Range},
      {"duration", Integer, "end - begin"},
      {"machine", Text, "the host's name", Search::Equal},
      plan_.number,
  };
  for (const Part& part : plan_.parts) columns.push_back(part.column);
  key = {kMachine, kNumber, kBegin, kEnd};
  about_rows = 1e6;
}

std::unique_ptr<Rows> IntervalTable::open(const std::atomic<bool>& interrupted) const {
  return std::make_unique<Walk>(*this, interrupted);
}

}  // namespace strata::query
