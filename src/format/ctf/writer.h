// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "format/ctf/stream_writer.h"

namespace strata::ctf {

struct WriterOptions {
  uint32_t packet_size = 256 * 1024;  // in bytes; a packet that is flushed is smaller
  bool overwrite = false;             // an older CTF trace in the folder goes; other files never do
  bool only_owner = false;            // nobody but the owner may read what is written
  bool index = false;                 // also write index/NAME.idx, as LTTng does
};

enum class StreamClassId : uint32_t {};

struct NewStream {
  std::string name;  // its file's
  uint32_t cpu = 0;
  std::vector<std::byte> packet_context;  // the stream class's own fields, in each of its packets
};

// Whether a trace may be written to `folder`: it is not there, it is empty, or it holds nothing but
// a CTF trace, and that may go.
Status check_folder(const std::string& folder, bool overwrite);
// Takes such a trace away, so that the folder is empty or not there.
Status clear_folder(const std::string& folder, bool overwrite);

// Writes a CTF 1.8 trace: a folder with the text "metadata" and a file for each stream.
//
// What is in the folder is a trace at every moment, up to the last packet that was written, however
// the program ends. Event types may be declared while events are being written: their declaration
// is there before the first packet that uses them. The metadata of a trace that has just begun are
// there when create() returns.
//
//     Result<Writer> writer = Writer::create(folder, trace);
//     Result<StreamClassId> kernel = writer->add_stream_class({});
//     Result<EventId> wakeup = writer->add_event_type(*kernel, {"wakeup", {integer_field("tid", ...
//     Result<StreamWriter*> cpu0 = writer->add_stream(*kernel, {"cpu0", 0, {}});
//     (*cpu0)->write(*wakeup, time, bytes);
//     writer->finish();
//
// The add functions may be called by any thread.
class Writer {
 public:
  // Makes the folder. One that exists has to be empty, unless the options say otherwise.
  static Result<Writer> create(const std::string& folder, const NewTrace& trace,
                               WriterOptions options = {});

  Writer(Writer&&) noexcept;
  Writer& operator=(Writer&&) noexcept;
  ~Writer();  // as finish(), without hearing of errors

  Result<StreamClassId> add_stream_class(const NewStreamClass& stream);
  Result<EventId> add_event_type(StreamClassId stream, const NewEventType& type);
  // Lives as long as the writer.
  Result<StreamWriter*> add_stream(StreamClassId stream, const NewStream& options);

  // For all streams; no other thread may be writing to one.
  Status flush();
  Status finish();

 private:
  struct State;
  explicit Writer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace strata::ctf
