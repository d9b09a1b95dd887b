// SPDX-License-Identifier: Apache-2.0
#include "guest/recorder_process.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/small_file.h"
#include "guest/pages.h"
#include "kernel/cpu_list.h"

namespace strata::guest {
namespace {

constexpr size_t kLongestNews = 64 << 10;

// Those that the kernel has rings for, whether or not they run now.
Result<std::vector<uint32_t>> possible_cpus() {
  const std::string path = "/sys/devices/system/cpu/possible";
  const Result<std::string> text = read_small_file(path);
  if (!text) return text.error();
  std::optional<std::vector<uint32_t>> cpus = kernel::parse_cpu_list(*text);
  if (!cpus || cpus->empty()) return Error{path, std::nullopt, "is no list of CPUs"};
  return *std::move(cpus);
}

Status write_all(int file, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t size = write(file, text.data() + done, text.size() - done);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return system_error("", "cannot tell the recorder what to record", errno);
    done += static_cast<size_t>(size);
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<RecorderProcess>> RecorderProcess::start(std::string session,
                                                                std::string folder, Request request,
                                                                std::vector<pid_t> threads) {
  std::unique_ptr<RecorderProcess> recorder(new RecorderProcess(std::move(folder)));
  const Result<std::vector<uint32_t>> cpus = possible_cpus();
  if (!cpus) return cpus.error();
  RecorderOrder order{
      std::move(session), recorder->folder_, std::move(threads), {}, std::move(request)};
  std::vector<FileDescriptor> pipes;  // what the recorder writes to
  for (const uint32_t cpu : *cpus) {
    Result<Pipe> pipe = Pipe::create();
    if (!pipe) return std::move(pipe).error();
    fcntl(pipe->in.get(), F_SETFL, 0);  // the recorder waits where we are slow
    order.pages.push_back({cpu, pipe->in.get()});
    recorder->pages_.push_back({cpu, std::move(pipe->out)});
    pipes.push_back(std::move(pipe->in));
  }
  Result<Pipe> input = Pipe::create();
  if (!input) return std::move(input).error();
  Result<Pipe> output = Pipe::create();
  if (!output) return std::move(output).error();
  for (const FileDescriptor* end : {&input->out, &input->in, &output->in})
    fcntl(end->get(), F_SETFL, 0);
  if (Status status = recorder->spawn(pipes, input->out.get(), output->in.get()); !status)
    return std::move(status).error();
  input->out.reset();
  recorder->order_ = std::move(input->in);
  recorder->news_ = std::move(output->out);
  if (Status status = write_all(recorder->order_.get(), to_json(order) + "\n"); !status)
    return std::move(status).error();
  return recorder;
}

Status RecorderProcess::spawn(const std::vector<FileDescriptor>& pipes, int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  // To the number that it has: so it stays open.
  for (const FileDescriptor& pipe : pipes)
    posix_spawn_file_actions_adddup2(&actions, pipe.get(), pipe.get());
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  // No Ctrl-C that is meant for the agent reaches it: it ends when the agent lets it go.
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::array<std::string, 3> words = {"strata", "agent", "--recorder"};
  char* argv[] = {words[0].data(), words[1].data(), words[2].data(), nullptr};
  const int error = posix_spawn(&process_, "/proc/self/exe", &actions, &attributes, argv, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error == 0) return {};
  process_ = -1;
  return system_error("", "cannot start the recorder", error);
}

std::vector<RecorderNews> RecorderProcess::news() {
  std::vector<RecorderNews> all;
  std::array<char, 4096> some;
  while (!ended_) {
    const ssize_t size = read(news_.get(), some.data(), some.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) break;
    if (size <= 0) ended_ = true;
    for (ssize_t i = 0; i < size; ++i) {
      if (some[static_cast<size_t>(i)] != '\n') {
        if (line_.size() < kLongestNews) line_ += some[static_cast<size_t>(i)];
        continue;
      }
      if (Result<RecorderNews> one = parse_recorder_news(line_)) all.push_back(*std::move(one));
      line_.clear();
    }
  }
  return all;
}

RecorderProcess::~RecorderProcess() {
  order_.reset();
  pages_.clear();
  if (process_ > 0) {
    // What it has in the kernel, its watcher removes.
    if (!ended_) kill(process_, SIGKILL);
    waitpid(process_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace strata::guest
