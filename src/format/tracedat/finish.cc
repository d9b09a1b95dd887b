// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/finish.h"

#include <unistd.h>

#include <algorithm>

#include "ftrace/ring_page.h"

namespace strata::tracedat {
namespace {

void replace_options(Head& head, const std::vector<NewOption>& options) {
  std::erase_if(head.options, [&](const NewOption& old) {
    return std::ranges::find(options, old.id, &NewOption::id) != options.end();
  });
  head.options.insert(head.options.end(), options.begin(), options.end());
}

bool is_zero(Bytes page) {
  return std::ranges::all_of(page, [](std::byte byte) { return byte == std::byte{0}; });
}

// Pages at the end that a power cut left as zeros do not count.
uint64_t written_size(const CpuData& data, uint32_t page_size) {
  uint64_t size = data.size;
  while (size >= page_size && is_zero(data.file->bytes().subspan(size - page_size, page_size)))
    size -= page_size;
  return size;
}

Status write_whole(const TraceDat& trace, const std::string& path, WriteOptions options,
                   const Ending& ending, const Progress& progress) {
  Head head = head_of(trace);
  replace_options(head, ending.options);
  const std::string cmdlines = std::string(head.cmdlines) + ending.cmdlines;
  head.cmdlines = cmdlines;
  Result<Writer> writer = Writer::create(path, head, options);
  if (!writer) return std::move(writer).error();
  writer->be_durable();  // the files of pages go away afterwards
  uint64_t total = 0;
  uint64_t done = 0;
  for (const Buffer& buffer : trace.layout().buffers) {
    for (const CpuData& data : buffer.cpus) total += data.size;
  }
  for (const Buffer& buffer : trace.layout().buffers) {
    for (const CpuData& data : buffer.cpus) {
      if (Status status = writer->begin_cpu(); !status) return status;
      if (data.file == nullptr) continue;
      const uint64_t size = written_size(data, buffer.page_size);
      if (options.compression == Compression::None) {
        if (Status status = writer->add_pages_of(data.file->path(), size); !status) return status;
        if (progress) progress(done += size, total);
        continue;
      }
      uint64_t at = 0;
      const auto packed = std::ranges::find(ending.packed, data.cpu, &PackedPages::cpu);
      if (packed != ending.packed.end() && packed->plain_size <= size) {
        if (Status status = writer->add_packed(*packed); !status) return status;
        done += at = packed->plain_size;
      }
      for (; at < size; at += buffer.page_size) {
        const Bytes page = data.file->bytes().subspan(at, buffer.page_size);
        if (Status status = writer->add_page(page); !status) return status;
        if (progress) progress(done += buffer.page_size, total);
      }
      if (data.file->shrank()) return data.file->shrank_error();
    }
  }
  return writer->finish();
}

}  // namespace

Status finish(const std::string& path, WriteOptions options, const Ending& ending,
              const Progress& progress) {
  std::vector<std::string> page_files;
  {
    const Result<std::unique_ptr<TraceDat>> trace = TraceDat::open(path);
    if (!trace) return trace.error();
    for (uint32_t cpu = 0; cpu < (*trace)->info().cpus; ++cpu)
      page_files.push_back(TraceDat::page_file_name(path, cpu));
    if ((*trace)->is_unfinished()) {
      if (Status status = write_whole(**trace, path, options, ending, progress); !status)
        return status;
    }
  }
  for (const std::string& file : page_files) {
    unlink(packed_file_name(file).c_str());
    unlink(file.c_str());
  }
  return {};
}

}  // namespace strata::tracedat
