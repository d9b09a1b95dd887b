// SPDX-License-Identifier: Apache-2.0
#include "guest/request.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace strata::guest {
namespace {

using Json = nlohmann::ordered_json;

// What of a request is a list of texts or of numbers, and what is a single value, each by its name.
template <typename Self, typename Each>
void each_field(Self& self, Each each) {
  each("filters", self.filters);
  each("profiles", self.profiles);
  each("profiles_file", self.profiles_file);
  each("profiles_text", self.profiles_text);
  each("uprobes", self.uprobes);
  each("usdts", self.usdts);
  each("kprobes", self.kprobes);
  each("presets", self.presets);
  each("counters", self.counters);
  each("read_at", self.read_at);
  each("apps", self.apps);
  each("contexts", self.contexts);
  each("processes", self.processes);
  each("cgroup", self.cgroup);
  each("container", self.container);
  each("clock", self.clock);
  each("buffer_bytes", self.buffer_bytes);
  each("state", self.state);
  each("max_bytes", self.max_bytes);
  each("compressed", self.compressed);
}

// As nlohmann-json does they throw, where a value is not of the kind.
void take(const Json& json, bool& value) { value = json.get<bool>(); }
void take(const Json& json, std::string& value) { value = json.get<std::string>(); }
void take(const Json& json, uint64_t& value) {
  if (!json.is_number_unsigned()) throw std::invalid_argument("a number from 0 on is wanted");
  value = json.get<uint64_t>();
}
void take(const Json& json, int32_t& value) {
  uint64_t number = 0;
  take(json, number);
  if (number == 0 || number > std::numeric_limits<int32_t>::max())
    throw std::invalid_argument("a process has a number above 0");
  value = static_cast<int32_t>(number);
}

template <typename T>
void take(const Json& json, std::vector<T>& values);

void take(const Json& json, record::EventWish& wish) {
  if (!json.is_object() || json.size() != 2)
    throw std::invalid_argument("an event has a pattern and filters");
  take(json.at("events"), wish.pattern);
  take(json.at("filters"), wish.filters);
}

template <typename T>
void take(const Json& json, std::vector<T>& values) {
  if (!json.is_array()) throw std::invalid_argument("a list is wanted");
  for (const Json& each : json) take(each, values.emplace_back());
}

// Of milliseconds, or of microseconds: an hour is more than anybody waits.
uint64_t number_of_time(const Json& json) {
  uint64_t number = 0;
  take(json, number);
  if (number > 3'600'000'000) throw std::invalid_argument("is too long");
  return number;
}

void take_field(const std::string& name, const Json& json, Request& request) {
  if (name == "events") return take(json, request.events);
  if (name == "sync_ms") {
    request.sync = std::chrono::milliseconds(number_of_time(json));
    return;
  }
  if (name == "wait_us") {
    request.policy = probe::abi::Policy::Block;
    request.wait = std::chrono::microseconds(number_of_time(json));
    return;
  }
  bool is_known = false;
  each_field(request, [&](const char* field, auto& value) {
    if (name != field) return;
    take(json, value);
    is_known = true;
  });
  if (!is_known) throw std::invalid_argument("nobody here knows what that is");
}

}  // namespace

std::string to_json(const Request& request) {
  Json json = {{"events", Json::array()}, {"sync_ms", request.sync.count()}};
  for (const record::EventWish& wish : request.events)
    json["events"].push_back({{"events", wish.pattern}, {"filters", wish.filters}});
  if (request.policy == probe::abi::Policy::Block) json["wait_us"] = request.wait.count();
  each_field(request, [&](const char* name, const auto& value) { json[name] = value; });
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<Request> parse_request(std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return Error{"", std::nullopt, "the request is no JSON object"};
  Request request;
  for (const auto& [name, value] : json.items()) {
    try {
      take_field(name, value, request);
    } catch (const std::exception& error) {
      return Error{"", std::nullopt, "the request's \"" + name + "\": " + error.what()};
    }
  }
  return request;
}

}  // namespace strata::guest
