// SPDX-License-Identifier: Apache-2.0
#include "probed_instance.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/small_file.h"
#include "support/command.h"
#include "support/temporary_folder.h"

namespace strata::test {
namespace {

void write(const std::string& path, std::string_view text) {
  const Status status = write_small_file(path, text);
  EXPECT_TRUE(status) << status.error().text();
}

}  // namespace

ProbedInstance::ProbedInstance(const kernel::Tracefs& tracefs)
    : path_(tracefs.file("instances/strata-probe-test-" + std::to_string(getpid()))) {
  EXPECT_EQ(mkdir(path_.c_str(), 0700), 0) << path_;
  write(path_ + "/buffer_size_kb", "8192");
}

ProbedInstance::~ProbedInstance() {
  write(path_ + "/events/enable", "0");
  EXPECT_EQ(rmdir(path_.c_str()), 0) << path_;
}

void ProbedInstance::enable(const std::vector<kernel::EventChoice>& events) const {
  for (const kernel::EventChoice& event : events) {
    const std::string folder = path_ + "/events/" + event.system + "/" + event.name;
    if (!event.filter.empty()) write(folder + "/filter", event.filter);
    write(folder + "/enable", "1");
  }
}

std::vector<std::string> ProbedInstance::events() const {
  std::vector<std::string> events;
  for (const std::string& line : lines_of(read_whole_file(path_ + "/trace"))) {
    // "  task-123 [000] ..... 12.345678: name: ..."
    const size_t time = line.find(": ");
    if (!line.starts_with('#') && time != std::string::npos)
      events.push_back(line.substr(time + 2));
  }
  return events;
}

std::vector<std::string> ProbedInstance::events(const std::string& name) const {
  std::vector<std::string> all = events();
  std::erase_if(all, [&](const std::string& event) { return !event.starts_with(name + ": "); });
  return all;
}

bool ProbedInstance::lost_some() const {
  for (const auto& cpu : std::filesystem::directory_iterator(path_ + "/per_cpu"))
    if (read_whole_file(cpu.path().string() + "/stats").find("overrun: 0\n") == std::string::npos)
      return true;
  return false;
}

std::string field(const std::string& event, const std::string& name) {
  const size_t at = event.find(" " + name + "=");
  if (at == std::string::npos) return "none";
  const size_t start = at + name.size() + 2;
  return event.substr(start, event.find(' ', start) - start);
}

}  // namespace strata::test
