// SPDX-License-Identifier: Apache-2.0
#include "state/periods.h"

#include <algorithm>
#include <utility>

namespace strata::state {

Periods::Periods(std::span<const Machine> machines, int64_t begin, int64_t last, int64_t length,
                 std::string clock, Take take)
    : machines_(machines),
      begin_(begin),
      last_(last),
      length_(std::max<int64_t>(length, 1)),
      next_(saturated(Int128{begin} + length_)),
      clock_(std::move(clock)),
      take_(std::move(take)) {
  for (const Machine& machine : machines_)
    cutters_.push_back(std::make_unique<PeriodCutter>(*machine.engine, begin));
}

bool Periods::arrive(const trace::Event& event, size_t machine) {
  if (event.time.count >= next_ && next_ < last_) [[unlikely]]
    reach(event.time.count);
  cutters_[machine]->count(event);
  return !is_enough_;
}

// The next event comes then.
void Periods::reach(int64_t time) {
  cut(next_);
  const Int128 quiet = (Int128{std::min(time, last_)} - begin_) / length_ * length_;
  // The last period is not left without length.
  if (const int64_t edge = saturated(quiet + begin_); edge > begin_ && edge < last_) cut(edge);
  next_ = saturated(Int128{begin_} + length_);
}

void Periods::cut(int64_t time) {
  period::Table table{.begin = begin_, .end = time, .clock = clock_};
  for (size_t i = 0; i < cutters_.size(); ++i)
    table.machines.push_back(cutters_[i]->cut(time, machines_[i].name));
  begin_ = time;
  if (!is_enough_ && !take_(std::move(table))) is_enough_ = true;
}

void Periods::finish(int64_t end) { cut(std::max(begin_, end)); }

}  // namespace strata::state
