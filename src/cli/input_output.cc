// SPDX-License-Identifier: Apache-2.0
#include "cli/input_output.h"

#include <algorithm>

#include "base/number_text.h"
#include "base/time_text.h"

namespace strata::cli {
namespace {

using Json = nlohmann::ordered_json;
using state::BlockDevice;
using state::Engine;
using state::File;

uint64_t bytes_of(const File& file) { return file.traffic.read_bytes + file.traffic.written_bytes; }

// Those that something went through or that were opened, the most bytes first.
std::vector<File> files_of(const Engine& engine) {
  std::vector<File> files;
  for (const File& file : engine.descriptors().files().files())
    if (file.opens + file.traffic.reads + file.traffic.writes > 0) files.push_back(file);
  std::ranges::stable_sort(files, std::ranges::greater(), bytes_of);
  return files;
}

std::string name_of_device(const Engine& engine, const BlockDevice& device) {
  if (device.name != state::kNoName) return engine.names().text(device.name);
  const uint32_t number = raw(device.id);
  return std::to_string(number >> 20) + ':' + std::to_string(number & 0xfffff);
}

uint64_t span_of(const Engine& engine) {
  return static_cast<uint64_t>(std::max<int64_t>(engine.now() - engine.begin(), 1));
}

std::string ratio_text(uint64_t part, uint64_t whole, double factor) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f",
                factor * static_cast<double>(part) / static_cast<double>(whole));
  return text;
}

std::string duration_of(uint64_t ns) {
  return duration_text(Nanoseconds{static_cast<int64_t>(ns)});
}

void put_files(const Engine& engine, size_t most, const Style& style, TextBuffer& out) {
  Table table({"file, or peer", "kind", "opens", "reads", "bytes", "writes", "bytes"});
  table.align_left(1);
  const std::vector<File> files = files_of(engine);
  for (size_t i = 0; i < std::min(files.size(), most); ++i) {
    const File& file = files[i];
    const std::string& name = engine.names().text(file.name);
    table.add({name.empty() ? "?" : name, std::string(name_of(file.kind)), grouped(file.opens),
               grouped(file.traffic.reads), grouped(file.traffic.read_bytes),
               grouped(file.traffic.writes), grouped(file.traffic.written_bytes)});
  }
  if (table.empty()) return;
  out.put('\n');
  table.put(style, 0, out);
  if (files.size() > most)
    out.put("and " + grouped(files.size() - most) + " more (--limit 0 shows all)\n");
}

void put_devices(const Engine& engine, const Style& style, TextBuffer& out) {
  Table table({"block device", "requests", "bytes read", "bytes written", "busy %", "queue",
               "deepest", "waiting", "service", "longest"});
  for (const auto& [id, device] : engine.block_devices().devices()) {
    if (device.requests == 0 && device.depth_ns == 0) continue;  // a machine has many of them
    table.add({name_of_device(engine, device), grouped(device.requests), grouped(device.bytes.read),
               grouped(device.bytes.written), ratio_text(device.busy_ns, span_of(engine), 100),
               ratio_text(device.depth_ns, span_of(engine), 1), grouped(device.deepest),
               duration_of(device.waiting.average_ns()), duration_of(device.service.average_ns()),
               duration_of(device.service.longest_ns)});
  }
  if (table.empty()) return;
  out.put('\n');
  table.put(style, 0, out);
}

void put_interfaces(const Engine& engine, const Style& style, TextBuffer& out) {
  Table table({"interface", "packets in", "bytes in", "packets out", "bytes out"});
  for (const auto& [name, interface] : engine.interfaces())
    table.add({engine.names().text(name), grouped(interface.received.count),
               grouped(interface.received.bytes), grouped(interface.queued.count),
               grouped(interface.queued.bytes)});
  if (table.empty()) return;
  out.put('\n');
  table.put(style, 0, out);
}

Json json_of(const Engine& engine) {
  Json json = {{"span_ns", span_of(engine)}};
  Json& files = json["files"] = Json::array();
  for (const File& file : files_of(engine))
    files.push_back({{"name", engine.names().text(file.name)},
                     {"kind", name_of(file.kind)},
                     {"opens", file.opens},
                     {"reads", file.traffic.reads},
                     {"read_bytes", file.traffic.read_bytes},
                     {"writes", file.traffic.writes},
                     {"written_bytes", file.traffic.written_bytes}});
  Json& devices = json["devices"] = Json::array();
  for (const auto& [id, device] : engine.block_devices().devices())
    devices.push_back({{"name", name_of_device(engine, device)},
                       {"requests", device.requests},
                       {"read_bytes", device.bytes.read},
                       {"written_bytes", device.bytes.written},
                       {"busy_ns", device.busy_ns},
                       {"depth_ns", device.depth_ns},
                       {"deepest", device.deepest},
                       {"waiting_ns", device.waiting.sum_ns},
                       {"service_ns", device.service.sum_ns},
                       {"service_histogram", device.service.histogram}});
  Json& interfaces = json["interfaces"] = Json::array();
  for (const auto& [name, interface] : engine.interfaces())
    interfaces.push_back({{"name", engine.names().text(name)},
                          {"packets_in", interface.received.count},
                          {"bytes_in", interface.received.bytes},
                          {"packets_out", interface.queued.count},
                          {"bytes_out", interface.queued.bytes}});
  return json;
}

}  // namespace

void put_input_output(const state::Pass& pass, size_t most, const Style& style, TextBuffer& out) {
  for (const state::Machine& machine : pass.machines()) {
    if (pass.machines().size() > 1) out.put(style.heading(machine.name) + '\n');
    out.put("span " + duration_of(span_of(*machine.engine)) + '\n');
    put_files(*machine.engine, most, style, out);
    put_devices(*machine.engine, style, out);
    put_interfaces(*machine.engine, style, out);
  }
}

Json input_output_json(const state::Pass& pass) {
  Json machines = Json::array();
  for (const state::Machine& machine : pass.machines()) {
    Json json = json_of(*machine.engine);
    json["machine"] = machine.name;
    machines.push_back(std::move(json));
  }
  return machines;
}

}  // namespace strata::cli
