// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "format/ctf/ctf2_fields.h"
#include "format/ctf/ctf2_json.h"
#include "format/ctf/field_budget.h"
#include "format/ctf/metadata.h"

namespace strata::ctf {
namespace ctf2 {
namespace {

using Need = Fragment::Need;

constexpr char kRecordSeparator = '\x1e';
constexpr uint64_t kVersion = 2;
constexpr size_t kUuidSize = 16;
constexpr std::string_view kSpace = " \t\r\n";

// The names of log levels, in the order of their numbers in CTF 1.8.
constexpr std::string_view kLogLevels[] = {
    "emergency",    "alert",      "critical",       "error",         "warning",
    "notice",       "info",       "debug:system",   "debug:program", "debug:process",
    "debug:module", "debug:unit", "debug:function", "debug:line",    "debug"};

const Integer* find_magic(const FieldClass& header) {
  for (const Member& member : std::get<Structure>(header.kind).members) {
    const auto* integer = std::get_if<Integer>(&member.type->kind);
    if (integer && integer->role == FieldRole::PacketMagic) return integer;
  }
  return nullptr;
}

bool has_stream_class_id(const FieldClass& header) {
  const auto& members = std::get<Structure>(header.kind).members;
  return std::any_of(members.begin(), members.end(), [](const Member& member) {
    const auto* integer = std::get_if<Integer>(&member.type->kind);
    return integer && integer->role == FieldRole::StreamClassId;
  });
}

// Fragment by fragment, each of which may refer to those before it.
class Reader {
 public:
  Reader(size_t text_size, const std::string& path)
      : path_(path), budget_(text_size), fields_(aliases_, budget_) {}

  Result<Description> run(std::string_view text) {
    description_.version = 2;
    size_t number = 0;
    for (size_t begin = 0; begin < text.size();) {
      size_t end = std::min(text.find(kRecordSeparator, begin), text.size());
      std::string_view json = text.substr(begin, end - begin);
      begin = end + 1;
      if (json.find_first_not_of(kSpace) == std::string_view::npos) continue;
      Fragment fragment(path_, ++number);
      if (!read(fragment, json, number)) return fragment.error();
    }
    if (number == 0) return Error{path_, std::nullopt, "there are no fragments of metadata"};
    if (description_.streams.empty())
      return Error{path_, std::nullopt,
                   fmt::format("none of the {} fragments is a data stream class", number)};
    const FieldClass* header = description_.packet_header.get();
    if (description_.streams.size() > 1 && (!header || !has_stream_class_id(*header)))
      return Error{path_, std::nullopt,
                   "there are several data stream classes, but packets do not say theirs"};
    const Integer* magic = header ? find_magic(*header) : nullptr;
    if (magic) description_.order = magic->order;
    return std::move(description_);
  }

 private:
  bool read(Fragment& fragment, std::string_view text, size_t number) {
    std::optional<Json> json = fragment.parse(text);
    std::string type;
    if (!json || !fragment.take(*json, "type", type, Need::Required)) return false;
    if ((number == 1) != (type == "preamble"))
      return fragment.fail("a preamble must come first, and once");
    if (!fragment.has_no_extensions(*json)) return false;
    if (type == "preamble") return preamble(fragment, *json);
    if (type == "field-class-alias") return alias(fragment, *json);
    if (type == "trace-class") return trace(fragment, *json);
    if (type == "clock-class") return clock(fragment, *json);
    if (type == "data-stream-class") return stream(fragment, *json);
    if (type == "event-record-class") return event(fragment, *json);
    Fragment::At at(fragment, "type");
    return fragment.fail(fmt::format("\"{}\" is no type of a fragment", type));
  }

  bool preamble(Fragment& fragment, const Json& json) {
    uint64_t version = 0;
    if (!fragment.take(json, "version", version, Need::Required)) return false;
    if (version != kVersion) {
      Fragment::At at(fragment, "version");
      return fragment.fail(fmt::format("expected 2, not {}", version));
    }
    const Json* uuid = fragment.find(json, "uuid");
    if (!uuid) return true;
    Fragment::At at(fragment, "uuid");
    if (!uuid->is_array() || uuid->size() != kUuidSize) return fragment.fail("expected 16 bytes");
    for (const Json& byte : *uuid) {
      if (!byte.is_number_unsigned() || byte.get<uint64_t>() > 255)
        return fragment.fail("expected 16 bytes");
      description_.uuid += static_cast<char>(byte.get<uint64_t>());
    }
    return true;
  }

