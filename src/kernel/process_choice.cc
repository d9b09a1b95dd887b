// SPDX-License-Identifier: Apache-2.0
#include "kernel/process_choice.h"

#include <dirent.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/small_file.h"

namespace strata::kernel {
namespace {

namespace fs = std::filesystem;

constexpr const char* kControlGroups = "/sys/fs/cgroup";

bool read_number(std::string_view text, pid_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

void add_threads(pid_t process, std::vector<pid_t>& threads) {
  DIR* tasks = opendir(("/proc/" + std::to_string(process) + "/task").c_str());
  if (tasks == nullptr) return;
  while (const dirent* entry = readdir(tasks)) {
    pid_t thread = 0;
    if (read_number(entry->d_name, thread)) threads.push_back(thread);
  }
  closedir(tasks);
}

// Docker knows its containers by name, control groups only by id.
std::string docker_id(const std::string& name) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/var/lib/docker/containers", ignored)) {
    const Result<std::string> text =
        read_small_file((entry.path() / "config.v2.json").string(), size_t{4} << 20);
    if (!text) continue;
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (!json.is_object()) continue;
    const auto it = json.find("Name");
    if (it != json.end() && it->is_string() && it->get<std::string>() == "/" + name)
      return entry.path().filename();
  }
  return {};
}

// "docker-<id>.scope", "libpod-<id>.scope", "crio-<id>.scope", "machine-<name>.scope",
// "lxc.payload.<name>", or the bare id: what comes behind the engine's own word.
bool is_group_of(std::string group, const std::string& name) {
  if (group.ends_with(".scope")) group.resize(group.size() - 6);
  for (const std::string_view engine : {"docker-", "libpod-", "crio-", "cri-containerd-",
                                        "machine-", "lxc.payload.", "lxc.monitor."}) {
    if (group.starts_with(engine)) {
      group.erase(0, engine.size());
      break;
    }
  }
  constexpr size_t kShortId = 12;
  return group == name || (name.size() >= kShortId && group.starts_with(name));
}

}  // namespace

Result<std::vector<pid_t>> threads_of(pid_t process) {
  std::vector<pid_t> threads;
  add_threads(process, threads);
  if (threads.empty())
    return Error{"", std::nullopt, "there is no process " + std::to_string(process)};
  return threads;
}

Result<std::vector<pid_t>> threads_in_cgroup(const std::string& path) {
  const std::string folder = path.starts_with("/sys/") || path.starts_with("/proc/")
                                 ? path
                                 : std::string(kControlGroups) + "/" + path;
  std::error_code error;
  if (!fs::exists(folder + "/cgroup.procs", error))
    return Error{folder, std::nullopt, "is no control group"};
  std::vector<pid_t> threads;
  const auto add = [&](const fs::path& group) {
    const Result<std::string> text = read_small_file((group / "cgroup.procs").string());
    if (!text) return;
    std::string_view rest = *text;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      pid_t process = 0;
      if (read_number(rest.substr(0, end), process)) add_threads(process, threads);
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  };
  add(folder);
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (entry.is_directory(error)) add(entry.path());
  }
  if (threads.empty()) return Error{folder, std::nullopt, "no process is in this control group"};
  return threads;
}

Result<std::string> cgroup_of_container(const std::string& name) {
  const std::string id = docker_id(name);
  std::vector<std::string> found;
  std::error_code ignored;
  for (auto it = fs::recursive_directory_iterator(kControlGroups, ignored);
       it != fs::recursive_directory_iterator(); it.increment(ignored)) {
    if (!it->is_directory(ignored)) continue;
    const std::string group = it->path().filename();
    if (!is_group_of(group, name) && (id.empty() || !is_group_of(group, id))) continue;
    found.push_back(it->path());
    it.disable_recursion_pending();
  }
  if (found.empty())
    return Error{kControlGroups, std::nullopt,
                 "no container named '" + name + "' is running (its id does as well)"};
  // Version 1 has a tree for each controller: the same group in each of them.
  const auto same_name = [&](const std::string& other) {
    return fs::path(other).filename() == fs::path(found.front()).filename();
  };
  if (!std::ranges::all_of(found, same_name))
    return Error{kControlGroups, std::nullopt, "several containers match '" + name + "'"};
  return found.front();
}

}  // namespace strata::kernel
