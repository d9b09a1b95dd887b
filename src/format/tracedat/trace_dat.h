// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "format/tracedat/clock_options.h"
#include "format/tracedat/cpu_stream.h"
#include "format/tracedat/layout.h"
#include "ftrace/event_text.h"
#include "trace/trace.h"

namespace strata::tracedat {

// A trace.dat file, of version 6 or 7, as a trace.
//
// While a trace is being recorded its file is only a head that has no events yet, and each CPU's
// pages grow in a file of their own beside it, <file>.cpu<number>. Such an unfinished trace opens
// with what is there: whole pages.
class TraceDat final : public trace::Trace {
 public:
  static Result<std::unique_ptr<TraceDat>> open(const std::string& path);
  // Whether a file begins as a trace.dat does.
  static bool recognises(Bytes first_bytes);

  std::vector<const trace::EventType*> event_types() const override;
  std::vector<std::unique_ptr<trace::Stream>> open_streams() const override;
  void follow_clock(trace::ClockMap map, const trace::TraceInfo& reference) override;
  void print_fields(const trace::Event& event, TextBuffer& out) const override;
  const trace::EventType* pair_opener() const override { return pair_opener_; }
  bool is_pair(const trace::Event& first, const trace::Event& second) const override;
  void print_pair(const trace::Event& first, const trace::Event& second,
                  TextBuffer& out) const override;
  const trace::TaskNames& task_names() const override { return task_names_; }
  std::optional<Span> time_span() const override;

  const MappedFile& file() const { return file_; }
  // The file that a CPU's pages are in.
  const MappedFile& file_of(const CpuData& data) const { return data.file ? *data.file : file_; }
  bool is_unfinished() const { return !page_files_.empty(); }
  static std::string page_file_name(const std::string& path, uint32_t cpu) {
    return path + ".cpu" + std::to_string(cpu);
  }
  // For streams that are opened afterwards, and followed: what is still being recorded comes from
  // `live`.
  void follow_by(std::unique_ptr<LivePages> live) { live_ = std::move(live); }
  // A recording knows more of a guest's clock than the file: what leads from it to the time, of
  // which the last map is the host's to the epoch. For streams that are opened afterwards.
  void use_clock(std::vector<trace::ClockMap> chain);
  const Layout& layout() const { return layout_; }
  const ClockOptions& clock_options() const { return clock_options_; }
  const EventTypes& types() const { return types_; }
  std::unique_ptr<CpuStream> open_stream(const Buffer& buffer, CpuData data) const;

 private:
  static Result<std::unique_ptr<TraceDat>> open_once(const std::string& path);
  TraceDat(MappedFile file, Layout layout);
  uint32_t cpu_count() const;
  void attach_page_files();
  void describe();
  void read_formats();
  void read_task_names();
  const ftrace::EventText& text() const;

  MappedFile file_;
  std::deque<MappedFile> page_files_;  // of an unfinished trace
  Layout layout_;
  std::unique_ptr<LivePages> live_;
  ClockOptions clock_options_;
  std::optional<std::vector<trace::ClockMap>> clock_;  // instead of what they say
  std::optional<trace::ClockMap> to_reference_;        // another trace's times, from those
  std::vector<std::unique_ptr<trace::EventType>> owned_types_;
  std::unique_ptr<trace::EventType> unknown_;
  EventTypes types_;
  const trace::EventType* pair_opener_ = nullptr;  // of the function graph tracer
  trace::TaskNames task_names_;
  mutable std::unique_ptr<ftrace::EventText> text_;  // made when the first text is wanted
};

}  // namespace strata::tracedat
