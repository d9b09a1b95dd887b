// SPDX-License-Identifier: Apache-2.0
#include "record/snapshot.h"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <nlohmann/json.hpp>

#include "base/new_file.h"
#include "base/new_folder.h"
#include "base/time_text.h"
#include "format/tracedat/finish.h"
#include "format/tracedat/trace_dat.h"
#include "ftrace/ring_page.h"
#include "kernel/kernel_files.h"
#include "record/state_trace.h"

namespace strata::record {
namespace {

constexpr const char* kFile = "host.dat";

uint64_t count_events(Bytes pages, uint32_t page_size) {
  uint64_t count = 0;
  for (size_t at = 0; at < pages.size(); at += page_size) {
    ftrace::RingPage page(pages.subspan(at, page_size), {kNativeOrder, sizeof(long)});
    while (page.next() == ftrace::RingPage::Step::Record) ++count;
  }
  return count;
}

Status write_pages(const std::string& path, Bytes pages) {
  Result<NewFile> file = NewFile::create(path);
  if (!file) return std::move(file).error();
  if (Status status = file->append(pages); !status) return status;
  return file->publish();
}

// By way of the unfinished form, like any recording: there is one way from pages to a whole file.
Status write_events(const std::string& path, FlightCopy& copy, const KernelEvents& events,
                    bool compressed, uint64_t& count) {
  if (Status status = events.write_head(path); !status) return status;
  const kernel::Instance& instance = events.instance();
  for (size_t i = 0; i < copy.rings.size(); ++i) {
    kernel::RingCopy& ring = copy.rings[i];
    const std::string pages = tracedat::TraceDat::page_file_name(path, instance.cpus()[i]);
    if (Status status = write_pages(pages, ring.pages); !status) return status;
    count += count_events(ring.pages, instance.page_size());
    ring = {};
  }
  const tracedat::WriteOptions how = {.compression = compressed ? tracedat::Compression::Zstd
                                                                : tracedat::Compression::None};
  return tracedat::finish(path, how, {events.options(), kernel::read_thread_names()});
}

// The kernel's part.
Result<recording::Part> save_kernel(FlightCopy& copy, const KernelEvents& events,
                                    const SnapshotRequest& request, Snapshot& snapshot) {
  const kernel::RingStats rings = events.rings().together;
  const uint64_t lost = rings.dropped + rings.commit_overrun;
  snapshot.lost += lost;
  if (Status status = write_events(request.folder + "/" + kFile, copy, events, request.compressed,
                                   snapshot.events);
      !status)
    return std::move(status).error();
  return recording::Part{.file = kFile,
                         .kind = "tracedat",
                         .what = "kernel",
                         .machine = "",
                         .clock = events.clock().name(),
                         .lost = lost,
                         .lost_unknown = copy.gap_ns != 0 ? 1u : 0u,
                         .finished = true};
}

void tell(recording::Description& description, const FlightCopy& copy, const HostClock& clock,
          const std::string& cause) {
  const std::string machine = description.machines.front().name;
  description.clocks = clock.descriptions(machine);
  description.maps = clock.maps();
  for (recording::Part& part : description.parts) part.machine = machine;
  recording::Session& session = description.sessions.back();
  session.begin_ns = copy.begin_ns;
  session.end_ns = copy.end_ns;
  if (copy.gap_ns != 0)
    session.changes.push_back(
        {copy.gap_ns, "nothing was recorded for " +
                          duration_text(Nanoseconds{copy.begin_ns - copy.gap_ns}) +
                          ", while the snapshot before this one was taken"});
  session.changes.push_back({copy.end_ns, recording::kSnapshotChange + cause});
}

}  // namespace

std::string snapshot_name(int64_t end_ns) {
  const time_t seconds = end_ns / 1'000'000'000;
  tm local{};
  localtime_r(&seconds, &local);
  char name[64];
  const size_t size = strftime(name, sizeof name, "%Y%m%d-%H%M%S", &local);
  std::snprintf(name + size, sizeof name - size, ".%03d",
                static_cast<int>(end_ns / 1'000'000 % 1000));
  return name;
}

nlohmann::ordered_json to_json(const Snapshot& snapshot) {
  return {{"folder", snapshot.folder},
          {"events", snapshot.events},
          {"lost", snapshot.lost},
          {"begin_ns", snapshot.begin_ns},
          {"end_ns", snapshot.end_ns},
          {"way", name_of(snapshot.way)},
          {"copy_ns", snapshot.copying.count()}};
}

Result<Snapshot> save_snapshot(FlightCopy copy, const SnapshotSources& sources,
                               const HostClock& clock, recording::Description description,
                               const SnapshotRequest& request,
                               const std::function<void(const Error&)>& warn) {
  Result<NewFolder> folder = NewFolder::create(request.folder);
  if (!folder) return std::move(folder).error();
  Snapshot snapshot{.folder = request.folder,
                    .begin_ns = copy.begin_ns,
                    .end_ns = copy.end_ns,
                    .way = copy.way,
                    .copying = copy.took};
  std::optional<recording::Part> state;
  if (request.state) {
    Result<recording::Part> part = add_state(request.folder, clock);
    if (part)
      state = *std::move(part);
    else
      warn(part.error());
  }
  if (sources.kernel != nullptr) {
    Result<recording::Part> part = save_kernel(copy, *sources.kernel, request, snapshot);
    if (!part) return std::move(part).error();
    description.parts.push_back(*std::move(part));
  }
  if (state) description.parts.push_back(*std::move(state));
  if (sources.programs != nullptr) {
    Result<AppSource::Saved> saved =
        sources.programs->save(std::move(copy.programs), request.folder);
    if (!saved) return std::move(saved).error();
    std::ranges::move(saved->parts, std::back_inserter(description.parts));
    snapshot.events += saved->events;
    snapshot.lost += saved->lost;
  }
  tell(description, copy, clock, request.cause);
  if (Status status = recording::write_description(request.folder, description); !status)
    return std::move(status).error();
  folder->keep();
  return snapshot;
}

}  // namespace strata::record
