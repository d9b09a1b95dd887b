// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/tsdl_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_set>
#include <utility>

#include "format/ctf/field_budget.h"
#include "format/ctf/tsdl_fields.h"
#include "format/ctf/tsdl_roles.h"
#include "format/ctf/tsdl_types.h"
#include "format/ctf/uuid.h"

namespace strata::ctf::tsdl {
namespace {

constexpr uint64_t kMajor = 1;
constexpr uint64_t kMinor = 8;

struct EventTypes {
  EventClass event;
  TypePtr context;
  TypePtr fields;
};

struct StreamTypes {
  StreamClass stream;
  Place place;
  TypePtr packet_context;
  TypePtr event_header;
  TypePtr event_context;
  std::vector<EventTypes> events;
  std::unordered_set<uint64_t> event_ids;
};

class Describer {
 public:
  Describer(const Syntax& syntax, size_t text_size, const std::string& path)
      : syntax_(syntax), path_(path), budget_(text_size), maker_(budget_, path) {}

  Result<Description> run() {
    // What types refer to must be known before them.
    bool ok = byte_order() && each(Block::Kind::Env, &Describer::environment) &&
              each(Block::Kind::Clock, &Describer::clock);
    if (!ok) return std::move(*error_);
    TypeBuilder builder(surroundings_, path_);
    builder_ = &builder;
    for (const Declaration& declaration : syntax_.declarations)
      if (!builder.declare(declaration, globals_)) return builder.error();
    ok = each(Block::Kind::Trace, &Describer::trace) &&
         each(Block::Kind::Stream, &Describer::stream) &&
         each(Block::Kind::Event, &Describer::event) && make_fields();
    if (!ok) return std::move(*error_);
    return std::move(description_);
  }

 private:
  bool fail(Place place, std::string_view cause) {
    if (!error_) error_ = error_at(path_, place, cause);
    return false;
  }
  bool fail(const Error& error) {
    if (!error_) error_ = error;
    return false;
  }

  bool each(Block::Kind kind, bool (Describer::*visit)(const Block&)) {
    for (const Block& block : syntax_.blocks)
      if (block.kind == kind && !(this->*visit)(block)) return false;
    return true;
  }

  bool byte_order() {
    const Block* trace = nullptr;
    for (const Block& block : syntax_.blocks) {
      if (block.kind != Block::Kind::Trace) continue;
      if (trace) return fail(block.place, "there are two trace blocks");
      trace = &block;
    }
    if (!trace) return fail({}, "there is no trace block");
    for (const auto& entry : trace->entries) {
      const auto* attribute = std::get_if<Attribute>(&entry);
      if (!attribute || attribute->name != "byte_order") continue;
      std::optional<ByteOrder> order = as_byte_order(attribute->value, std::nullopt);
      if (!order)
        return fail(attribute->value.place, "expected the trace's byte order: le, be or network");
      surroundings_.order = description_.order = *order;
      return true;
    }
    return fail(trace->place, "the trace block does not say its byte_order");
  }

  bool environment(const Block& block) {
    for (const auto& entry : block.entries) {
      const auto* attribute = std::get_if<Attribute>(&entry);
      if (!attribute) return fail(block.place, "there may be nothing but values in an env block");
      std::variant<int64_t, std::string> value;
      if (const auto* number = std::get_if<Number>(&attribute->value.what)) {
        value = static_cast<int64_t>(number->negative ? 0 - number->magnitude : number->magnitude);
        surroundings_.numbers[attribute->name] = std::get<int64_t>(value);
      } else {
        value = *as_text(attribute->value);
        surroundings_.numbers.erase(attribute->name);
      }
      auto [known, is_new] = environment_.emplace(attribute->name, description_.environment.size());
      if (is_new) {
        description_.environment.emplace_back(attribute->name, std::move(value));
      } else {
        description_.environment[known->second].second = std::move(value);
      }
    }
    return true;
  }

  // The attributes of a block by name. What is not ours to know may be said as often as it likes.
  bool attributes(const Block& block, std::initializer_list<std::string_view> known,
                  std::map<std::string_view, const Value*>& to) {
    for (const auto& entry : block.entries) {
      const auto* attribute = std::get_if<Attribute>(&entry);
      if (!attribute || std::find(known.begin(), known.end(), attribute->name) == known.end())
        continue;
      if (!to.emplace(attribute->name, &attribute->value).second)
        return fail(attribute->place, fmt::format("'{}' is said twice", attribute->name));
    }
    return true;
  }

