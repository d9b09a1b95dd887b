// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "format/tracedat/clock_options.h"
#include "format/tracedat/cpu_stream.h"
#include "format/tracedat/layout.h"
#include "ftrace/event_text.h"
#include "trace/trace.h"

namespace strata::tracedat {

// A trace.dat file, of version 6 or 7, as a trace.
class TraceDat final : public trace::Trace {
 public:
  static Result<std::unique_ptr<TraceDat>> open(const std::string& path);
  // Whether a file begins as a trace.dat does.
  static bool recognises(Bytes first_bytes);

  std::vector<const trace::EventType*> event_types() const override;
  std::vector<std::unique_ptr<trace::Stream>> open_streams() const override;
  void print_fields(const trace::Event& event, TextBuffer& out) const override;
  const trace::EventType* pair_opener() const override { return pair_opener_; }
  bool is_pair(const trace::Event& first, const trace::Event& second) const override;
  void print_pair(const trace::Event& first, const trace::Event& second,
                  TextBuffer& out) const override;
  const trace::TaskNames& task_names() const override { return task_names_; }
  std::optional<Span> time_span() const override;

  const MappedFile& file() const { return file_; }
  const Layout& layout() const { return layout_; }
  const ClockOptions& clock_options() const { return clock_options_; }
  const EventTypes& types() const { return types_; }
  std::unique_ptr<CpuStream> open_stream(const Buffer& buffer, CpuData data) const;

 private:
  TraceDat(MappedFile file, Layout layout);
  void describe();
  void read_formats();
  void read_task_names();
  const ftrace::EventText& text() const;

  MappedFile file_;
  Layout layout_;
  ClockOptions clock_options_;
  std::vector<std::unique_ptr<trace::EventType>> owned_types_;
  std::unique_ptr<trace::EventType> unknown_;
  EventTypes types_;
  const trace::EventType* pair_opener_ = nullptr;  // of the function graph tracer
  trace::TaskNames task_names_;
  mutable std::unique_ptr<ftrace::EventText> text_;  // made when the first text is wanted
};

}  // namespace strata::tracedat
