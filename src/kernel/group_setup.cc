// SPDX-License-Identifier: Apache-2.0
#include "kernel/group_setup.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "base/small_file.h"
#include "kernel/group_program.h"
#include "kernel/privilege.h"

namespace strata::kernel {
namespace {

using Json = nlohmann::ordered_json;

std::string folder_of(const std::string& prefix) { return prefix + "/lib/strata"; }
std::string note_of(const std::string& prefix) { return folder_of(prefix) + "/setup.json"; }

bool is_number(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

std::optional<gid_t> find_group(const std::string& name) {
  if (const group* found = getgrnam(name.c_str())) return found->gr_gid;
  gid_t number = 0;
  if (is_number(name) &&
      std::from_chars(name.data(), name.data() + name.size(), number).ec == std::errc())
    return number;
  return std::nullopt;
}

// As the commands that manage groups take it: no option of theirs, and nothing for a shell.
bool is_group_name(const std::string& name) {
  const auto is_fine = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !name.empty() && name.size() <= 32 && name[0] != '-' && std::ranges::all_of(name, is_fine);
}

Status run(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = fork();
  if (child < 0) return system_error(words[0], "cannot start", errno);
  if (child == 0) {
    execv(arguments[0], arguments.data());
    _exit(127);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  return Error{words[0], std::nullopt, "did not do its work for the group '" + words.back() + "'"};
}

// Permitted, not effective: the program raises what it needs, when it needs it.
vfs_cap_data file_capabilities() {
  vfs_cap_data data{};
  data.magic_etc = htole32(VFS_CAP_REVISION_2);
  for (const Capability capability : kRecordingNeeds) {
    const auto number = static_cast<unsigned>(capability);
    data.data[number / 32].permitted |= htole32(uint32_t{1} << number % 32);
  }
  return data;
}

// Under another name until it is whole: nobody runs half of it, or one that lacks its owner.
Status install_copy(const std::string& path, gid_t group) {
  const std::string unfinished = path + ".new";
  unlink(unfinished.c_str());
  const auto fail = [&](const std::string& what) {
    const int why = errno;
    unlink(unfinished.c_str());
    return system_error(path, what, why);
  };
  const FileDescriptor from(open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  if (!from) return system_error("/proc/self/exe", "cannot open", errno);
  const FileDescriptor to(
      open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0700));
  if (!to) return system_error(unfinished, "cannot create", errno);
  ssize_t copied = 0;
  while ((copied = copy_file_range(from.get(), nullptr, to.get(), nullptr, 1 << 30, 0)) > 0) {
  }
  if (copied < 0) return fail("cannot copy this program");
  // In this order: a change of the owner takes capabilities away.
  if (fchown(to.get(), 0, group) != 0) return fail("cannot be given to the group");
  if (fchmod(to.get(), 0750) != 0) return fail("cannot be opened to the group");
  const vfs_cap_data data = file_capabilities();
  if (fsetxattr(to.get(), "security.capability", &data, XATTR_CAPS_SZ_2, 0) != 0)
    return fail("cannot be given capabilities (this file system may not have them)");
  if (fsync(to.get()) != 0 || rename(unfinished.c_str(), path.c_str()) != 0)
    return fail("cannot be installed");
  return {};
}

Status write_note(const std::string& prefix, const GroupSetup& setup) {
  const std::string path = note_of(prefix);
  const FileDescriptor file(
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0644));
  const std::string text = Json{
      {"group", setup.group},
      {"made_group", setup.made_group},
      {"made_folder",
       setup.made_folder}}.dump();
  if (!file || write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
    return system_error(path, "cannot write", errno);
  return {};
}

Status make_group(GroupSetup& setup, std::vector<std::string>& done) {
  if (find_group(setup.group)) return {};
  if (!is_group_name(setup.group))
    return Error{"", std::nullopt, "'" + setup.group + "' is no name for a group"};
  if (Status status = run({"/usr/sbin/groupadd", "--system", setup.group}); !status) return status;
  setup.made_group = true;
  done.push_back("made the group '" + setup.group + "', which has no members yet");
  return {};
}

}  // namespace

Result<std::optional<GroupSetup>> find_group_setup(const std::string& prefix) {
  const std::string path = note_of(prefix);
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return std::optional<GroupSetup>();
  const Result<std::string> text = read_small_file(path, 4096);
  if (!text) return text.error();
  const Json json = Json::parse(*text, nullptr, false);
  try {
    return std::optional(GroupSetup{json.at("group").get<std::string>(),
                                    json.at("made_group").get<bool>(),
                                    json.at("made_folder").get<bool>()});
  } catch (const Json::exception&) {
    return Error{path, std::nullopt, "is no note of 'strata setup'"};
  }
}

Status set_up_group(const std::string& prefix, const std::string& group,
                    std::vector<std::string>& done) {
  const Result<std::optional<GroupSetup>> before = find_group_setup(prefix);
  if (!before) return before.error();
  if (*before && (*before)->group != group)
    return Error{note_of(prefix), std::nullopt,
                 "this is set up for the group '" + (*before)->group +
                     "' already: 'strata setup --undo' first"};
  GroupSetup setup = before->value_or(GroupSetup{group});
  if (Status status = make_group(setup, done); !status) return status;
  if (mkdir(kSessionsFolder, 0755) == 0) {
    setup.made_folder = true;
    done.push_back("made " + std::string(kSessionsFolder) + ", where sessions are noted");
  }
  std::error_code error;
  std::filesystem::create_directories(folder_of(prefix), error);
  if (error) return system_error(folder_of(prefix), "cannot create", error.value());
  // Noted before the copy is there: what is done can be undone, however far it got.
  if (Status status = write_note(prefix, setup); !status) return status;
  const std::string program = group_program(prefix);
  if (Status status = install_copy(program, *find_group(group)); !status) return status;
  done.push_back("installed " + program + ", which the group '" + group + "' may run");
  return {};
}

Status undo_group_setup(const std::string& prefix, std::vector<std::string>& done) {
  const Result<std::optional<GroupSetup>> setup = find_group_setup(prefix);
  if (!setup) return setup.error();
  if (!*setup) return {};
  const std::string program = group_program(prefix);
  if (unlink(program.c_str()) == 0)
    done.push_back("removed " + program);
  else if (errno != ENOENT)
    return system_error(program, "cannot be removed", errno);
  if ((*setup)->made_group && getgrnam((*setup)->group.c_str()) != nullptr) {
    if (Status status = run({"/usr/sbin/groupdel", (*setup)->group}); !status) return status;
    done.push_back("removed the group '" + (*setup)->group + "'");
  }
  if (unlink(note_of(prefix).c_str()) != 0)
    return system_error(note_of(prefix), "cannot be removed", errno);
  // Only where nothing else is in them.
  rmdir(folder_of(prefix).c_str());
  if ((*setup)->made_folder && rmdir(kSessionsFolder) == 0)
    done.push_back("removed " + std::string(kSessionsFolder));
  return {};
}

}  // namespace strata::kernel
