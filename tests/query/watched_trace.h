// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/output.h"
#include "query/database.h"
#include "query/row_writer.h"
#include "support/temporary_folder.h"
#include "trace/fake_trace.h"

namespace strata::query {

// What was read of a trace.
struct Watch {
  std::vector<uint32_t> cpus;  // of streams that were read at all
  std::vector<int64_t> skips;  // times that were skipped to
  size_t events = 0;           // and the ends of streams
};

// Goes to where it is told, exactly.
class WatchedStream : public trace::FakeStream {
 public:
  WatchedStream(const trace::FakeTrace::Source& source, Watch& watch)
      : FakeStream(source.events, source.cpu, source.buffer, source.error), watch_(watch) {}

  trace::Step next() override {
    if (!was_read_) watch_.cpus.push_back(raw(cpu()));
    was_read_ = true;
    trace::Step step;
    do {
      ++watch_.events;
      step = FakeStream::next();
    } while (step == trace::Step::Event && event_.time.count < skip_to_);
    event_.running = kNoTid;
    return step;
  }
  void skip_to(Nanoseconds time) override {
    watch_.skips.push_back(time.count);
    skip_to_ = time.count;
  }

 private:
  Watch& watch_;
  bool was_read_ = false;
  int64_t skip_to_ = std::numeric_limits<int64_t>::min();
};

class WatchedTrace : public trace::FakeTrace {
 public:
  mutable Watch watch;

  std::vector<std::unique_ptr<trace::Stream>> open_streams() const override {
    std::vector<std::unique_ptr<trace::Stream>> streams;
    for (const Source& source : sources)
      streams.push_back(std::make_unique<WatchedStream>(source, watch));
    return streams;
  }
  std::optional<Span> time_span() const override {
    std::optional<Span> span;
    for (const Source& source : sources)
      for (const trace::FakeEvent& event : source.events)
        widen(span, {Nanoseconds{event.time}, Nanoseconds{event.time}});
    return span;
  }
};

// Everything that is asked, as one text; errors too.
inline std::string ask(Database& database, std::string_view sql, RowStyle style = RowStyle::Csv) {
  test::TemporaryFolder folder;
  const std::string path = folder.file("rows");
  std::string problem;
  {
    Result<Output> out = Output::create(path);
    for (size_t position = 0; position < sql.size();) {
      Result<std::optional<Statement>> statement = database.prepare(sql, position);
      if (!statement) return "error: " + statement.error().cause;
      if (!*statement) continue;
      const auto writer = RowWriter::make(style, false);
      if (Status done = write_rows(**statement, *writer, *out); !done)
        problem = "error: " + done.error().cause;
    }
    if (Status written = out->finish(); !written) return "error: " + written.error().text();
  }
  return test::read_whole_file(path) + problem;
}

}  // namespace strata::query
