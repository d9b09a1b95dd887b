// SPDX-License-Identifier: Apache-2.0
#include "top/recorder.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace strata::top {
namespace {

constexpr size_t kMostSaid = 4096;

// What a process is started with, freed when that is done.
class SpawnPlan {
 public:
  SpawnPlan(int input, int complaints) {
    posix_spawn_file_actions_init(&files_);
    posix_spawn_file_actions_adddup2(&files_, input, STDIN_FILENO);
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&files_, complaints, STDERR_FILENO);
    // Ctrl-C on the terminal is for who shows something there.
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes_, &none);
    sigset_t all;
    sigfillset(&all);
    posix_spawnattr_setsigdefault(&attributes_, &all);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;
  ~SpawnPlan() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }

  int spawn(const char* program, char* const* words, pid_t& process) const {
    return posix_spawn(&process, program, &files_, &attributes_, words, environ);
  }

 private:
  posix_spawn_file_actions_t files_;
  posix_spawnattr_t attributes_;
};

}  // namespace

Result<Recorder> Recorder::start(const std::string& session, const std::string& folder,
                                 const std::vector<std::string>& options) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return system_error("", "cannot make a pipe", errno);
  const FileDescriptor input(ends[0]);
  FileDescriptor life(ends[1]);
  FileDescriptor said(memfd_create("strata-record", MFD_CLOEXEC));
  if (!said) return system_error("", "cannot make a file in memory", errno);

  std::vector<std::string> words = {"strata", "record", "--name", session, "-o", folder};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), {"--", "cat"});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  pid_t process = -1;
  const int failed =
      SpawnPlan(input.get(), said.get()).spawn("/proc/self/exe", arguments.data(), process);
  if (failed != 0) return system_error("", "cannot start strata record", failed);
  return Recorder(process, session, folder, std::move(life), std::move(said));
}

Recorder::Recorder(Recorder&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      session_(std::move(other.session_)),
      folder_(std::move(other.folder_)),
      life_(std::move(other.life_)),
      said_(std::move(other.said_)) {}

Recorder::~Recorder() { (void)stop(); }

std::optional<record::SessionEntry> Recorder::session() const {
  for (record::SessionEntry& entry : record::list_sessions())
    if (entry.is_alive && entry.process == process_ && entry.name == session_)
      return std::move(entry);
  return std::nullopt;
}

Status Recorder::alive() {
  int status = 0;
  if (process_ > 0 && waitpid(process_, &status, WNOHANG) != process_) return {};
  return ended(status);
}

Status Recorder::stop() {
  if (process_ <= 0) return {};
  life_.reset();
  int status = 0;
  while (waitpid(process_, &status, 0) < 0)
    if (errno != EINTR) break;
  process_ = -1;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? Status() : ended(status);
}

Status Recorder::ended(int status) {
  process_ = -1;
  std::string text(kMostSaid, '\0');
  const ssize_t size = pread(said_.get(), text.data(), text.size(), 0);
  text.resize(size > 0 ? static_cast<size_t>(size) : 0);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  if (text.empty())
    text = WIFSIGNALED(status) ? "was ended by signal " + std::to_string(WTERMSIG(status))
                               : "ended without a word";
  return Error{"strata record", std::nullopt, std::move(text)};
}

std::chrono::nanoseconds Recorder::cpu_time() const {
  clockid_t clock{};
  timespec time{};
  if (process_ <= 0 || clock_getcpuclockid(process_, &clock) != 0 ||
      clock_gettime(clock, &time) != 0)
    return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace strata::top