  bool alias(Fragment& fragment, Json& json) {
    std::string name;
    if (!fragment.take(json, "name", name, Need::Required)) return false;
    if (!fragment.find(json, "field-class", Need::Required)) return false;
    Json& field_class = json["field-class"];
    if (!field_class.is_object() && !field_class.is_string()) {
      Fragment::At at(fragment, "field-class");
      return fragment.fail("expected a field class");
    }
    if (!aliases_.emplace(name, std::move(field_class)).second)
      return fragment.fail(fmt::format("there are two field class aliases \"{}\"", name));
    return true;
  }

  bool trace(Fragment& fragment, const Json& json) {
    if (has_trace_) return fragment.fail("there are two trace classes");
    if (!description_.streams.empty())
      return fragment.fail("the trace class must come before data stream classes");
    has_trace_ = true;
    if (!fragment.take(json, "name", description_.name) ||
        !fields_.read(fragment, json, "packet-header-field-class", Scope::PacketHeader,
                      description_.packet_header))
      return false;
    fields_.set_scope(Scope::PacketHeader, description_.packet_header.get());
    const Json* environment = fragment.find(json, "environment");
    if (!environment) return true;
    Fragment::At at(fragment, "environment");
    if (!environment->is_object()) return fragment.fail("expected an object");
    for (const auto& [key, value] : environment->items()) {
      if (value.is_string()) {
        description_.environment.emplace_back(key, value.get<std::string>());
        continue;
      }
      int64_t number = 0;
      if (!fragment.take(*environment, key, number)) return false;
      description_.environment.emplace_back(key, number);
    }
    return true;
  }

  bool clock(Fragment& fragment, const Json& json) {
    std::string id;
    Clock clock;
    clock.since_epoch = false;
    if (!fragment.take(json, "id", id, Need::Required) ||
        !fragment.take(json, "namespace", clock.nspace) || !fragment.take(json, "uid", clock.uid) ||
        !fragment.take(json, "description", clock.description) ||
        !fragment.take(json, "frequency", clock.frequency, Need::Required) ||
        !fragment.take(json, "precision", clock.precision))
      return false;
    clock.name = id;
    if (!fragment.take(json, "name", clock.name)) return false;
    if (clock.frequency == 0) {
      Fragment::At at(fragment, "frequency");
      return fragment.fail("a clock of 0 Hz stands still");
    }
    if (!origin(fragment, json, clock) || !offset(fragment, json, clock)) return false;
    if (!clocks_.emplace(id, description_.clocks.size()).second)
      return fragment.fail(fmt::format("there are two clock classes \"{}\"", id));
    description_.clocks.push_back(std::move(clock));
    return true;
  }

  bool origin(Fragment& fragment, const Json& json, Clock& clock) {
    const Json* origin = fragment.find(json, "origin");
    if (!origin) return true;
    Fragment::At at(fragment, "origin");
    clock.since_epoch = *origin == "unix-epoch";
    if (clock.since_epoch) return true;
    std::string nspace, name, uid;
    if (!origin->is_object()) return fragment.fail("expected \"unix-epoch\" or an object");
    if (!fragment.take(*origin, "namespace", nspace) ||
        !fragment.take(*origin, "name", name, Need::Required) ||
        !fragment.take(*origin, "uid", uid, Need::Required))
      return false;
    clock.origin = nspace + '\n' + name + '\n' + uid;
    return true;
  }

  bool offset(Fragment& fragment, const Json& json, Clock& clock) {
    const Json* offset = fragment.find(json, "offset-from-origin");
    if (!offset) return true;
    Fragment::At at(fragment, "offset-from-origin");
    int64_t seconds = 0;
    uint64_t cycles = 0;
    if (!fragment.take(*offset, "seconds", seconds) ||
        !fragment.take(*offset, "cycles", cycles, Need::Optional))
      return false;
    clock.offset_seconds = seconds;
    clock.offset_cycles = cycles;
    if (cycles < clock.frequency) return true;
    Fragment::At key(fragment, "cycles");
    return fragment.fail("expected fewer cycles than a second has");
  }

