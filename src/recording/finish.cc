// SPDX-License-Identifier: Apache-2.0
#include "recording/finish.h"

#include <algorithm>
#include <filesystem>

#include "format/tracedat/finish.h"
#include "recording/description.h"
#include "recording/open.h"
#include "trace/trace.h"

namespace strata::recording {
namespace {

Status finish_part(const std::string& folder, Part& part, const FinishOptions& options) {
  const std::string path = folder + "/" + part.file;
  if (part.kind == "tracedat") {
    const tracedat::WriteOptions how{.compression = options.compressed
                                                        ? tracedat::Compression::Zstd
                                                        : tracedat::Compression::None};
    if (Status status = tracedat::finish(path, how, {}, options.progress); !status) return status;
  }
  // A CTF trace is whole up to its last packet at every moment.
  part.finished = true;
  return {};
}

// What the recorder did not come to say: when it was killed, as far as events tell.
void end_sessions(const std::string& folder, Description& description) {
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

}  // namespace

Result<Finished> finish_recording(const std::string& folder, const FinishOptions& options) {
  const std::vector<std::string> recordings = recordings_at(folder);
  if (recordings.empty())
    return Error{folder, std::nullopt, "is no recording: there is no recording.json in it"};
  Finished result;
  for (const std::string& recording : recordings) {
    Result<Description> description = read_description(recording);
    if (!description) return std::move(description).error();
    for (Part& part : description->parts) {
      std::error_code ignored;
      if (!std::filesystem::exists(recording + "/" + part.file, ignored)) continue;
      const bool was_finished = part.finished;
      if (Status status = finish_part(recording, part, options); !status)
        return std::move(status).error();
      ++(was_finished ? result.already : result.parts);
    }
    end_sessions(recording, *description);
    if (Status status = write_description(recording, *description); !status)
      return std::move(status).error();
  }
  return result;
}

}  // namespace strata::recording
