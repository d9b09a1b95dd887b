// SPDX-License-Identifier: Apache-2.0
#include "record/registry.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "kernel/group_program.h"
#include "kernel/privilege.h"

namespace strata::record {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kEnding = ".session";
constexpr std::string_view kControlEnding = ".control";
constexpr size_t kMaxEntry = 64 << 10;

// A folder with files of sessions, all of which belong to one user: nobody else could have put them
// there, so that is whose sessions they are, whatever they say.
struct Place {
  std::string folder;
  uid_t owner = 0;
};

bool is_folder_of(const std::string& path, uid_t owner) {
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == owner;
}

bool is_usable(const Place& place) {
  return (mkdir(place.folder.c_str(), 0755) == 0 || errno == EEXIST) &&
         is_folder_of(place.folder, place.owner) && access(place.folder.c_str(), W_OK | X_OK) == 0;
}

// The folder that root's has for this user. The new folder belongs to the user, not to root, though
// it takes rights to put it there.
Place own_place() {
  if (getuid() == 0) return {kernel::kSessionsFolder, 0};
  Place place{kernel::kSessionsFolder + ("/" + std::to_string(getuid())), getuid()};
  if (is_folder_of(kernel::kSessionsFolder, 0)) {
    const kernel::Privilege privilege{kernel::Capability::DacOverride};
    mkdir(place.folder.c_str(), 0700);
  }
  return place;
}

std::optional<Place> runtime_place() {
  const char* folder = getenv("XDG_RUNTIME_DIR");
  if (folder == nullptr) return std::nullopt;
  return Place{std::string(folder) + "/strata", getuid()};
}

// Calls visit(const char*) for each entry of a folder.
template <typename Visit>
void each_entry(const std::string& folder, Visit visit) {
  DIR* entries = opendir(folder.c_str());
  if (entries == nullptr) return;
  while (const dirent* found = readdir(entries)) visit(static_cast<const char*>(found->d_name));
  closedir(entries);
}

// Those that there are; of other users for root alone.
std::vector<Place> places() {
  std::vector<Place> all = {{kernel::kSessionsFolder, 0}};
  if (getuid() == 0) {
    each_entry(kernel::kSessionsFolder, [&](const char* entry) {
      const std::string_view name = entry;
      uid_t user = 0;
      const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), user);
      if (error == std::errc() && end == name.data() + name.size())
        all.push_back({std::string(kernel::kSessionsFolder) + "/" + entry, user});
    });
  } else {
    all.push_back(own_place());
  }
  if (std::optional<Place> place = runtime_place()) all.push_back(*std::move(place));
  std::erase_if(all, [](const Place& place) { return !is_folder_of(place.folder, place.owner); });
  return all;
}

std::string path_in(const Place& place, const std::string& session) {
  return place.folder + "/" + session + std::string(kEnding);
}

// The socket that belongs to an entry's file.
std::string control_of(const std::string& entry) {
  return entry.substr(0, entry.size() - kEnding.size()) + std::string(kControlEnding);
}

std::string to_json(const SessionEntry& entry) {
  return Json{{"name", entry.name},       {"process", entry.process},
              {"user", entry.user},       {"user_name", entry.user_name},
              {"folder", entry.folder},   {"begin_ns", entry.begin_ns},
              {"flight", entry.is_flight}}
      .dump();
}

// Whose it is its place tells. All else is what the user says of their own session.
bool parse_entry(const std::string& text, SessionEntry& entry) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return false;
  try {
    entry.name = json.at("name").get<std::string>();
    entry.process = json.at("process").get<pid_t>();
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

// Neither through a link nor waiting for whoever feeds a pipe: it may be another user's.
FileDescriptor open_entry(const std::string& path) {
  return FileDescriptor(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
}

bool is_locked(const FileDescriptor& file) {
  return file && flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

std::optional<SessionEntry> read_entry(const Place& place, const std::string& file_name) {
  const FileDescriptor file = open_entry(place.folder + "/" + file_name);
  struct stat status {};
  if (!file || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_uid != place.owner || static_cast<uint64_t>(status.st_size) > kMaxEntry)
    return std::nullopt;
  std::string text(static_cast<size_t>(status.st_size), '\0');
  const ssize_t size = pread(file.get(), text.data(), text.size(), 0);
  text.resize(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  SessionEntry entry;
  if (!parse_entry(text, entry) || file_name != entry.name + std::string(kEnding))
    return std::nullopt;
  entry.user = place.owner;
  entry.is_alive = is_locked(file);
  entry.control = control_of(place.folder + "/" + file_name);
  return entry;
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
  const Place own = own_place();
  if (is_usable(own)) return own.folder;
  const int why = errno;
  if (const std::optional<Place> other = runtime_place(); other && is_usable(*other))
    return other->folder;
  return system_error(own.folder, "cannot keep track of sessions here", why);
}

Result<Registration> Registration::add(const SessionEntry& entry) {
  Result<std::string> folder = registry_folder();
  if (!folder) return std::move(folder).error();
  const std::string path = path_in({*folder}, entry.name);
  FileDescriptor file;
  do {
    file = FileDescriptor(open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
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
  for (const Place& place : places()) {
    each_entry(place.folder, [&](const char* name) {
      if (auto entry = read_entry(place, name)) sessions.push_back(*std::move(entry));
    });
  }
  std::ranges::sort(sessions, {}, &SessionEntry::name);
  return sessions;
}

void forget_session(const std::string& name, uid_t user) {
  for (const Place& place : places()) {
    const std::string path = path_in(place, name);
    if (place.owner != user || is_locked(open_entry(path))) continue;
    unlink(control_of(path).c_str());
    unlink(path.c_str());
  }
}

std::string machine_wide_name(const std::string& session, uid_t user) {
  return user == 0 ? session : session + "@" + std::to_string(user);
}

}  // namespace strata::record
