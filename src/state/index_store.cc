// SPDX-License-Identifier: Apache-2.0
#include "state/index_store.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/unfinished.h"
#include "state/live_index.h"

namespace strata::state {
namespace {

namespace fs = std::filesystem;
using Traces = std::vector<std::unique_ptr<trace::Trace>>;

// Goes up whenever the engine finds something else in the same events, or rows are called anew.
constexpr uint64_t kEngineVersion = 3;

uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
  return hash ^ (hash >> 29);
}

uint64_t mix(uint64_t hash, const std::string& text) {
  for (const char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return mix(hash, text.size());
}

// A file that was written to has another size, or another time, down to the nanosecond.
uint64_t mix_file(uint64_t hash, const fs::path& path) {
  struct stat about {};
  if (stat(path.c_str(), &about) != 0) return hash;
  hash = mix(hash, static_cast<uint64_t>(about.st_size));
  hash = mix(hash, static_cast<uint64_t>(about.st_mtim.tv_sec));
  return mix(hash, static_cast<uint64_t>(about.st_mtim.tv_nsec));
}

// A trace that is a folder is its files.
uint64_t mix_trace(uint64_t hash, const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return mix_file(hash, path);
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored))
    if (entry.is_regular_file(ignored)) files.push_back(entry.path());
  std::ranges::sort(files);
  for (const fs::path& file : files) hash = mix_file(mix(hash, file.filename().string()), file);
  return hash;
}

// The recording that the trace is a part of, if it is.
fs::path recording_of(const fs::path& trace) {
  std::error_code ignored;
  const fs::path folder = trace.parent_path();
  return fs::exists(folder / "recording.json", ignored) ? folder : fs::path();
}

// Empty where the user has none: a place that all may write to would let others make the index.
fs::path cache_folder() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/')
    return fs::path(cache) / "strata";
  const char* home = std::getenv("HOME");
  if (home == nullptr || *home != '/') return {};
  return fs::path(home) / ".cache" / "strata";
}

std::string hex(uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::vector<std::string> machine_names(const Traces& traces) {
  std::vector<std::string> names;
  const Pass pass(traces);
  for (const Machine& machine : pass.machines()) names.push_back(machine.name);
  return names;
}

Result<std::vector<IndexedMachine>> open_all(const IndexPlace& place,
                                             const std::vector<std::string>& machines) {
  std::vector<IndexedMachine> all;
  for (size_t i = 0; i < machines.size(); ++i) {
    Result<Index> index = Index::open(place.path(i), place.source);
    if (!index) return index.error();
    if (!index->is_complete()) return Error{place.path(i), std::nullopt, "was not finished"};
    all.push_back({machines[i], *std::move(index)});
  }
  return all;
}

// Under another name first: who looks meanwhile sees a whole one, or none.
Status make(const Traces& traces, const IndexPlace& place, const trace::ProgressCallback& progress,
            std::vector<Error>& problems) {
  std::error_code error;
  fs::create_directories(place.folder, error);
  if (error) return Error{place.folder, std::nullopt, "cannot be made: " + error.message()};
  const std::string unfinished = ".unfinished-" + std::to_string(getpid());
  Pass pass(traces);
  pass.progress = progress;
  const auto path = [&](size_t machine) { return place.path(machine) + unfinished; };
  for (size_t i = 0; i < pass.machines().size(); ++i)
    for (const std::string& file : {path(i), IndexWriter::records_path(path(i))})
      remember_unfinished(file);
  Status status = pass.write_index(path, place.source);
  if (status) {
    pass.run();
    problems = pass.problems();
  }
  for (size_t i = 0; i < pass.machines().size(); ++i) {
    // The history last: there is an index where it is.
    const std::string to = place.path(i);
    for (const auto& [from, name] :
         {std::pair(IndexWriter::records_path(path(i)), IndexWriter::records_path(to)),
          std::pair(path(i), to)}) {
      if (status) fs::rename(from, name, error);
      if (!status || error) fs::remove(from, error);
      forget_unfinished(from);
    }
  }
  return status;
}

}  // namespace

std::string IndexPlace::path(size_t machine) const {
  return folder + '/' + stem + '-' + std::to_string(machine) + ".history";
}

IndexPlace index_place(const Traces& traces) {
  IndexPlace place;
  uint64_t which = 0;
  uint64_t state = kEngineVersion;
  fs::path folder;
  for (const auto& trace : traces) {
    std::error_code ignored;
    const fs::path path = fs::weakly_canonical(trace->info().path, ignored);
    which = mix(which, path.string());
    state = mix_trace(state, path);
    // What is open of it may be less than what is there by now: it was still being written.
    for (const auto& stream : trace->open_streams()) state = mix(state, stream->bytes_total());
    const fs::path recording = recording_of(path);
    folder = &trace == &traces.front() || recording == folder ? recording : fs::path();
  }
  place.folder = folder.empty() ? cache_folder() : folder / ".index";
  place.stem = "state-" + hex(which);
  place.source = mix(which, state);
  return place;
}

IndexPlace live_index_place(const trace::Trace& trace) {
  std::error_code ignored;
  const fs::path path = fs::weakly_canonical(trace.info().path, ignored);
  const fs::path recording = recording_of(path);
  if (recording.empty()) return {};
  const uint64_t which = mix(kEngineVersion, path.string());
  return {recording / ".index", "live-" + hex(which), which};
}

Result<std::vector<IndexedMachine>> open_index(const Traces& traces,
                                               const trace::ProgressCallback& progress,
                                               std::vector<Error>& problems) {
  const IndexPlace place = index_place(traces);
  if (place.folder.empty())
    return Error{"", std::nullopt, "neither XDG_CACHE_HOME nor HOME says where to keep one"};
  const std::vector<std::string> machines = machine_names(traces);
  if (Result<std::vector<IndexedMachine>> opened = open_all(place, machines)) return opened;
  if (machines.size() == 1) {
    if (std::optional<Index> live = open_live_index(traces)) {
      std::vector<IndexedMachine> opened;
      opened.push_back({machines.front(), *std::move(live)});
      return opened;
    }
  }
  if (Status made = make(traces, place, progress, problems); !made) return made.error();
  Result<std::vector<IndexedMachine>> opened = open_all(place, machines);
  // What could not be read is to be told to whoever asks next, too.
  if (!problems.empty()) {
    std::error_code ignored;
    for (size_t i = 0; i < machines.size(); ++i) {
      fs::remove(place.path(i), ignored);
      fs::remove(IndexWriter::records_path(place.path(i)), ignored);
    }
  }
  return opened;
}

}  // namespace strata::state
