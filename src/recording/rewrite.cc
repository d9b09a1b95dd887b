// SPDX-License-Identifier: Apache-2.0
#include "recording/rewrite.h"

#include "format/ctf/trim.h"
#include "format/tracedat/convert.h"
#include "recording/to_tracedat.h"

namespace strata::recording {
namespace {

tracedat::WriteOptions write_options(const RewriteOptions& options) {
  return {.compression =
              options.compressed ? tracedat::Compression::Zstd : tracedat::Compression::None};
}

}  // namespace

Status trim(const trace::Trace& trace, Nanoseconds begin, Nanoseconds end, const std::string& path,
            const RewriteOptions& options) {
  if (const auto* dat = dynamic_cast<const tracedat::TraceDat*>(&trace))
    return tracedat::trim(*dat, begin, end, path, write_options(options), options.progress);
  if (const auto* ctf = dynamic_cast<const ctf::CtfTrace*>(&trace))
    return ctf::trim(*ctf, begin, end, path, options.progress);
  return Error{trace.info().path, std::nullopt, "a trace of this kind cannot be trimmed"};
}

Status convert_to_tracedat(const trace::Trace& trace, const std::string& path,
                           const RewriteOptions& options) {
  if (const auto* dat = dynamic_cast<const tracedat::TraceDat*>(&trace))
    return tracedat::convert(*dat, path, write_options(options), options.progress);
  return to_tracedat(trace, path, write_options(options), options.progress);
}

}  // namespace strata::recording
