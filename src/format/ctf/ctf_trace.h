// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/mapped_file.h"
#include "format/ctf/data_stream.h"
#include "trace/trace.h"

namespace strata::ctf {

// A CTF trace: the folder that holds `metadata`, or several such folders that are parts of one
// trace (the chunks of a session that rotates, snapshots one after the other).
class CtfTrace final : public trace::Trace {
 public:
  // All traces in and below `folder`, each as whole as its parts make it. Folders whose metadata
  // cannot be read are problems; an error only where there is nothing else.
  static Result<std::vector<std::unique_ptr<CtfTrace>>> open_all(const std::string& folder);
  // Whether there is a trace in or below `folder`.
  static bool recognises(const std::string& folder);
  // Traces that have come there since those that are `known` were opened. A new part of a known one
  // becomes a part of it. What cannot be read may be so later, and is passed over.
  static std::vector<std::unique_ptr<CtfTrace>> open_more(const std::string& folder,
                                                          const std::vector<CtfTrace*>& known);

  std::vector<const trace::EventType*> event_types() const override;
  std::vector<std::unique_ptr<trace::Stream>> open_streams() const override;
  std::vector<std::unique_ptr<trace::Stream>> look_again() override;
  void print_fields(const trace::Event& event, TextBuffer& out) const override;
  void print_packet(const trace::Event& event, TextBuffer& out) const override;
  void print_compound(const trace::Event& event, const trace::Field& field,
                      TextBuffer& out) const override;
  void follow_clock(trace::ClockMap map, const trace::TraceInfo& reference) override {
    Trace::follow_clock(map, reference);
    plans_.follow_clock(std::move(map));
  }
  const trace::TaskNames& task_names() const override { return task_names_; }
  std::optional<Span> time_span() const override;

  // A recording knows more of its clock than the metadata could when it began: all that is stamped
  // with one clock is told by one chain of maps. To be called before streams are opened.
  void use_clock(std::vector<trace::ClockMap> chain) { plans_.use_clock(std::move(chain)); }

  const Description& description() const { return plans_.newest().description; }
  const std::string& metadata_path() const { return metadata_path_; }

 private:
  // What files have in common whose packets continue each other: class and stream id, where packets
  // tell it. Otherwise a file is a stream, and has a number of its own.
  struct StreamKey {
    uint64_t cpu = 0;
    uint64_t stream_class = 0;
    uint64_t id = 0;
    bool has_id = false;
    auto operator<=>(const StreamKey&) const = default;
  };
  struct Source {
    StreamKey key;
    std::vector<const MappedFile*> files;
    uint64_t cpu = 0;
  };
  // A folder, its description, and how much its metadata tell.
  struct Part {
    std::string folder;
    std::string metadata_path;
    uint64_t file_size = 0;
    size_t text_size = 0;
    Description description;
  };

  CtfTrace() = default;
  static Result<Part> read_part(const std::string& folder);
  static Result<std::unique_ptr<CtfTrace>> open(std::vector<Part> parts);
  void describe(const std::string& path);
  void gather_files(const std::string& folder);
  void gather_sources();
  StreamKey key_of(const Packet& first, size_t file) const;
  void renew_plan();
  Source* add_file(MappedFile file);
  std::unique_ptr<DataStream> open_stream(const Source& source) const;

  PlanHistory plans_;
  std::string metadata_path_;
  size_t metadata_size_ = 0;                 // of its text
  std::map<std::string, uint64_t> folders_;  // and the size of the metadata file when last read
  std::deque<MappedFile> files_;
  std::set<FileId> known_files_;
  std::deque<Source> sources_;  // streams point to them
  trace::TaskNames task_names_;
};

}  // namespace strata::ctf
