// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/compression.h"

#include <zlib.h>
#include <zstd.h>

#include <memory>

namespace strata::tracedat {
namespace {

// A frame that claims to unpack to more than this many times its size is not believed: zstd itself
// gets no further than some thousands on the emptiest of pages.
constexpr uint64_t kMaxRatio = 1 << 16;

// Ring pages at level 1 are as small as at level 3, for half the time.
constexpr int kZstdLevel = 1;

// A context is 96 kB and takes long to make: one a thread serves all streams.
ZSTD_DCtx* decompression_context() {
  thread_local const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                                ZSTD_freeDCtx);
  return context.get();
}

ZSTD_CCtx* compression_context() {
  thread_local const std::unique_ptr<ZSTD_CCtx, size_t (*)(ZSTD_CCtx*)> context(ZSTD_createCCtx(),
                                                                                ZSTD_freeCCtx);
  return context.get();
}

}  // namespace

std::optional<Compression> compression_by_name(std::string_view name) {
  if (name.empty() || name == "none") return Compression::None;
  if (name == "zlib") return Compression::Zlib;
  if (name == "zstd") return Compression::Zstd;
  return std::nullopt;
}

bool decompress(Compression algorithm, Bytes packed, uint64_t size, std::vector<std::byte>& out) {
  if (size / kMaxRatio > packed.size()) return false;
  switch (algorithm) {
    case Compression::Zstd: {
      const unsigned long long told = ZSTD_getFrameContentSize(packed.data(), packed.size());
      if (told == ZSTD_CONTENTSIZE_ERROR) return false;
      if (told != ZSTD_CONTENTSIZE_UNKNOWN && told != size) return false;
      out.resize(size);
      const size_t got = ZSTD_decompressDCtx(decompression_context(), out.data(), out.size(),
                                             packed.data(), packed.size());
      return ZSTD_isError(got) == 0 && got == size;
    }
    case Compression::Zlib: {
      out.resize(size);
      uLongf got = size;
      const int status = uncompress(reinterpret_cast<Bytef*>(out.data()), &got,
                                    reinterpret_cast<const Bytef*>(packed.data()), packed.size());
      return status == Z_OK && got == size;
    }
    case Compression::None:
      break;
  }
  return false;
}

bool compress(Bytes plain, std::vector<std::byte>& out) {
  const size_t before = out.size();
  out.resize(before + ZSTD_compressBound(plain.size()));
  const size_t got = ZSTD_compressCCtx(compression_context(), out.data() + before,
                                       out.size() - before, plain.data(), plain.size(), kZstdLevel);
  if (ZSTD_isError(got) != 0) return false;
  out.resize(before + got);
  return true;
}

}  // namespace strata::tracedat
