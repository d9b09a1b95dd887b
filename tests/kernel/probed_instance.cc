// SPDX-License-Identifier: Apache-2.0
#include "probed_instance.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <stdexcept>

#include "base/small_file.h"
#include "kernel/ring_stats.h"
#include "support/command.h"
#include "support/temporary_folder.h"

namespace strata::test {

ProbedInstance::ProbedInstance(const kernel::Tracefs& tracefs) {
  Result<kernel::Instance> instance =
      kernel::Instance::create(tracefs, "probe-test-" + std::to_string(getpid()));
  if (!instance) throw std::runtime_error(instance.error().text());
  instance_.emplace(*std::move(instance));
  const Status status = instance_->set_buffer_size(8 << 20);
  if (!status) throw std::runtime_error(status.error().text());
}

void ProbedInstance::enable(const std::vector<kernel::EventChoice>& events) {
  std::vector<Error> refused;
  instance_->enable(events, refused);
  for (const Error& error : refused) ADD_FAILURE() << error.text();
  const Status status = instance_->start();
  EXPECT_TRUE(status) << status.error().text();
}

std::vector<std::string> ProbedInstance::events() const {
  // Reading could make events without end.
  const Status status = write_small_file(instance_->file("tracing_on"), "0");
  EXPECT_TRUE(status) << status.error().text();
  std::vector<std::string> events;
  for (const std::string& line : lines_of(read_whole_file(instance_->file("trace")))) {
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

uint64_t ProbedInstance::lost() const {
  uint64_t lost = 0;
  for (const uint32_t cpu : instance_->cpus())
    lost += kernel::parse_ring_stats(read_whole_file(instance_->cpu_file(cpu, "stats"))).lost();
  return lost;
}

std::string field(const std::string& event, const std::string& name) {
  const size_t at = event.find(" " + name + "=");
  if (at == std::string::npos) return "none";
  const size_t start = at + name.size() + 2;
  return event.substr(start, event.find(' ', start) - start);
}

}  // namespace strata::test
