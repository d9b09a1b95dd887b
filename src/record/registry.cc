// SPDX-License-Identifier: Apache-2.0
#include "record/registry.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/small_file.h"

namespace strata::record {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSystemFolder = "/run/strata";
constexpr std::string_view kEnding = ".session";
constexpr std::string_view kControlEnding = ".control";
constexpr size_t kMaxEntry = 64 << 10;

bool is_usable(const std::string& folder) {
  return (mkdir(folder.c_str(), 0755) == 0 || errno == EEXIST) &&
         access(folder.c_str(), W_OK | X_OK) == 0;
}

// The socket that belongs to an entry's file.
std::string control_of(const std::string& entry) {
  return entry.substr(0, entry.size() - kEnding.size()) + std::string(kControlEnding);
}

std::vector<std::string> folders() {
  std::vector<std::string> all = {kSystemFolder};
  if (const char* own = getenv("XDG_RUNTIME_DIR")) all.push_back(std::string(own) + "/strata");
  return all;
}

std::string to_json(const SessionEntry& entry) {
  return Json{{"name", entry.name},       {"process", entry.process},
              {"user", entry.user},       {"user_name", entry.user_name},
              {"folder", entry.folder},   {"begin_ns", entry.begin_ns},
              {"flight", entry.is_flight}}
      .dump();
}

// The file belongs to whoever recorded: nothing in it is taken on trust but by who reads it.
bool parse_entry(const std::string& text, SessionEntry& entry) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return false;
  try {
    entry.name = json.at("name").get<std::string>();
    entry.process = json.at("process").get<pid_t>();
    entry.user = json.at("user").get<uid_t>();
    entry.user_name = json.at("user_name").get<std::string>();
    entry.folder = json.at("folder").get<std::string>();
    entry.begin_ns = json.at("begin_ns").get<int64_t>();
    entry.is_flight = json.value("flight", false);
  } catch (const Json::exception&) {
    return false;
  }
  return is_session_name(entry.name);
}

// Whether `path` is still this file: its owner before may have removed it between our opening and
// locking it.
bool is_named(int file, const std::string& path) {
  struct stat ours {};
  struct stat named {};
  return fstat(file, &ours) == 0 && stat(path.c_str(), &named) == 0 && ours.st_ino == named.st_ino;
}

bool is_locked(const std::string& path) {
  const FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  return file && flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace

bool is_session_name(const std::string& name) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
  };
  return !name.empty() && name.size() <= 64 && name[0] != '.' && name[0] != '-' &&
         std::ranges::all_of(name, is_fine);
}

Result<std::string> registry_folder() {
  for (const std::string& folder : folders()) {
    if (is_usable(folder)) return folder;
  }
  return system_error(kSystemFolder, "cannot keep track of sessions here", errno);
}

Result<Registration> Registration::add(const SessionEntry& entry) {
  Result<std::string> folder = registry_folder();
  if (!folder) return std::move(folder).error();
  const std::string path = *folder + "/" + entry.name + std::string(kEnding);
  FileDescriptor file;
  do {
    file = FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
    if (!file) return system_error(path, "cannot create", errno);
    if (flock(file.get(), LOCK_EX | LOCK_NB) != 0)
      return Error{path, std::nullopt, "a session named '" + entry.name + "' is recording already"};
  } while (!is_named(file.get(), path));
  const std::string text = to_json(entry);
  if (ftruncate(file.get(), 0) != 0 ||
      write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_error(path, "cannot write", errno);
  return Registration(path, std::move(file));
}

Registration::~Registration() {
  // Removed while still locked: nobody can have taken the name meanwhile.
  if (lock_) unlink(path_.c_str());
}

std::string Registration::control() const { return control_of(path_); }

std::vector<SessionEntry> list_sessions() {
  std::vector<SessionEntry> sessions;
  for (const std::string& folder : folders()) {
    DIR* entries = opendir(folder.c_str());
    if (entries == nullptr) continue;
    while (const dirent* found = readdir(entries)) {
      const std::string_view name = found->d_name;
      if (!name.ends_with(kEnding)) continue;
      const std::string path = folder + "/" + found->d_name;
      const Result<std::string> text = read_small_file(path, kMaxEntry);
      SessionEntry entry;
      if (!text || !parse_entry(*text, entry)) continue;
      entry.is_alive = is_locked(path);
      entry.control = control_of(path);
      sessions.push_back(std::move(entry));
    }
    closedir(entries);
  }
  std::ranges::sort(sessions, {}, &SessionEntry::name);
  return sessions;
}

void forget_session(const std::string& name) {
  for (const std::string& folder : folders()) {
    const std::string path = folder + "/" + name + std::string(kEnding);
    if (is_locked(path)) continue;
    unlink(control_of(path).c_str());
    unlink(path.c_str());
  }
}

}  // namespace strata::record
