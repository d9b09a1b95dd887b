// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/packed_pages.h"

#include <fcntl.h>
#include <sys/uio.h>

#include <cerrno>

#include "base/byte_writer.h"
#include "format/tracedat/compression.h"

namespace strata::tracedat {

uint32_t default_chunk_pages(size_t cpus) { return cpus > 64 ? 10 : 64; }

bool pack_chunk(Bytes pages, ByteOrder order, std::vector<std::byte>& out) {
  const size_t begin = out.size();
  ByteWriter header(order);
  header.u32(0);
  header.u32(static_cast<uint32_t>(pages.size()));
  const size_t header_size = header.bytes().size();
  out.insert(out.end(), header.bytes().begin(), header.bytes().end());
  if (!compress(pages, out)) return false;
  ByteWriter packed_size(order);
  packed_size.u32(static_cast<uint32_t>(out.size() - begin - header_size));
  std::copy(packed_size.bytes().begin(), packed_size.bytes().end(),
            out.begin() + static_cast<ptrdiff_t>(begin));
  return true;
}

std::string packed_file_name(const std::string& page_file) { return page_file + ".zst"; }

Result<PagePacker> PagePacker::create(uint32_t cpu, const std::string& pages, size_t chunk_size) {
  PagePacker packer;
  packer.packed_.cpu = cpu;
  packer.packed_.path = packed_file_name(pages);
  packer.chunk_size_ = chunk_size;
  packer.pages_ = FileDescriptor(open(pages.c_str(), O_RDONLY | O_CLOEXEC));
  if (!packer.pages_) return system_error(pages, "cannot open", errno);
  packer.file_ = FileDescriptor(
      open(packer.packed_.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!packer.file_) return system_error(packer.packed_.path, "cannot create", errno);
  return packer;
}

bool PagePacker::pack(uint64_t written, size_t most) {
  bool any = false;
  for (; most > 0 && !failed_ && written - packed_.plain_size >= chunk_size_; --most) {
    plain_.resize(chunk_size_);
    chunk_.clear();
    // Vectors and offsets, so that these calls are not those that everybody makes: who leaves our
    // threads out of a trace by their calls has fewer tasks to look at.
    const iovec in{plain_.data(), plain_.size()};
    failed_ = preadv2(pages_.get(), &in, 1, static_cast<off_t>(packed_.plain_size), 0) !=
                  static_cast<ssize_t>(chunk_size_) ||
              !pack_chunk(plain_, kNativeOrder, chunk_);
    if (failed_) break;
    const iovec out{chunk_.data(), chunk_.size()};
    failed_ = pwritev2(file_.get(), &out, 1, static_cast<off_t>(packed_.size), 0) !=
              static_cast<ssize_t>(chunk_.size());
    if (failed_) break;
    packed_.size += chunk_.size();
    packed_.plain_size += chunk_size_;
    ++packed_.chunks;
    any = true;
  }
  return any;
}

}  // namespace strata::tracedat
