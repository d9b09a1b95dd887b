// SPDX-License-Identifier: Apache-2.0
#include "recording/open.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>

#include "base/mapped_file.h"
#include "format/ctf/ctf_trace.h"
#include "format/tracedat/trace_dat.h"
#include "recording/description.h"
#include "recording/shared_clocks.h"

namespace strata::recording {
namespace {

using Traces = std::vector<std::unique_ptr<trace::Trace>>;

void append(Traces& all, Traces some) {
  for (std::unique_ptr<trace::Trace>& trace : some) all.push_back(std::move(trace));
}

bool is_recording(const std::string& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder + "/" + kDescriptionName, ignored);
}

// Parts whose times lead to those of another part, by a map between the two.
Status follow_clocks(const std::string& folder, const Description& description,
                     const std::vector<Part>& parts, const Traces& traces) {
  for (const trace::ClockMap& map : description.maps) {
    const auto from = std::ranges::find(description.clocks, map.from, &NamedClock::name);
    if (from == description.clocks.end() || !from->is_timeline) continue;
    const auto reference = std::ranges::find(parts, map.to, &Part::clock);
    if (reference == parts.end())
      return Error{folder, std::nullopt, "nothing here has the clock " + map.to};
    const trace::TraceInfo info = traces[static_cast<size_t>(reference - parts.begin())]->info();
    for (size_t i = 0; i < traces.size(); ++i)
      if (parts[i].clock == map.from) traces[i]->follow_clock(map, info);
  }
  return {};
}

Result<Traces> open_at(const std::string& path, unsigned depth);

// The parts that are there. One that is not finished may not have been begun. A part may be a link
// to a recording, of which one could lead back here.
Result<Traces> open_recording(const std::string& folder, unsigned depth) {
  constexpr unsigned kDeepest = 8;
  if (depth > kDeepest)
    return Error{folder, std::nullopt, "recordings lie in each other without an end"};
  const Result<Description> description = read_description(folder);
  if (!description) return description.error();
  Traces traces;
  std::vector<Part> parts;  // one for each of them
  for (const Part& part : description->parts) {
    std::string path = folder + "/" + part.file;
    std::error_code ignored;
    // What belongs to a trace lies beside it, not beside a link to it.
    if (std::filesystem::is_symlink(path, ignored)) {
      std::error_code broken;
      const std::filesystem::path target = std::filesystem::canonical(path, broken);
      if (broken) return system_error(path, "cannot follow the link", broken.value());
      path = target;
    }
    if (!part.finished && !std::filesystem::exists(path, ignored)) continue;
    Result<Traces> opened = open_at(path, depth + 1);
    if (!opened) return std::move(opened).error();
    append(traces, *std::move(opened));
    parts.resize(traces.size(), part);
  }
  share_clocks(*description, parts, traces);
  if (Status status = follow_clocks(folder, *description, parts, traces); !status)
    return std::move(status).error();
  return traces;
}

// Snapshots of one flight hold the same events twice where they overlap: they are not one
// recording.
Status check_overlap(const std::string& folder, const std::vector<std::string>& recordings) {
  int64_t end_ns = INT64_MIN;
  for (const std::string& recording : recordings) {
    const Result<Description> description = read_description(recording);
    if (!description || description->sessions.empty()) continue;
    const Session& session = description->sessions.back();
    if (!is_snapshot(session)) continue;
    if (session.begin_ns < end_ns)
      return Error{folder, std::nullopt,
                   "holds snapshots that overlap in time: name one of them, such as " + recording};
    end_ns = std::max(end_ns, session.end_ns);
  }
  return {};
}

Result<Traces> open_folder(const std::string& path, unsigned depth) {
  if (const std::vector<std::string> recordings = recordings_at(path); !recordings.empty()) {
    if (Status status = check_overlap(path, recordings); !status) return std::move(status).error();
    Traces traces;
    for (const std::string& recording : recordings) {
      Result<Traces> opened = open_recording(recording, depth);
      // The oldest chunk of a long recording may just have been deleted.
      if (!opened && !is_recording(recording)) continue;
      if (!opened) return std::move(opened).error();
      append(traces, *std::move(opened));
    }
    return traces;
  }
  if (!ctf::CtfTrace::recognises(path))
    return Error{path, std::nullopt, "no trace that strata knows is in this folder or below"};
  Result<std::vector<std::unique_ptr<ctf::CtfTrace>>> found = ctf::CtfTrace::open_all(path);
  if (!found) return std::move(found).error();
  return Traces(std::make_move_iterator(found->begin()), std::make_move_iterator(found->end()));
}

Result<Traces> open_file(const std::string& path) {
  {
    const Result<MappedFile> file = MappedFile::open(path);
    if (!file) return file.error();
    if (!tracedat::TraceDat::recognises(file->bytes())) {
      return Error{
          path, 0,
          "not a trace that strata knows (a trace.dat file, or the folder of a CTF trace)"};
    }
  }
  Result<std::unique_ptr<tracedat::TraceDat>> trace = tracedat::TraceDat::open(path);
  if (!trace) return std::move(trace).error();
  Traces traces;
  traces.push_back(*std::move(trace));
  return traces;
}

Result<Traces> open_at(const std::string& path, unsigned depth) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored) ? open_folder(path, depth) : open_file(path);
}

}  // namespace

std::vector<std::string> recordings_at(const std::string& folder) {
  if (is_recording(folder)) return {folder};
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const bool is_hidden = entry.path().filename().native().starts_with('.');
    if (!is_hidden && is_recording(entry.path())) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Result<Traces> open_traces(const std::string& path) { return open_at(path, 0); }

Traces open_more(const std::string& path, const Traces& known) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return {};
  std::vector<ctf::CtfTrace*> known_ctf;
  for (const std::unique_ptr<trace::Trace>& trace : known) {
    if (auto* ctf = dynamic_cast<ctf::CtfTrace*>(trace.get())) known_ctf.push_back(ctf);
  }
  Traces more;
  for (std::unique_ptr<ctf::CtfTrace>& trace : ctf::CtfTrace::open_more(path, known_ctf))
    more.push_back(std::move(trace));
  return more;
}

Result<std::unique_ptr<trace::Trace>> open_trace(const std::string& path) {
  Result<Traces> traces = open_traces(path);
  if (!traces) return std::move(traces).error();
  if (traces->size() != 1) {
    return Error{path, std::nullopt,
                 std::to_string(traces->size()) + " traces are here where one is wanted"};
  }
  return std::move(traces->front());
}

}  // namespace strata::recording
