// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/cpu_stream.h"

#include <utility>

namespace strata::tracedat {

using trace::Step;

CpuStream::CpuStream(const MappedFile& file, const Layout& layout, const Buffer& buffer,
                     CpuData data, const EventTypes& types, std::vector<trace::ClockMap> clock,
                     LivePages* live)
    : clock_(std::move(clock)),
      types_(types.by_id.data()),
      type_count_(types.by_id.size()),
      swap_(layout.target.order != kNativeOrder),
      pages_(file, layout, buffer, data),
      file_(file),
      all_types_(types),
      live_(live),
      target_(layout.target) {
  event_.cpu = CpuId{data.cpu};
  buffer_ = buffer.name;
}

Step CpuStream::next() {
  for (;;) {
    const ftrace::RingPage::Step step = page_.next();
    if (step == ftrace::RingPage::Step::Record) [[likely]] {
      const Bytes record = page_.record();
      if (record.size() < sizeof(uint16_t)) [[unlikely]]
        continue;
      const uint16_t id = load<uint16_t>(record.data(), swap_);
      const trace::EventType* type = id < type_count_ ? types_[id] : nullptr;
      if (type == nullptr) [[unlikely]]
        type = unknown_type(id);
      event_.type = type;
      event_.record = record;
      event_.ticks = page_.ticks();
      event_.time = clock_.at(event_.ticks);
      place_loss();
      return Step::Event;
    }
    if (step == ftrace::RingPage::Step::Corrupt) leave_corrupt_page();
    if (const Step at = next_page(); at != Step::Event) return at;
  }
}

void CpuStream::follow() {
  if (live_ != nullptr) pages_.follow(*live_);
}

void CpuStream::leave_corrupt_page() {
  // The rest of this page is gone, and with it an unknown number of events.
  add_problem(file_.shrank()
                  ? file_.shrank_error()
                  : Error{file_.path(), pages_.page_offset() + page_.position(), page_.cause()});
  note_unknown_loss();
}

Step CpuStream::next_page() {
  while (!ended_) {
    switch (pages_.next()) {
      case CpuPages::Step::Page:
        page_ = ftrace::RingPage(pages_.page(), target_, pages_.is_cut_off());
        if (page_.lost_count_known())
          note_loss(page_.lost_count());
        else if (page_.lost())
          note_unknown_loss();
        return Step::Event;
      case CpuPages::Step::Quiet:
        page_ = {};
        event_.time = live_->until() ? clock_.at(*live_->until()) : trace::kNoTime;
        return Step::Quiet;
      case CpuPages::Step::Bad:
        add_problem(pages_.error());
        note_unknown_loss();
        break;
      case CpuPages::Step::End:
        ended_ = true;
        break;
    }
  }
  page_ = {};
  return Step::End;
}

const trace::EventType* CpuStream::unknown_type(uint16_t id) {
  add_problem({file_.path(), pages_.page_offset() + page_.position(),
               "an event of type " + std::to_string(id) + ", which the file does not describe"});
  return all_types_.unknown;
}

std::optional<Nanoseconds> CpuStream::block_time(uint64_t block) {
  pages_.seek_block(block);
  if (pages_.next() != CpuPages::Step::Page) return std::nullopt;
  const ftrace::RingPage page(pages_.page(), target_);
  if (page.bytes_used() <= ftrace::page_header_size(target_)) return std::nullopt;
  return clock_.at(page.page_ticks());
}

void CpuStream::skip_to(Nanoseconds time) {
  // The last block that begins before `time`: what is wanted begins there, or in the block after.
  uint64_t low = 0;
  uint64_t high = pages_.block_count();
  while (high - low > 1) {
    const uint64_t middle = low + (high - low) / 2;
    const std::optional<Nanoseconds> begins = block_time(middle);
    if (begins && *begins < time)
      low = middle;
    else
      high = middle;
  }
  pages_.seek_block(low);
  page_ = {};
}

std::optional<Nanoseconds> CpuStream::last_time() {
  for (uint64_t block = pages_.block_count(); block-- > 0;) {
    pages_.seek_block(block);
    page_ = {};
    ended_ = false;
    std::optional<Nanoseconds> last;
    while (next() == Step::Event) last = event_.time;
    if (last) return last;
  }
  return std::nullopt;
}

}  // namespace strata::tracedat
