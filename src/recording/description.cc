// SPDX-License-Identifier: Apache-2.0
#include "recording/description.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <type_traits>

#include "base/new_file.h"
#include "base/small_file.h"

namespace strata::recording {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kVersion = 1;
// No recording has more; what has is damaged or made to hurt.
constexpr size_t kMaxSize = size_t{64} << 20;

// A piece's bound where none is known.
Json json_bound(uint64_t bound) { return bound == trace::kNoBound ? Json(nullptr) : Json(bound); }

Json json_map(const trace::ClockMap& map) {
  Json json = {{"from", map.from}, {"to", map.to}, {"segment", map.segment}};
  Json& pieces = json["pieces"] = Json::array();
  for (const trace::ClockPiece& piece : map.pieces()) {
    pieces.push_back({{"t0", piece.t0},
                      {"u0", piece.u0},
                      {"mult", piece.mult},
                      {"shift", piece.shift},
                      {"bound_ns", json_bound(piece.bound_ns)}});
    if (piece.gap) pieces.back()["gap"] = true;
  }
  return json;
}

// What is missing is as if it had its usual value; what is of another type is an error, which
// nlohmann-json throws and parse_description() catches.
template <typename T>
void get(const Json& json, const char* name, T& value) {
  const auto it = json.find(name);
  if (it == json.end() || it->is_null()) return;
  // It would be cut to the nearest integer, which may not exist.
  if (std::is_integral_v<T> && it->is_number_float())
    throw std::invalid_argument(std::string(name) + " is no integer");
  it->get_to(value);
}

trace::ClockMap map_of(const Json& json) {
  std::vector<trace::ClockPiece> pieces;
  for (const Json& from : json.at("pieces")) {
    trace::ClockPiece& piece = pieces.emplace_back();
    get(from, "t0", piece.t0);
    get(from, "u0", piece.u0);
    get(from, "mult", piece.mult);
    uint64_t shift = 0;
    get(from, "shift", shift);
    if (shift > 63 || piece.mult >> 63 != 0) throw std::invalid_argument("a slope beyond reason");
    piece.shift = static_cast<uint8_t>(shift);
    piece.rounding = shift == 0 ? 0 : uint64_t{1} << (shift - 1);
    get(from, "bound_ns", piece.bound_ns);
    get(from, "gap", piece.gap);
  }
  trace::ClockMap map = pieces.empty() ? trace::ClockMap() : trace::ClockMap(std::move(pieces));
  get(json, "from", map.from);
  get(json, "to", map.to);
  get(json, "segment", map.segment);
  return map;
}

}  // namespace

