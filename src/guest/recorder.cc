// SPDX-License-Identifier: Apache-2.0
#include "guest/recorder.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "guest/recorder_order.h"
#include "record/session.h"
#include "record/wish.h"

namespace strata::guest {
namespace {

constexpr size_t kLongestOrder = size_t{4} << 20;

// Byte by byte: what comes behind it, which is the input's end, is waited for by the session.
Result<std::string> read_line(int file) {
  std::string line;
  char c = 0;
  while (true) {
    const ssize_t size = read(file, &c, 1);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return system_error("", "cannot read what to record", errno);
    if (size == 0) return Error{"", std::nullopt, "nothing says what to record"};
    if (c == '\n') return line;
    if (line.size() >= kLongestOrder) return Error{"", std::nullopt, "what to record is too long"};
    line += c;
  }
}

void tell(const RecorderNews& news) {
  const std::string line = to_json(news) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t size = write(STDOUT_FILENO, line.data() + done, line.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return;  // the agent is gone; the session ends for that reason by itself
    done += static_cast<size_t>(size);
  }
}

record::SessionRequest session_of(const RecorderOrder& order) {
  record::SessionRequest session;
  session.name = order.session;
  session.folder = order.folder;
  session.compressed = false;
  session.asked = {"strata", "agent"};
  record::ForwardRequest forward;
  forward.threads = order.threads;
  forward.until = STDIN_FILENO;
  forward.pages = [pages = order.pages](uint32_t cpu) -> Result<kernel::PageFile> {
    const auto found = std::ranges::find(pages, cpu, &RecorderOrder::Pages::cpu);
    if (found == pages.end())
      return Error{"", std::nullopt, "CPU " + std::to_string(cpu) + " has nowhere to go"};
    kernel::PageFile file;
    file.path = "the link";
    file.file = FileDescriptor(found->descriptor);
    return file;
  };
  session.forward = std::move(forward);
  return session;
}

RecorderNews news_of(RecorderNews::What what, const record::SourceStatus& status) {
  RecorderNews news;
  news.what = what;
  news.events = status.events;
  news.bytes = status.bytes;
  news.lost = status.lost;
  news.fill = status.fill;
  return news;
}

RecorderNews text_of(RecorderNews::What what, std::string text) {
  RecorderNews news;
  news.what = what;
  news.text = std::move(text);
  return news;
}

record::SessionEvents events() {
  using What = RecorderNews::What;
  record::SessionEvents events;
  events.started = [](const record::SessionStart& start) {
    RecorderNews news;
    news.what = What::Started;
    news.clock = start.clock;
    news.begin = start.reading;
    news.page_size = start.page_size;
    tell(news);
  };
  events.explained = [] { tell(text_of(What::Explained, "")); };
  events.status = [](const record::SessionStatus& status) { tell(news_of(What::Status, status)); };
  events.warning = [](const Error& error) { tell(text_of(What::Warning, error.text())); };
  return events;
}

Result<record::SessionReport> record_ordered() {
  const Result<std::string> line = read_line(STDIN_FILENO);
  if (!line) return line.error();
  const Result<RecorderOrder> order = parse_recorder_order(*line);
  if (!order) return order.error();
  record::SessionRequest session = session_of(*order);
  if (Status status = record::resolve(order->request, session); !status)
    return std::move(status).error();
  return record::record(session, events());
}

}  // namespace

int run_recorder() {
  prctl(PR_SET_NAME, "strata-recorder");  // not "exe", by which it was started
  const Result<record::SessionReport> report = record_ordered();
  if (!report) {
    tell(text_of(RecorderNews::What::Failed, report.error().text()));
    return 1;
  }
  tell(news_of(RecorderNews::What::Ended, report->last));
  return 0;
}

}  // namespace strata::guest
