// SPDX-License-Identifier: Apache-2.0
//
// Makes a trace such as LTTng-UST records: four event types of 56, 20, 8 and 40 bytes in turns,
// spread over several streams, with the project's own writer.

#include <CLI/CLI.hpp>
#include <array>
#include <cstdio>
#include <cstring>
#include <vector>

#include "format/ctf/writer.h"

namespace {

using namespace strata;
using namespace strata::ctf;

struct Options {
  std::string folder;
  uint64_t events = 10'000'000;
  uint32_t streams = 2;
  bool contexts = false;
  bool index = false;
};

// The payloads, as they lie in the file.
struct __attribute__((packed)) Switch {
  char prev_comm[16] = "producer";
  int32_t prev_tid;
  int32_t prev_prio = 20;
  int64_t prev_state;
  char next_comm[16] = "consumer";
  int32_t next_tid;
  int32_t next_prio = 20;
};
struct __attribute__((packed)) Call {
  int32_t fd;
  uint64_t buf;
  uint64_t count;
};
struct __attribute__((packed)) Return {
  int64_t ret;
};
struct __attribute__((packed)) Message {
  uint64_t id;
  char text[32] = "a request took longer than used";
};
struct __attribute__((packed)) Context {
  int32_t vpid = 4711;
  int32_t vtid;
  char procname[17] = "bench";
};
static_assert(sizeof(Switch) == 56 && sizeof(Call) == 20 && sizeof(Return) == 8);
static_assert(sizeof(Message) == 40 && sizeof(Context) == 25);

std::vector<NewEventType> event_types() {
  return {{"bench:sched_switch",
           {text_field("prev_comm", 16), integer_field("prev_tid", 32, true),
            integer_field("prev_prio", 32, true), integer_field("prev_state", 64, true),
            text_field("next_comm", 16), integer_field("next_tid", 32, true),
            integer_field("next_prio", 32, true)}},
          {"bench:syscall_entry",
           {integer_field("fd", 32, true), integer_field("buf", 64, false, 16),
            integer_field("count", 64, false)}},
          {"bench:syscall_exit", {integer_field("ret", 64, true)}},
          {"bench:message", {integer_field("id", 64, false), string_field("text")}}};
}

NewTrace description() {
  NewTrace trace;
  trace.clock.uuid = uuid_of_name("the machine of the benchmarks");
  trace.clock.offset_cycles = 1'700'000'000'000'000'000;
  trace.environment = {
      {"domain", "ust"}, {"tracer_name", "lttng-ust"}, {"tracer_major", 2}, {"tracer_minor", 13}};
  return trace;
}

class Generator {
 public:
  Generator(std::vector<StreamWriter*> streams, std::vector<EventId> ids)
      : streams_(std::move(streams)), ids_(std::move(ids)) {}

  template <bool kContexts>
  bool run(uint64_t events) {
    Switch switched;
    Call call;
    Return returned;
    Message message;
    uint64_t time = 1'000'000'000;
    for (uint64_t i = 0; i < events; ++i) {
      const size_t stream = next_stream();
      time += 100 + (i & 63);
      const auto tid = static_cast<int32_t>(5000 + stream);
      bool fine = false;
      switch (i & 3) {
        case 0:
          switched.prev_tid = tid;
          switched.prev_state = static_cast<int64_t>(i & 1);
          switched.next_tid = static_cast<int32_t>(i & 0xffff);
          fine = add<kContexts>(stream, 0, time, tid, switched);
          break;
        case 1:
          call = {static_cast<int32_t>(i & 15), 0x7f0000000000 + i, i & 0xfff};
          fine = add<kContexts>(stream, 1, time, tid, call);
          break;
        case 2:
          returned = {static_cast<int64_t>(i & 0xfff) - 16};
          fine = add<kContexts>(stream, 2, time, tid, returned);
          break;
        default:
          message.id = i;
          fine = add<kContexts>(stream, 3, time, tid, message);
      }
      if (!fine) return false;
    }
    return true;
  }

 private:
  size_t next_stream() {
    if (++stream_ == streams_.size()) stream_ = 0;
    return stream_;
  }

  template <bool kContexts, typename Payload>
  bool add(size_t stream, size_t type, uint64_t time, int32_t tid, const Payload& payload) {
    constexpr size_t kContext = kContexts ? sizeof(Context) : 0;
    std::byte* out = streams_[stream]->reserve(ids_[type], time, kContext + sizeof payload);
    if (out == nullptr) return false;
    if constexpr (kContexts) {
      const Context context{.vtid = tid};
      std::memcpy(out, &context, sizeof context);
    }
    std::memcpy(out + kContext, &payload, sizeof payload);
    return true;
  }

  std::vector<StreamWriter*> streams_;
  std::vector<EventId> ids_;
  size_t stream_ = 0;
};

Status generate(const Options& options) {
  Result<Writer> writer =
      Writer::create(options.folder, description(), {.overwrite = true, .index = options.index});
  if (!writer) return writer.error();
  NewStreamClass channel;
  if (options.contexts)
    channel.event_context = {integer_field("vpid", 32, true), integer_field("vtid", 32, true),
                             text_field("procname", 17)};
  const Result<StreamClassId> stream_class = writer->add_stream_class(channel);
  if (!stream_class) return stream_class.error();
  std::vector<EventId> ids;
  for (const NewEventType& type : event_types()) {
    const Result<EventId> id = writer->add_event_type(*stream_class, type);
    if (!id) return id.error();
    ids.push_back(*id);
  }
  std::vector<StreamWriter*> streams;
  for (uint32_t i = 0; i < options.streams; ++i) {
    const Result<StreamWriter*> stream =
        writer->add_stream(*stream_class, {"channel0_" + std::to_string(i), i, {}});
    if (!stream) return stream.error();
    streams.push_back(*stream);
  }
  Generator generator(streams, ids);
  const bool fine =
      options.contexts ? generator.run<true>(options.events) : generator.run<false>(options.events);
  Status status = writer->finish();
  if (!fine && status) status = Error{options.folder, std::nullopt, "cannot write"};
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app("writes a CTF trace for measurements");
  app.add_option("folder", options.folder, "where to; a CTF trace that is there goes")->required();
  app.add_option("--events", options.events);
  app.add_option("--streams", options.streams)->check(CLI::Range(1, 100'000));
  app.add_flag("--contexts", options.contexts, "vpid, vtid and procname with each event");
  app.add_flag("--index", options.index, "write index files too");
  CLI11_PARSE(app, argc, argv);
  if (const Status status = generate(options); !status) {
    std::fprintf(stderr, "generate: %s\n", status.error().text().c_str());
    return 1;
  }
  return 0;
}