std::string to_json(const Description& description) {
  Json json = {{"version", kVersion}};
  Json& machines = json["machines"] = Json::array();
  for (const Machine& machine : description.machines) {
    Json& to = machines.emplace_back(Json{{"name", machine.name},
                                          {"kind", machine.kind},
                                          {"boot_id", machine.boot_id},
                                          {"kernel", machine.kernel}});
    if (!machine.vcpus.empty()) to["vcpus"] = machine.vcpus;
    if (!machine.ended.empty()) to["ended"] = machine.ended;
  }
  Json& clocks = json["clocks"] = Json::array();
  for (const NamedClock& clock : description.clocks) {
    clocks.push_back({{"name", clock.name},
                      {"machine", clock.machine},
                      {"frequency", clock.frequency},
                      {"note", clock.note}});
    if (clock.is_timeline) clocks.back()["timeline"] = true;
  }
  Json& parts = json["parts"] = Json::array();
  for (const Part& part : description.parts)
    parts.push_back({{"file", part.file},
                     {"kind", part.kind},
                     {"what", part.what},
                     {"machine", part.machine},
                     {"clock", part.clock},
                     {"segment", part.segment},
                     {"lost", part.lost},
                     {"lost_unknown", part.lost_unknown},
                     {"finished", part.finished}});
  Json& maps = json["maps"] = Json::array();
  for (const trace::ClockMap& map : description.maps) maps.push_back(json_map(map));
  Json& sessions = json["sessions"] = Json::array();
  for (const Session& session : description.sessions) {
    Json& to = sessions.emplace_back(Json{{"name", session.name},
                                          {"user", session.user},
                                          {"begin_ns", session.begin_ns},
                                          {"end_ns", session.end_ns},
                                          {"asked", session.asked}});
    Json& changes = to["changes"] = Json::array();
    for (const Change& change : session.changes)
      changes.push_back({{"at_ns", change.at_ns}, {"what", change.what}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Description> parse_description(const std::string& text, const std::string& file) {
  try {
    const Json json = Json::parse(text);
    Description description;
    int version = 0;
    get(json, "version", version);
    if (version != kVersion)
      return Error{
          file, std::nullopt,
          "is of version " + std::to_string(version) + ", which this strata does not know"};
    for (const Json& from : json.value("machines", Json::array())) {
      Machine& machine = description.machines.emplace_back();
      get(from, "name", machine.name);
      get(from, "kind", machine.kind);
      get(from, "boot_id", machine.boot_id);
      get(from, "kernel", machine.kernel);
      get(from, "vcpus", machine.vcpus);
      get(from, "ended", machine.ended);
    }
    for (const Json& from : json.value("clocks", Json::array())) {
      NamedClock& clock = description.clocks.emplace_back();
      get(from, "name", clock.name);
      get(from, "machine", clock.machine);
      get(from, "frequency", clock.frequency);
      get(from, "note", clock.note);
      get(from, "timeline", clock.is_timeline);
    }
    for (const Json& from : json.value("parts", Json::array())) {
      Part& part = description.parts.emplace_back();
      get(from, "file", part.file);
      get(from, "kind", part.kind);
      get(from, "what", part.what);
      get(from, "machine", part.machine);
      get(from, "clock", part.clock);
      get(from, "segment", part.segment);
      get(from, "lost", part.lost);
      get(from, "lost_unknown", part.lost_unknown);
      get(from, "finished", part.finished);
      // A part is in the folder: whoever made this file must not lead elsewhere.
      if (part.file.empty() || part.file.find('/') != std::string::npos || part.file == "..")
        return Error{file, std::nullopt,
                     "names the part '" + part.file + "', which cannot be here"};
    }
    for (const Json& from : json.value("maps", Json::array()))
      description.maps.push_back(map_of(from));
    for (const Json& from : json.value("sessions", Json::array())) {
      Session& session = description.sessions.emplace_back();
      get(from, "name", session.name);
      get(from, "user", session.user);
      get(from, "begin_ns", session.begin_ns);
      get(from, "end_ns", session.end_ns);
      get(from, "asked", session.asked);
      for (const Json& one : from.value("changes", Json::array())) {
        Change& change = session.changes.emplace_back();
        get(one, "at_ns", change.at_ns);
        get(one, "what", change.what);
      }
    }
    return description;
  } catch (const Json::parse_error& error) {
    return Error{file, error.byte, error.what()};
  } catch (const std::exception& error) {
    return Error{file, std::nullopt, error.what()};
  }
}

bool is_snapshot(const Session& session) {
  return std::ranges::any_of(session.changes, [](const Change& change) {
    return change.what.starts_with(kSnapshotChange);
  });
}

Status write_description(const std::string& folder, const Description& description) {
  Result<NewFile> file = NewFile::create(folder + "/" + kDescriptionName);
  if (!file) return std::move(file).error();
  file->be_durable();
  const std::string json = to_json(description);
  if (Status status = file->append(std::as_bytes(std::span(json))); !status) return status;
  return file->publish();
}

Result<Description> read_description(const std::string& folder) {
  const std::string path = folder + "/" + kDescriptionName;
  const Result<std::string> text = read_small_file(path, kMaxSize);
  if (!text) return text.error();
  return parse_description(*text, path);
}

}  // namespace strata::recording