  bool take_text(const Value* value, std::string& to) {
    if (!value) return true;
    std::optional<std::string> text = as_text(*value);
    if (!text) return fail(value->place, "expected a name or a string");
    to = std::move(*text);
    return true;
  }
  bool take_unsigned(const Value* value, std::optional<uint64_t>& to) {
    if (!value) return true;
    to = as_unsigned(*value);
    return to || fail(value->place, "expected a number that is not negative");
  }
  bool take_signed(const Value* value, std::optional<int64_t>& to) {
    if (!value) return true;
    to = as_signed(*value);
    return to || fail(value->place, "expected a number");
  }
  bool take_uuid(const Value* value, std::string& bytes) {
    if (!value) return true;
    const auto* text = std::get_if<std::string>(&value->what);
    std::optional<std::string> uuid = text ? parse_uuid(*text) : std::nullopt;
    if (!uuid) return fail(value->place, "expected a UUID");
    bytes = std::move(*uuid);
    return true;
  }

  bool clock(const Block& block) {
    std::map<std::string_view, const Value*> said;
    if (!attributes(
            block,
            {"name", "uuid", "description", "freq", "precision", "offset_s", "offset", "absolute"},
            said))
      return false;
    Clock clock;
    clock.since_epoch = false;
    std::string uuid;
    std::optional<uint64_t> frequency;
    std::optional<int64_t> seconds, cycles;
    if (!take_text(said["name"], clock.name) || !take_uuid(said["uuid"], uuid) ||
        !take_text(said["description"], clock.description) ||
        !take_unsigned(said["freq"], frequency) ||
        !take_unsigned(said["precision"], clock.precision) ||
        !take_signed(said["offset_s"], seconds) || !take_signed(said["offset"], cycles))
      return false;
    if (clock.name.empty()) return fail(block.place, "the clock has no name");
    if (frequency == uint64_t{0}) return fail(said["freq"]->place, "a clock of 0 Hz stands still");
    if (!uuid.empty()) clock.uid = uuid_text(uuid);
    clock.frequency = frequency.value_or(clock.frequency);
    if (!clock.set_offset(seconds.value_or(0), cycles.value_or(0)))
      return fail(block.place, "the clock's offset does not fit in 64 bits");
    if (const Value* absolute = said["absolute"]) {
      std::optional<bool> is_absolute = as_boolean(*absolute);
      if (!is_absolute) return fail(absolute->place, "expected true or false");
      clock.since_epoch = *is_absolute;
    }
    auto& names = surroundings_.clocks;
    if (std::find(names.begin(), names.end(), clock.name) != names.end())
      return fail(block.place, fmt::format("there are two clocks '{}'", clock.name));
    names.push_back(clock.name);
    description_.clocks.push_back(std::move(clock));
    return true;
  }

  // The types in a block: its own names, and the structures that it assigns.
  bool types(const Block& block, const std::map<std::string_view, TypePtr*>& wanted) {
    Names names(&globals_);
    for (const auto& entry : block.entries) {
      if (const auto* declaration = std::get_if<Declaration>(&entry)) {
        if (!builder_->declare(*declaration, names)) return fail(builder_->error());
      }
      const auto* assignment = std::get_if<TypeAssignment>(&entry);
      auto found = assignment ? wanted.find(assignment->name) : wanted.end();
      if (found == wanted.end()) continue;
      if (*found->second)
        return fail(assignment->place, fmt::format("'{}' is said twice", assignment->name));
      TypePtr type = builder_->build(assignment->type, names);
      if (!type) return fail(builder_->error());
      if (!std::holds_alternative<StructType>(type->what))
        return fail(assignment->place, fmt::format("'{}' must be a structure", assignment->name));
      *found->second = std::move(type);
    }
    return true;
  }

  bool trace(const Block& block) {
    std::map<std::string_view, const Value*> said;
    if (!attributes(block, {"major", "minor", "uuid", "byte_order"}, said)) return false;
    if (said["major"] && as_unsigned(*said["major"]) != kMajor)
      return fail(said["major"]->place, "expected 1, as this is CTF 1.8");
    if (said["minor"] && as_unsigned(*said["minor"]) != kMinor)
      return fail(said["minor"]->place, "expected 8, as this is CTF 1.8");
    return take_uuid(said["uuid"], description_.uuid) &&
           types(block, {{"packet.header", &packet_header_}});
  }

  bool stream(const Block& block) {
    std::map<std::string_view, const Value*> said;
    std::optional<uint64_t> id;
    StreamTypes types_of;
    types_of.place = block.place;
    if (!attributes(block, {"id", "name"}, said) || !take_unsigned(said["id"], id) ||
        !take_text(said["name"], types_of.stream.name) ||
        !types(block, {{"packet.context", &types_of.packet_context},
                       {"event.header", &types_of.event_header},
                       {"event.context", &types_of.event_context}}))
      return false;
    types_of.stream.id = id.value_or(0);
    if (!stream_by_id_.emplace(types_of.stream.id, streams_.size()).second)
      return fail(block.place,
                  fmt::format("there are two streams with the id {}", types_of.stream.id));
    streams_.push_back(std::move(types_of));
    return true;
  }