  bool stream(Fragment& fragment, const Json& json) {
    StreamClass stream;
    std::string clock;
    if (!fragment.take(json, "id", stream.id, Need::Optional) ||
        !fragment.take(json, "name", stream.name) ||
        !fragment.take(json, "default-clock-class-id", clock))
      return false;
    if (json.contains("default-clock-class-id")) {
      auto found = clocks_.find(clock);
      if (found == clocks_.end()) {
        Fragment::At at(fragment, "default-clock-class-id");
        return fragment.fail(fmt::format("there is no clock class \"{}\" before", clock));
      }
      stream.clock = found->second;
    }
    fields_.take_has_times();
    if (!fields_.read(fragment, json, "packet-context-field-class", Scope::PacketContext,
                      stream.packet_context))
      return false;
    fields_.set_scope(Scope::PacketContext, stream.packet_context.get());
    if (!fields_.read(fragment, json, "event-record-header-field-class", Scope::EventHeader,
                      stream.event_header))
      return false;
    fields_.set_scope(Scope::EventHeader, stream.event_header.get());
    if (!fields_.read(fragment, json, "event-record-common-context-field-class",
                      Scope::EventCommonContext, stream.common_context))
      return false;
    if (fields_.take_has_times() && !stream.clock)
      return fragment.fail("there are times of a default clock, but no \"default-clock-class-id\"");
    if (!streams_.emplace(stream.id, description_.streams.size()).second)
      return fragment.fail(fmt::format("there are two data stream classes {}", stream.id));
    description_.streams.push_back(std::move(stream));
    return true;
  }

  bool event(Fragment& fragment, const Json& json) {
    EventClass event;
    uint64_t stream_id = 0;
    if (!fragment.take(json, "id", event.id, Need::Optional) ||
        !fragment.take(json, "data-stream-class-id", stream_id, Need::Optional) ||
        !fragment.take(json, "name", event.name) || !fragment.take(json, "namespace", event.nspace))
      return false;
    auto found = streams_.find(stream_id);
    if (found == streams_.end())
      return fragment.fail(fmt::format("there is no data stream class {} before", stream_id));
    StreamClass& stream = description_.streams[found->second];
    fields_.set_scope(Scope::PacketContext, stream.packet_context.get());
    fields_.set_scope(Scope::EventHeader, stream.event_header.get());
    fields_.set_scope(Scope::EventCommonContext, stream.common_context.get());
    if (!fields_.read(fragment, json, "specific-context-field-class", Scope::EventSpecificContext,
                      event.specific_context))
      return false;
    fields_.set_scope(Scope::EventSpecificContext, event.specific_context.get());
    if (!fields_.read(fragment, json, "payload-field-class", Scope::EventPayload, event.payload))
      return false;
    take_attributes(json, event);
    if (!events_.emplace(stream_id, event.id).second)
      return fragment.fail(
          fmt::format("there are two event record classes {} in the data stream "
                      "class {}",
                      event.id, stream_id));
    stream.events.push_back(std::move(event));
    return true;
  }

  // What CTF 1.8 had words for and CTF 2 has not. Who does not follow the custom is not understood.
  static void take_attributes(const Json& json, EventClass& event) {
    auto attributes = json.find("attributes");
    if (attributes == json.end() || !attributes->is_object()) return;
    for (const char* nspace : {"lttng.org,2009", "babeltrace.org,2020"}) {
      auto own = attributes->find(nspace);
      if (own == attributes->end() || !own->is_object()) continue;
      if (auto level = own->find("log-level"); level != own->end()) {
        auto known = std::find(std::begin(kLogLevels), std::end(kLogLevels), *level);
        if (known != std::end(kLogLevels)) event.log_level = known - std::begin(kLogLevels);
        if (level->is_number_integer()) event.log_level = level->get<int64_t>();
      }
      if (auto uri = own->find("emf-uri"); uri != own->end() && uri->is_string())
        event.emf_uri = uri->get<std::string>();
    }
  }

  const std::string& path_;
  Description description_;
  bool has_trace_ = false;
  Aliases aliases_;
  FieldBudget budget_;
  FieldReader fields_;
  std::map<std::string, size_t> clocks_;  // by their ids in the metadata
  std::unordered_map<uint64_t, size_t> streams_;
  std::set<std::pair<uint64_t, uint64_t>> events_;
};

}  // namespace
}  // namespace ctf2

Result<Description> parse_ctf2(std::string_view text, const std::string& path) {
  return ctf2::Reader(text.size(), path).run(text);
}

}  // namespace strata::ctf
