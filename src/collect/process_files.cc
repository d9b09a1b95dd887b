// SPDX-License-Identifier: Apache-2.0
#include "collect/process_files.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <optional>

#include "base/small_file.h"

namespace strata::collect {
namespace {

std::string folder_of(pid_t process) { return "/proc/" + std::to_string(process); }

// A line, or a word of one, taken off `text` with the separator behind it.
std::string_view take(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

template <typename T>
bool read_number(std::string_view text, T& number, int base) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc{} && end == text.data() + text.size();
}

// "5581a000-5581b000 r-xp 00001000 fe:00 1234    /usr/bin/shop"
std::optional<CodeMapping> parse_line(std::string_view line) {
  CodeMapping mapping;
  std::string_view range = take(line, ' ');
  const std::string_view start = take(range, '-');
  const std::string_view permissions = take(line, ' ');
  const std::string_view offset = take(line, ' ');
  std::string_view device = take(line, ' ');
  const std::string_view major = take(device, ':');
  const std::string_view inode = take(line, ' ');
  unsigned major_number = 0;
  unsigned minor_number = 0;
  if (permissions.size() < 4 || permissions[2] != 'x') return std::nullopt;
  if (!read_number(start, mapping.start, 16) || !read_number(range, mapping.end, 16) ||
      !read_number(offset, mapping.offset, 16) || !read_number(major, major_number, 16) ||
      !read_number(device, minor_number, 16) || !read_number(inode, mapping.inode, 10) ||
      mapping.start >= mapping.end)
    return std::nullopt;
  mapping.device = makedev(major_number, minor_number);
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  if (!line.starts_with('/')) return std::nullopt;  // no file: [vdso], memory of its own
  constexpr std::string_view kDeleted = " (deleted)";
  mapping.is_deleted = line.ends_with(kDeleted);
  if (mapping.is_deleted) line.remove_suffix(kDeleted.size());
  mapping.path = line;
  return mapping;
}

bool is_file(const std::string& path, const FileIdentity& file) {
  const Result<FileIdentity> found = FileIdentity::of(path);
  return found && *found == file;
}

}  // namespace

std::vector<CodeMapping> parse_code_mappings(std::string_view maps) {
  std::vector<CodeMapping> mappings;
  while (!maps.empty())
    if (std::optional<CodeMapping> mapping = parse_line(take(maps, '\n')))
      mappings.push_back(std::move(*mapping));
  return mappings;
}

Result<std::vector<CodeMapping>> code_mappings(pid_t process) {
  const Result<std::string> maps = read_small_file(folder_of(process) + "/maps");
  if (!maps) return maps.error();
  return parse_code_mappings(*maps);
}

std::string reachable_path(pid_t process, const CodeMapping& mapping) {
  if (!mapping.is_deleted) {
    std::string path = folder_of(process) + "/root" + mapping.path;
    struct stat found {};
    if (stat(path.c_str(), &found) == 0 && found.st_ino == mapping.inode) return path;
  }
  char range[40];
  std::snprintf(range, sizeof range, "%lx-%lx", mapping.start, mapping.end);
  return folder_of(process) + "/map_files/" + range;
}

Result<FileIdentity> FileIdentity::of(const std::string& path) {
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return system_error(path, "cannot open", errno);
  return FileIdentity{found.st_dev, found.st_ino};
}

std::vector<CodeMapping> mappings_of(pid_t process, const FileIdentity& file) {
  Result<std::vector<CodeMapping>> mappings = code_mappings(process);
  if (!mappings) return {};
  // On btrfs and overlayfs the device is not the one that stat() gives: then the path decides.
  std::erase_if(*mappings, [&](const CodeMapping& mapping) {
    return mapping.inode != file.inode ||
           (mapping.device != file.device && !is_file(reachable_path(process, mapping), file));
  });
  return std::move(*mappings);
}

std::vector<uint64_t> load_biases(std::span<const CodeMapping> mappings, const FileSite& site) {
  // The anchor is code: where that part of the file is mapped as code, it is.
  std::vector<uint64_t> biases;
  for (const CodeMapping& mapping : mappings) {
    if (site.anchor_offset < mapping.offset ||
        site.anchor_offset - mapping.offset >= mapping.end - mapping.start)
      continue;
    biases.push_back(mapping.start + (site.anchor_offset - mapping.offset) - site.site.anchor);
  }
  return biases;
}

std::vector<pid_t> running_processes() {
  std::vector<pid_t> processes;
  DIR* folder = opendir("/proc");
  if (folder == nullptr) return processes;
  while (const dirent* entry = readdir(folder)) {
    pid_t process = 0;
    if (read_number(std::string_view(entry->d_name), process, 10)) processes.push_back(process);
  }
  closedir(folder);
  return processes;
}

}  // namespace strata::collect