  bool event(const Block& block) {
    std::map<std::string_view, const Value*> said;
    std::optional<uint64_t> id, stream_id;
    EventTypes to;
    if (!attributes(block, {"name", "id", "stream_id", "loglevel", "model.emf.uri"}, said) ||
        !take_text(said["name"], to.event.name) || !take_unsigned(said["id"], id) ||
        !take_unsigned(said["stream_id"], stream_id) ||
        !take_signed(said["loglevel"], to.event.log_level) ||
        !take_text(said["model.emf.uri"], to.event.emf_uri) ||
        !types(block, {{"context", &to.context}, {"fields", &to.fields}}))
      return false;
    if (streams_.empty() && !stream_id) {  // events alone make a stream
      stream_by_id_.emplace(0, 0);
      streams_.emplace_back().place = block.place;
    }
    if (!stream_id && streams_.size() > 1)
      return fail(block.place, "the event does not say which of the streams it is in");
    auto found = stream_by_id_.find(stream_id ? *stream_id : streams_.front().stream.id);
    if (found == stream_by_id_.end())
      return fail(said["stream_id"]->place, fmt::format("there is no stream {}", *stream_id));
    StreamTypes& stream = streams_[found->second];
    if (!id && !stream.events.empty())
      return fail(block.place, "the event has no id, and is not the only one of its stream");
    to.event.id = id.value_or(0);
    if (!stream.event_ids.insert(to.event.id).second)
      return fail(block.place,
                  fmt::format("there are two events with the id {} in a stream", to.event.id));
    stream.events.push_back(std::move(to));
    return true;
  }

  bool make(Scope scope, TypePtr type, FieldClassPtr& to) {
    maker_.set_scope(scope, type);
    to = maker_.make(scope);
    if (maker_.error()) return fail(*maker_.error());
    if (to) give_roles(*to, scope);
    return true;
  }

  bool make_fields() {
    if (!make(Scope::PacketHeader, packet_header_, description_.packet_header)) return false;
    const bool tells_stream = description_.packet_header &&
                              has_role(*description_.packet_header, FieldRole::StreamClassId);
    if (streams_.size() > 1 && !tells_stream)
      return fail(streams_[1].place,
                  "there are several streams, but packets do not say their stream_id");
    for (StreamTypes& types_of : streams_) {
      StreamClass& stream = types_of.stream;
      maker_.take_clocks();
      if (!make(Scope::PacketContext, types_of.packet_context, stream.packet_context) ||
          !make(Scope::EventHeader, types_of.event_header, stream.event_header) ||
          !make(Scope::EventCommonContext, types_of.event_context, stream.common_context))
        return false;
      for (EventTypes& each : types_of.events) {
        if (!make(Scope::EventSpecificContext, each.context, each.event.specific_context) ||
            !make(Scope::EventPayload, each.fields, each.event.payload))
          return false;
        stream.events.push_back(std::move(each.event));
      }
      if (!find_clock(stream, types_of.place)) return false;
      description_.streams.push_back(std::move(stream));
    }
    return true;
  }

  // The clock that the stream's fields read. Times that do not say whose they are can only be the
  // only clock's; and where there is none, they count nanoseconds.
  bool find_clock(StreamClass& stream, Place place) {
    const std::set<size_t> clocks = maker_.take_clocks();
    if (clocks.size() > 1) return fail(place, "the stream's fields are mapped to several clocks");
    if (!clocks.empty()) stream.clock = *clocks.begin();
    bool has_times = stream.packet_context && map_times(*stream.packet_context);
    has_times = (stream.event_header && map_times(*stream.event_header)) || has_times;
    if (!has_times || stream.clock) return true;
    if (description_.clocks.size() > 1)
      return fail(place, "the stream has times, but does not say which of the clocks they are of");
    if (description_.clocks.empty()) {
      Clock& clock = description_.clocks.emplace_back();
      clock.name = "default";
      clock.since_epoch = false;
    }
    stream.clock = 0;
    return true;
  }

  const Syntax& syntax_;
  const std::string& path_;
  std::optional<Error> error_;
  Surroundings surroundings_;
  Names globals_;
  TypeBuilder* builder_ = nullptr;
  TypePtr packet_header_;
  std::vector<StreamTypes> streams_;
  std::unordered_map<uint64_t, size_t> stream_by_id_;
  std::unordered_map<std::string, size_t> environment_;
  FieldBudget budget_;
  FieldMaker maker_;
  Description description_;
};

}  // namespace

Result<Description> describe(const Syntax& syntax, size_t text_size, const std::string& path) {
  return Describer(syntax, text_size, path).run();
}

}  // namespace strata::ctf::tsdl
