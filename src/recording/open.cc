// SPDX-License-Identifier: Apache-2.0
#include "recording/open.h"

#include "base/mapped_file.h"
#include "format/tracedat/trace_dat.h"

namespace strata::recording {

Result<std::unique_ptr<trace::Trace>> open_trace(const std::string& path) {
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return std::move(file).error();
  if (!tracedat::TraceDat::recognises(file->bytes()))
    return Error{path, 0, "not a trace that strata knows (trace.dat version 6 or 7)"};
  Result<std::unique_ptr<tracedat::TraceDat>> trace = tracedat::TraceDat::open(path);
  if (!trace) return std::move(trace).error();
  return std::unique_ptr<trace::Trace>(*std::move(trace));
}

}  // namespace strata::recording
