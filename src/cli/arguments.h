// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/time_text.h"
#include "record/wish.h"

namespace strata::cli {

// What each command was asked for. Texts are as they were given: what they mean may depend on the
// traces.

struct InfoArguments {
  std::vector<std::string> paths;
  bool json = false;
};

struct EventsArguments {
  std::vector<std::string> paths;  // none: this kernel
  std::vector<std::string> patterns;
  std::vector<std::string> profiles;
  std::string profile_file;    // empty: the built-in profiles alone
  bool list_profiles = false;  // instead of events
  bool by_family = false;
  bool verbose = false;
  bool format = false;
  bool json = false;
};

// -e and -F in the order in which they were given: a filter belongs to the event before it.
struct EventOrFilter {
  bool is_filter = false;
  std::string text;
};

// How an event becomes a line.
enum class LineStyle : uint8_t { Report, Babeltrace, Json };

// What the state engine tells of an event.
enum class StatePart : uint8_t { Process, Mode, Vm };

struct DumpArguments {
  std::vector<std::string> paths;
  std::vector<EventOrFilter> conditions;
  std::string cpus;
  std::vector<int32_t> tids;
  std::string begin;
  std::string end;
  std::optional<TimeStyle> time;
  LineStyle style = LineStyle::Report;
  bool follow = false;
  std::vector<std::string> fields;
  std::vector<std::string> with;  // proc, mode, vm
  std::optional<uint64_t> limit;
  std::string output;  // empty: standard output
  bool json = false;
};

struct QueryArguments {
  // Traces, and behind them what is asked, if it is.
  std::vector<std::string> words;
  bool csv = false;
  bool json = false;
};

struct StatsArguments {
  std::vector<std::string> paths;
  std::vector<std::string> by;
  std::string filter;  // of rows; empty: all
  std::string begin;
  std::string end;
  std::optional<size_t> limit;  // rows of a table; 0: all
  bool json = false;
  bool csv = false;
  bool exits = false;         // of virtual CPUs, instead
  bool input_output = false;  // files, devices and interfaces, instead
  std::string period = {};    // a duration; empty: the whole
};

struct StateArguments {
  std::vector<std::string> paths;
  std::string at;
  bool all = false;  // tasks of which nothing is known, too
  bool follow = false;
  bool json = false;
};

struct PsArguments {
  std::vector<std::string> paths;
  std::string at;  // empty: the end
  bool threads = false;
  bool files = false;  // their open descriptors
  bool all = false;    // those that ended, too
  bool json = false;
};

struct TopArguments {
  std::vector<std::string> paths;  // none: this machine
  std::string delay = "1s";
  std::optional<uint64_t> count;  // refreshes
  bool batch = false;
  bool json = false;
  std::vector<std::string> screens;
  std::vector<std::string> counters;
  std::vector<int32_t> pids;
  std::string filter;
  std::string sort;
  bool threads = false;
  std::string history;
  double speed = 1;
  bool paused = false;
  bool flight = false;
};

enum class Packing : uint8_t { None, Zstd };
enum class CompressWhen : uint8_t { End, Live };

struct TrimArguments {
  std::string path;
  std::string begin;
  std::string end;
  std::string output;
  Packing packing = Packing::Zstd;
  bool json = false;
};

struct SyncArguments {
  std::string path;
  std::string reference;
  std::string output;  // empty: shown only
  bool json = false;
};

struct ConvertArguments {
  enum class Format : uint8_t { TraceDat, Ctf, Json };
  std::string path;
  Format to = Format::TraceDat;
  std::string output;
  Packing packing = Packing::Zstd;
  bool json = false;
};

// What is to be recorded of a machine.
struct WishArguments {
  record::Wish wish;  // what is taken as it was said; wish_of() adds the rest
  std::string profiles_file;
  std::vector<EventOrFilter> conditions;
  std::string when_full;
  bool no_state = false;
  std::string buffer_size;
  std::string sync;
};

// A guest that is recorded along.
struct GuestArguments : WishArguments {
  std::string guest;  // "NAME=ADDRESS"
  std::string quota;
  std::string key;      // a file; empty: where it is looked for
  bool wishes = false;  // anything in particular; otherwise it records what the host does
};

struct RecordArguments : WishArguments {
  std::string config;  // a file with more of these
  std::string name;
  std::string output;
  std::string duration;
  std::string keep;
  std::string max_size;
  bool flight = false;
  std::vector<std::string> snapshot_on;
  std::string after;
  Packing packing = Packing::Zstd;
  CompressWhen compress = CompressWhen::End;
  bool json = false;
  std::vector<GuestArguments> guests;
  std::vector<std::string> command;
  std::vector<std::string> asked;
};

struct AgentArguments {
  bool init = false;
  std::vector<std::string> listen;
  std::string key;  // a file; empty: where it is looked for
  size_t most_recordings = 16;
  bool recorder = false;  // what an agent starts itself
};

struct RecoverArguments {
  std::vector<std::string> paths;
  std::string core;    // a core file, instead of these
  std::string output;  // the recording that is made of it
  Packing packing = Packing::Zstd;
  bool json = false;
};

struct SessionArguments {
  enum class Action : uint8_t { List, Stop, Change, Snapshot } action = Action::List;
  std::string name;
  std::vector<EventOrFilter> enable;  // a filter belongs to the event before it
  std::vector<std::string> disable;
  std::vector<int32_t> pids;
  bool all_pids = false;
  std::string output;  // of a snapshot
  bool json = false;
};

struct SetupArguments {
  std::string group;  // who may record from now on; empty: not asked for
  bool check = false;
  bool undo = false;
  std::string prefix;  // below which a program is installed
  bool json = false;
};

struct ProbeArguments {
  enum class Action { List, Enable, Disable };
  Action action = Action::List;
  std::string program;  // a file, or the number of a process
  std::vector<std::string> globs;
  bool force = false;
  bool json = false;
};

using Command =
    std::variant<InfoArguments, EventsArguments, DumpArguments, StatsArguments, StateArguments,
                 PsArguments, QueryArguments, TrimArguments, ConvertArguments, SyncArguments,
                 RecordArguments, RecoverArguments, SessionArguments, SetupArguments,
                 ProbeArguments, TopArguments, AgentArguments>;

// The command, or the exit status where there is nothing to do: help was asked for and shown, or
// the arguments are wrong and that was said.
std::variant<Command, int> parse_arguments(int argc, char** argv);

}  // namespace strata::cli
