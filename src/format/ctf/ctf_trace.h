// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
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

  std::vector<const trace::EventType*> event_types() const override;
  std::vector<std::unique_ptr<trace::Stream>> open_streams() const override;
  void print_fields(const trace::Event& event, TextBuffer& out) const override;
  void print_packet(const trace::Event& event, TextBuffer& out) const override;
  void print_compound(const trace::Event& event, const trace::Field& field,
                      TextBuffer& out) const override;
  const trace::TaskNames& task_names() const override { return task_names_; }
  std::optional<Span> time_span() const override;

  const Description& description() const { return plan_.description; }
  const std::string& metadata_path() const { return metadata_path_; }

 private:
  // Files whose packets continue each other.
  struct Source {
    std::vector<const MappedFile*> files;
    uint64_t cpu = 0;
  };

  CtfTrace() = default;
  static Result<std::unique_ptr<CtfTrace>> open(const std::vector<std::string>& folders,
                                                const std::string& metadata_path,
                                                Description description);
  void describe(const std::string& path);
  void bind_names();
  void gather_files(const std::string& folder);
  void gather_sources();
  std::unique_ptr<DataStream> open_stream(const Source& source) const;

  TracePlan plan_;
  std::string metadata_path_;
  std::deque<MappedFile> files_;
  std::vector<Source> sources_;
  trace::TaskNames task_names_;
};

}  // namespace strata::ctf
