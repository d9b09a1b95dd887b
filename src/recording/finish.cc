// SPDX-License-Identifier: Apache-2.0
#include "recording/finish.h"

#include <algorithm>
#include <filesystem>

#include "recording/delete.h"
#include "recording/description.h"
#include "recording/guest_options.h"
#include "recording/open.h"
#include "recording/shared_clocks.h"
#include "trace/trace.h"

namespace strata::recording {
namespace {

// What is known of a trace.dat beyond its head.
tracedat::Ending ending_of(const std::string& folder, const Description& description,
                           const Part& part, const FinishOptions& options) {
  if (is_of_guest(description, part)) return {options_of_guest(folder, description, part)};
  tracedat::Ending ending = options.ending;
  for (tracedat::NewOption& option : options_of_host(folder, description))
    ending.options.push_back(std::move(option));
  return ending;
}

Status finish_part(const std::string& folder, const Description& description, Part& part,
                   const FinishOptions& options) {
  const std::string path = folder + "/" + part.file;
  if (part.kind == "tracedat") {
    const tracedat::WriteOptions how{.compression = options.compressed
                                                        ? tracedat::Compression::Zstd
                                                        : tracedat::Compression::None};
    const tracedat::Ending ending = ending_of(folder, description, part, options);
    if (Status status = tracedat::finish(path, how, ending, options.progress); !status)
      return status;
  }
  // A CTF trace is whole up to its last packet at every moment.
  part.finished = true;
  return {};
}

// What the recorder did not come to say: when it was killed, as far as events tell.
void end_sessions(const std::string& folder, Description& description) {
  const auto has_ended = [](const Session& session) { return session.end_ns != 0; };
  if (std::ranges::all_of(description.sessions, has_ended)) return;
  const auto traces = open_traces(folder);
  if (!traces) return;
  int64_t end = 0;
  for (const auto& trace : *traces) {
    if (const auto span = trace->time_span(); span && trace->info().since_epoch)
      end = std::max(end, span->end.count);
  }
  for (Session& session : description.sessions) {
    if (session.end_ns == 0) session.end_ns = end;
  }
}

Status finish_one(const std::string& folder, const FinishOptions& options, Finished& result) {
  Result<Description> description = read_description(folder);
  if (!description) return std::move(description).error();
  for (Part& part : description->parts) {
    std::error_code ignored;
    if (!std::filesystem::exists(folder + "/" + part.file, ignored)) continue;
    const bool was_finished = part.finished;
    if (Status status = finish_part(folder, *description, part, options); !status) return status;
    ++(was_finished ? result.already : result.parts);
  }
  end_sessions(folder, *description);
  return write_description(folder, *description);
}

}  // namespace

Result<Finished> finish_recording(const std::string& folder, const FinishOptions& options) {
  delete_leftovers(folder);
  const std::vector<std::string> recordings = recordings_at(folder);
  if (recordings.empty())
    return Error{folder, std::nullopt, "is no recording: there is no recording.json in it"};
  Finished result;
  std::optional<Error> problem;
  for (const std::string& recording : recordings) {
    Status status = finish_one(recording, options, result);
    if (!status && !problem) problem = std::move(status).error();
  }
  if (problem) return *std::move(problem);
  return result;
}

}  // namespace strata::recording
