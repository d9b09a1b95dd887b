// SPDX-License-Identifier: Apache-2.0
#include "format/tracedat/live_pages.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "format/tracedat/trace_dat.h"

namespace strata::tracedat {

LivePages::LivePages(Ask ask, From from) : ask_(std::move(ask)), from_(from) { refresh(); }

// Nobody writes to it any more: what it holds is all. It stays readable when its name is gone.
void LivePages::complete(File& file) {
  struct stat status {};
  if (fstat(file.file.get(), &status) == 0) file.written = static_cast<uint64_t>(status.st_size);
}

void LivePages::add_files(const Growth& growth) {
  for (const auto& [cpu, written] : growth.written) {
    std::deque<File>& files = files_[cpu];
    if (!files.empty()) complete(files.back());
    const std::string name = TraceDat::page_file_name(growth.path, cpu);
    File next{FileDescriptor(open(name.c_str(), O_RDONLY | O_CLOEXEC)), 0, 0};
    // What is there when somebody begins to look is the past.
    if (path_.empty() && from_ == From::Now) next.position = written;
    if (next.file) files.push_back(std::move(next));
  }
  path_ = growth.path;
}

void LivePages::refresh() {
  constexpr auto kBetween = std::chrono::milliseconds(100);
  const auto now = std::chrono::steady_clock::now();
  if (has_ended_ || (!path_.empty() && now - asked_ < kBetween)) return;
  asked_ = now;
  const std::optional<Growth> growth = ask_();
  if (!growth) {
    has_ended_ = true;
    for (auto& [cpu, files] : files_) {
      if (!files.empty()) complete(files.back());
    }
    return;
  }
  if (growth->path != path_) add_files(*growth);
  until_ = growth->until;
  for (const auto& [cpu, written] : growth->written) {
    const auto files = files_.find(cpu);
    if (files != files_.end() && !files->second.empty()) files->second.back().written = written;
  }
}

bool LivePages::read_page(uint32_t cpu, std::vector<std::byte>& page, uint32_t page_size) {
  const auto found = files_.find(cpu);
  if (found == files_.end()) return false;
  std::deque<File>& files = found->second;
  while (!files.empty()) {
    File& file = files.front();
    if (file.position + page_size <= file.written) {
      page.resize(page_size);
      const ssize_t size =
          pread(file.file.get(), page.data(), page_size, static_cast<off_t>(file.position));
      if (size == static_cast<ssize_t>(page_size)) {
        file.position += page_size;
        return true;
      }
    }
    if (files.size() == 1) return false;
    files.pop_front();
  }
  return false;
}

}  // namespace strata::tracedat
