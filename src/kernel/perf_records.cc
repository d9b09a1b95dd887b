// SPDX-License-Identifier: Apache-2.0
#include "kernel/perf_records.h"

#include <linux/perf_event.h>

#include <algorithm>

namespace strata::kernel {
namespace {

constexpr size_t kHead = sizeof(perf_event_header);
static_assert(kHead == 8);

}  // namespace

// A head lies in one piece, since all sizes are multiples of 8; what follows it may not.
Bytes PerfRecords::bytes_at(uint64_t position, size_t size) {
  if (position >= first_.size()) return rest_.subspan(position - first_.size(), size);
  if (size <= first_.size() - position) return first_.subspan(position, size);
  const Bytes begin = first_.subspan(position);
  joined_.assign(begin.begin(), begin.end());
  const Bytes end = rest_.first(size - begin.size());
  joined_.insert(joined_.end(), end.begin(), end.end());
  return joined_;
}

PerfRecords::Step PerfRecords::next() {
  if (cause_ != nullptr) return Step::Corrupt;
  const uint64_t size = first_.size() + rest_.size();
  while (position_ < size) {
    if (size - position_ < kHead) return corrupt("a record's head is cut off");
    const Bytes head = bytes_at(position_, kHead);
    const auto type = load<uint32_t>(head.data(), false);
    const auto length = load<uint16_t>(head.data() + 6, false);
    if (length < kHead) return corrupt("a record is shorter than its head");
    if (length % 8 != 0) return corrupt("a record's size is no multiple of 8");
    if (length > size - position_) return corrupt("a record reaches beyond what was written");
    const Bytes body = bytes_at(position_ + kHead, length - kHead);
    Step step = Step::End;
    if (type == PERF_RECORD_SAMPLE)
      step = read_sample(body);
    else if (type == PERF_RECORD_LOST)
      step = read_lost(body, 8);  // behind the event's id
    else if (type == PERF_RECORD_LOST_SAMPLES)
      step = read_lost(body, 0);
    if (step == Step::Corrupt) return step;
    position_ += length;
    if (step != Step::End) return step;
  }
  return Step::End;
}

PerfRecords::Step PerfRecords::read_sample(Bytes body) {
  const size_t fixed = 16 + values_ * 8 + 4;
  if (body.size() < fixed) return corrupt("a sample is too short for its values");
  if (load<uint64_t>(body.data() + 8, false) != values_)
    return corrupt("a sample has another number of values than its group");
  const auto raw_size = load<uint32_t>(body.data() + fixed - 4, false);
  if (raw_size > body.size() - fixed) return corrupt("a tracepoint's record is cut off");
  sample_ = {load<uint64_t>(body.data(), false), body.subspan(16, values_ * 8),
             body.subspan(fixed, raw_size)};
  return Step::Sample;
}

PerfRecords::Step PerfRecords::read_lost(Bytes body, size_t at) {
  if (body.size() < at + 8) return corrupt("a record of a loss is cut off");
  lost_ = load<uint64_t>(body.data() + at, false);
  return Step::Lost;
}

PerfRecords::Step PerfRecords::corrupt(const char* cause) {
  cause_ = cause;
  return Step::Corrupt;
}

}  // namespace strata::kernel
