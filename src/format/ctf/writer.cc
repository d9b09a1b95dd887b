// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <set>

#include "base/byte_writer.h"

namespace strata::ctf {
namespace {

namespace fs = std::filesystem;

bool is_stream(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  uint32_t magic = 0;
  file.read(reinterpret_cast<char*>(&magic), sizeof magic);
  return file && magic == kPacketMagic;
}

// The files of the CTF trace in `folder`; an error where it holds anything else.
Result<std::vector<fs::path>> files_of_trace(const std::string& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  const auto other = [&](const fs::path& path) {
    return Error{path.string(), std::nullopt, "is no part of a CTF trace: it is left alone"};
  };
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (entry.is_regular_file(error)) {
      // A hidden file is what was left of one that was being made.
      if (name != "metadata" && name[0] != '.' && !is_stream(entry.path()))
        return other(entry.path());
      files.push_back(entry.path());
    } else if (name == "index" && entry.is_directory(error)) {
      for (const fs::directory_entry& index : fs::directory_iterator(entry.path(), error)) {
        if (index.path().extension() != ".idx") return other(index.path());
        files.push_back(index.path());
      }
      files.push_back(entry.path());
    } else {
      return other(entry.path());
    }
  }
  if (error) return system_error(folder, "cannot list", error.value());
  // Without metadata it is no trace any more, whatever is left of it.
  std::stable_partition(files.begin(), files.end(),
                        [](const fs::path& path) { return path.filename() == "metadata"; });
  return files;
}

// What has to go before a trace can be written to `folder`.
Result<std::vector<fs::path>> what_must_go(const std::string& folder, bool overwrite) {
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (status.type() == fs::file_type::not_found) return std::vector<fs::path>();
  if (status.type() != fs::file_type::directory) return Error{folder, std::nullopt, "is no folder"};
  const bool empty = fs::is_empty(folder, error);
  if (error) return system_error(folder, "cannot list", error.value());
  if (empty) return std::vector<fs::path>();
  if (!overwrite) return Error{folder, std::nullopt, "is there already and is not empty"};
  return files_of_trace(folder);
}

}  // namespace

Status check_folder(const std::string& folder, bool overwrite) {
  Result<std::vector<fs::path>> files = what_must_go(folder, overwrite);
  return files ? Status() : Status(std::move(files).error());
}

Status clear_folder(const std::string& folder, bool overwrite) {
  const Result<std::vector<fs::path>> files = what_must_go(folder, overwrite);
  if (!files) return files.error();
  for (const fs::path& file : *files) {
    std::error_code error;
    if (!fs::remove(file, error) && error)
      return system_error(file.string(), "cannot remove", error.value());
  }
  return {};
}

struct Writer::State {
  State(std::string folder_path, int folder_descriptor, WriterOptions writer_options, Uuid id)
      : path(std::move(folder_path)),
        folder(folder_descriptor),
        options(writer_options),
        uuid(id),
        mode(writer_options.only_owner ? 0600 : 0666),
        metadata(folder_descriptor, path + "/metadata", mode) {}
  ~State() { close(folder); }

  struct StreamClass {
    HeaderKind header;
    uint32_t next_event = 0;
  };

  std::string path;
  int folder;
  WriterOptions options;
  Uuid uuid;
  unsigned mode;
  MetadataFile metadata;
  std::mutex mutex;  // for all below
  std::vector<StreamClass> stream_classes;
  std::set<std::string> names;
  std::vector<std::unique_ptr<StreamWriter>> streams;
  bool finished = false;
};

Result<Writer> Writer::create(const std::string& folder, const NewTrace& trace,
                              WriterOptions options) {
  if (Status status = clear_folder(folder, options.overwrite); !status)
    return std::move(status).error();
  if (mkdir(folder.c_str(), options.only_owner ? 0700 : 0777) != 0 && errno != EEXIST)
    return system_error(folder, "cannot create", errno);
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return system_error(folder, "cannot open", errno);
  auto state = std::make_unique<State>(folder, descriptor, options, trace.uuid);
  state->metadata.append(trace_text(trace));
  if (Status status = state->metadata.write_out(); !status) return std::move(status).error();
  return Writer(std::move(state));
}

Writer::Writer(std::unique_ptr<State> state) : state_(std::move(state)) {}
Writer::Writer(Writer&&) noexcept = default;
Writer& Writer::operator=(Writer&&) noexcept = default;

Writer::~Writer() {
  if (state_) (void)finish();
}

Result<StreamClassId> Writer::add_stream_class(const NewStreamClass& stream) {
  for (const auto* fields : {&stream.event_context, &stream.packet_context})
    if (Status status = check_fields(*fields); !status) return std::move(status).error();
  const std::lock_guard lock(state_->mutex);
  const auto id = static_cast<uint32_t>(state_->stream_classes.size());
  state_->metadata.append(stream_class_text(id, stream));
  state_->stream_classes.push_back({stream.header});
  return StreamClassId{id};
}

Result<EventId> Writer::add_event_type(StreamClassId stream, const NewEventType& type) {
  if (type.name.empty()) return Error{"", std::nullopt, "an event type without a name"};
  if (Status status = check_fields(type.fields); !status) return std::move(status).error();
  const std::lock_guard lock(state_->mutex);
  const uint32_t id = state_->stream_classes.at(static_cast<size_t>(stream)).next_event++;
  state_->metadata.append(event_type_text(id, static_cast<uint32_t>(stream), type));
  return EventId{id};
}

Result<StreamWriter*> Writer::add_stream(StreamClassId stream, const NewStream& options) {
  const std::lock_guard lock(state_->mutex);
  const std::string path = state_->path + "/" + options.name;
  const bool is_name = !options.name.empty() && options.name[0] != '.' &&
                       options.name.find('/') == std::string::npos &&
                       options.name.find('\0') == std::string::npos;
  if (!is_name || options.name == "metadata" || options.name == "index")
    return Error{path, std::nullopt, "is no name for a stream's file"};
  if (!state_->names.insert(options.name).second)
    return Error{path, std::nullopt, "is the file of another stream already"};

  ByteWriter head(ByteOrder::Little);
  head.u32(kPacketMagic);
  head.raw(std::as_bytes(std::span(state_->uuid)));
  head.u32(static_cast<uint32_t>(stream));
  head.u64(state_->streams.size());
  for (int i = 0; i < 6; ++i) head.u64(0);  // what each packet fills in
  head.u32(options.cpu);
  head.raw(options.packet_context);
  state_->streams.push_back(std::make_unique<StreamWriter>(
      StreamFile(state_->folder, options.name, path, state_->mode, state_->options.index),
      state_->metadata, state_->stream_classes.at(static_cast<size_t>(stream)).header,
      std::move(head).bytes(), state_->options.packet_size));
  return state_->streams.back().get();
}

Status Writer::flush() {
  const std::lock_guard lock(state_->mutex);
  if (Status status = state_->metadata.write_out(); !status) return status;
  Status first;
  for (const auto& stream : state_->streams)
    if (Status status = stream->flush(); !status && first) first = std::move(status);
  return first;
}

Status Writer::finish() {
  const std::lock_guard lock(state_->mutex);
  if (state_->finished) return {};
  state_->finished = true;
  Status first = state_->metadata.write_out();
  for (const auto& stream : state_->streams)
    if (Status status = stream->finish(); !status && first) first = std::move(status);
  return first;
}

}  // namespace strata::ctf
