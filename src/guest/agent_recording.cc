// SPDX-License-Identifier: Apache-2.0
#include "guest/agent_recording.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "guest/key.h"

namespace strata::guest {
namespace {

// In one turn, so that all streams have theirs.
constexpr size_t kMostInTurn = size_t{4} << 20;
// What may wait to be sent besides pages: a guest's own memory.
constexpr uint64_t kMostUnsent = uint64_t{256} << 20;
// A host that does not want the streams of what it has asked for.
constexpr auto kAttachPatience = std::chrono::seconds(10);

}  // namespace

Result<std::unique_ptr<AgentRecording>> AgentRecording::start(uint32_t number, std::string session,
                                                              std::string folder, Request request) {
  const LinkCompression compression =
      request.compressed ? LinkCompression::Zstd : LinkCompression::None;
  std::unique_ptr<AgentRecording> recording(new AgentRecording(number, compression));
  recording->token_ = random_bytes();
  recording->max_bytes_ = request.max_bytes;
  const auto own = static_cast<pid_t>(syscall(SYS_gettid));
  Result<std::unique_ptr<RecorderProcess>> recorder =
      RecorderProcess::start(std::move(session), std::move(folder), std::move(request),
                             {own, recording->answerer_.thread()});
  if (!recorder) return std::move(recorder).error();
  recording->recorder_ = *std::move(recorder);
  for (RecorderProcess::Pages& pages : recording->recorder_->pages())
    recording->streams_.emplace_back(pages.cpu, std::move(pages.file));
  return recording;
}

bool AgentRecording::awaits(const Attach& attach) const {
  if (!equal_secrets(attach.token, token_)) return false;
  if (attach.stream == kClockStream) return !clock_attached_;
  const auto stream = std::ranges::find(streams_, attach.stream, &Stream::cpu);
  return stream != streams_.end() && stream->channel == nullptr;
}

void AgentRecording::attach(uint32_t number, Connection connection) {
  const Bytes beyond = connection.received_beyond();
  std::vector<std::byte> received(beyond.begin(), beyond.end());
  std::unique_ptr<Channel> channel = std::move(connection).take_channel();
  if (number == kClockStream) {
    clock_attached_ = true;
    answerer_.answer(std::make_unique<ProbeChannel>(std::move(channel), std::move(received)),
                     counter_);
    return;
  }
  const auto stream = std::ranges::find(streams_, number, &Stream::cpu);
  if (stream == streams_.end()) return;
  Result<PageSender> sender = PageSender::create(*channel, compression_);
  if (!sender) {
    return ask_to_end(sender.error().text());
  }
  stream->channel = std::move(channel);
  stream->sender.emplace(*std::move(sender));
}

void AgentRecording::ask_to_end(std::string why) {
  if (why.empty()) asked_to_end_ = true;
  if (why_.empty()) why_ = std::move(why);
  recorder_->ask_to_end();
}

void AgentRecording::abandon() {
  abandoned_ = true;
  recorder_->ask_to_end();
  streams_.clear();  // it writes to nobody: it ends at once
}

void AgentRecording::add_files(std::vector<pollfd>& files) const {
  if (!recorder_->has_ended()) files.push_back({recorder_->file(), POLLIN, 0});
  for (const Stream& stream : streams_) {
    if (!stream.sender || stream.ended) continue;
    files.push_back(stream.pause == Pause::Channel ? stream.channel->to_send()
                                                   : pollfd{stream.source.get(), POLLIN, 0});
  }
}

bool AgentRecording::has_more() const {
  return std::ranges::any_of(streams_, [](const Stream& stream) {
    return stream.sender && !stream.ended && stream.pause == Pause::Enough;
  });
}

Status AgentRecording::work(Connection& host) {
  for (const RecorderNews& news : recorder_->news()) {
    if (Status heard = hear(news, host); !heard) return heard;
  }
  if (abandoned_ || over_) return {};
  for (Stream& stream : streams_) {
    if (!stream.sender || stream.ended) continue;
    if (Status moved = move_pages(stream); !moved) {
      // The recorder hears of it by its pipe, which has no reader any more.
      why_ = moved.error().text();
      stream.ended = true;
      stream.source.reset();
    }
  }
  if (Status sent = send_files(host); !sent) return sent;
  return finish(host);
}

Status AgentRecording::hear(const RecorderNews& news, Connection& host) {
  if (abandoned_) return {};
  using What = RecorderNews::What;
  switch (news.what) {
    case What::Started:
      return tell_start(news, host);
    case What::Explained:
      files_.emplace(recorder_->folder());
      files_->look();
      return {};
    case What::Status:
      last_ = news;
      if (files_) files_->look();
      if (files_ && files_->unsent() > kMostUnsent)
        ask_to_end("the link does not keep up with what programs tell");
      if (max_bytes_ > 0 && news.bytes > max_bytes_)
        ask_to_end("it has recorded as many bytes as it was asked for at most");
      return host.send(RecordingStatus{news.events, news.bytes, news.lost, {}}, number_);
    case What::Warning:
      problem_ = news.text;
      return host.send(Problem{news.text}, number_);
    case What::Ended:
      last_ = news;
      if (files_) files_->look();
      return host.send(RecordingStatus{news.events, news.bytes, news.lost, {}}, number_);
    case What::Failed:
      over_ = true;
      return host.send(Refused{Reason::Request, news.text}, number_);
  }
  return {};
}

Status AgentRecording::tell_start(const RecorderNews& news, Connection& host) {
  counter_ = counter_of(news.clock);
  Started started{token_, news.clock, news.begin, news.page_size, {}};
  for (const Stream& stream : streams_) started.cpus.push_back(stream.cpu);
  return host.send(started, number_);
}

Status AgentRecording::move_pages(Stream& stream) {
  const Result<Pause> pause = stream.sender->move(stream.source.get(), kMostInTurn);
  if (!pause) return pause.error();
  stream.pause = *pause;
  if (*pause != Pause::Source) return {};
  pollfd source{stream.source.get(), POLLIN, 0};
  poll(&source, 1, 0);
  if ((source.revents & POLLIN) != 0 || (source.revents & POLLHUP) == 0) return {};
  const Result<Pause> rest = stream.sender->send_rest();
  if (!rest) return rest.error();
  stream.pause = *rest;
  if (*rest != Pause::Source) return {};
  stream.ended = true;
  stream.channel->end_sending();
  return {};
}

Status AgentRecording::send_files(Connection& host) {
  if (!files_) return {};
  const Result<bool> sent = files_->send(host, number_);
  return sent ? Status() : Status(sent.error());
}

// When the recorder has ended and all is sent.
Status AgentRecording::finish(Connection& host) {
  if (!recorder_->has_ended()) return {};
  const Time now = std::chrono::steady_clock::now();
  if (!ended_at_) ended_at_ = now;
  const bool waits = now - *ended_at_ < kAttachPatience;
  for (const Stream& stream : streams_) {
    if (!stream.ended && (stream.sender || waits)) return {};
  }
  if (files_ && files_->unsent() > 0) return {};
  over_ = true;
  Done done{last_.events, {}, {}};
  if (!why_.empty())
    done.why = why_;
  else if (!asked_to_end_)
    done.why = problem_.empty() ? "it was ended in the guest" : problem_;
  for (const Stream& stream : streams_)
    done.streams.push_back({stream.cpu, stream.sender ? stream.sender->taken() : 0, 0});
  return host.send(done, number_);
}

}  // namespace strata::guest
