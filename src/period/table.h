// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "period/cells.h"
#include "period/histogram.h"

namespace strata::period {

// Earlier tables said that something did `from` during a time, and only now it shows that it did
// `to`: what a wait was for that began in an earlier period, or that events were lost. Tables that
// were told stay as they are; whoever adds them up applies it.
struct Correction {
  int64_t begin = 0;  // of the time
  int64_t end = 0;
  std::optional<Column> from = std::nullopt;  // empty: none
  std::optional<Column> to = std::nullopt;    // the same
  uint64_t weight = 1;                        // nanoseconds for each nanosecond of the time

  bool operator==(const Correction&) const = default;
};
using Corrections = std::vector<Correction>;

constexpr int32_t kNoId = -1;

// A thread in a period.
//
// A thread that did nothing has no row: it went on with what its last row, or the next one, says.
// Threads that run or wait for a CPU have one in every table.
struct TaskRow {
  static constexpr RowKind kKind = RowKind::Task;
  using Values = Cells<kKind>;

  // The key, with its machine. An id is given again, so `start` belongs to it: when it was made, or
  // first heard of.
  int32_t pid = kNoId;  // of its process; kNoId: not told
  int32_t tid = kNoId;
  int64_t start = 0;

  int32_t parent = kNoId;  // the process that made it; kNoId: not told
  std::string name = {};   // as it was last
  std::optional<uint32_t> user = std::nullopt;
  std::string container = {};  // empty, as those below: in none, or nobody told
  std::string cgroup = {};
  std::string vm = {};                          // whose process it is of
  std::optional<uint32_t> vcpu = std::nullopt;  // which of its virtual CPUs it is
  bool is_kernel = false;                       // a thread of the kernel's own
  bool was_born = false;                        // in the period
  bool has_ended = false;                       // the same
  std::optional<uint32_t> exit_code = std::nullopt;
  std::optional<uint32_t> exit_signal = std::nullopt;
  std::optional<uint32_t> cpu = std::nullopt;  // that it was on last
  // What it did at the edges: a column of which is_task_state() is true. Empty: at the first it was
  // not there yet; at the last not any more.
  std::optional<Column> state_before = std::nullopt;
  std::optional<Column> state = std::nullopt;

  Values values = {};
  Corrections corrections = {};

  uint64_t on_cpu_ns() const;   // without interrupts
  uint64_t blocked_ns() const;  // for whatever, but not for a CPU
  auto key() const { return std::tie(tid, start); }
  bool operator==(const TaskRow&) const = default;
};

struct CpuRow {
  static constexpr RowKind kKind = RowKind::Cpu;
  using Values = Cells<kKind>;

  uint32_t number = 0;  // the key
  int32_t tid = kNoId;  // that it ran at the end; 0: none, kNoId: not known

  Values values = {};
  Corrections corrections = {};
  auto key() const { return std::tie(number); }
  bool operator==(const CpuRow&) const = default;
};

// A virtual CPU: a thread.
struct VcpuRow {
  static constexpr RowKind kKind = RowKind::Vcpu;
  using Values = Cells<kKind>;

  int32_t tid = kNoId;  // the key
  int32_t pid = kNoId;  // of the virtual machine
  std::string vm = {};
  uint32_t number = 0;
  std::optional<Column> state = std::nullopt;  // at the end
  std::string preempter = {};  // to whom it lost its CPU for the longest time; empty: to nobody

  Values values = {};
  Corrections corrections = {};
  auto key() const { return std::tie(tid); }
  bool operator==(const VcpuRow&) const = default;
};

// All virtual CPUs of a virtual machine; see add_up().
struct VmRow {
  static constexpr RowKind kKind = RowKind::Vm;
  using Values = Cells<kKind>;

  int32_t pid = kNoId;  // the key
  std::string name = {};
  uint32_t vcpus = 0;

  Values values = {};
  bool operator==(const VmRow&) const = default;
};

struct ExitRow {
  static constexpr RowKind kKind = RowKind::Exit;
  using Values = Cells<kKind>;

  int32_t pid = kNoId;      // of the virtual machine, and
  std::string reason = {};  // in its maker's words: the key

  Values values = {};
  Corrections corrections = {};
  auto key() const { return std::tie(pid, reason); }
  bool operator==(const ExitRow&) const = default;
};

// How a file is told from others.
enum class FileIdentity : uint8_t {
  Name,    // by kind and name, or peer: two files may have one name, and one file two
  Inode,   // by device and inode
  Cookie,  // a socket's, which the kernel gives once
  Count_,
};
std::string_view name_of(FileIdentity identity);

// A file, socket, pipe or whatever else a descriptor leads to.
struct FileRow {
  static constexpr RowKind kKind = RowKind::File;
  using Values = Cells<kKind>;

  FileIdentity identity{};
  uint64_t device = 0;    // the key, as far as `identity` says
  uint64_t number = 0;    // the inode, or the cookie
  std::string kind = {};  // "file", "socket", "pipe", ...
  std::string name = {};  // or the peer; empty: not told

  Values values = {};
  auto key() const { return std::tie(identity, device, number, kind, name); }
  bool operator==(const FileRow&) const = default;
};

// A descriptor of a process through which something went. The same number may be opened again, for
// something else: that is another row.
struct DescriptorRow {
  static constexpr RowKind kKind = RowKind::Descriptor;
  using Values = Cells<kKind>;

  int32_t pid = kNoId;  // the key, with all that tells the file
  int32_t number = kNoId;
  FileIdentity identity{};
  uint64_t device = 0;
  uint64_t inode = 0;  // or the cookie
  std::string kind = {};
  std::string name = {};

  Values values = {};
  auto key() const { return std::tie(pid, number, identity, device, inode, kind, name); }
  bool operator==(const DescriptorRow&) const = default;
};

struct DeviceRow {
  static constexpr RowKind kKind = RowKind::Device;
  using Values = Cells<kKind>;

  uint32_t number = 0;    // the key: the kernel's, 20 bits of it the minor one
  std::string name = {};  // empty: not told

  Values values = {};
  Corrections corrections = {};
  auto key() const { return std::tie(number); }
  bool operator==(const DeviceRow&) const = default;
};

struct InterfaceRow {
  static constexpr RowKind kKind = RowKind::Interface;
  using Values = Cells<kKind>;

  std::string name = {};  // the key

  Values values = {};
  auto key() const { return std::tie(name); }
  bool operator==(const InterfaceRow&) const = default;
};

// What takes time: which kind of thing, and which of them.
enum class Latency : uint8_t {
  RunQueue,      // from being able to run, to running
  Syscall,       // from entry to return, by its name
  Irq,           // by the line's name
  Softirq,       // by the vector's name
  BlockWait,     // from the wish to the device, by the device's name
  BlockService,  // in the device
  Count_,
};
std::string_view name_of(Latency latency);  // "run-queue"

// Whatever ended in the period counts, with its whole length.
struct LatencyRow {
  static constexpr RowKind kKind = RowKind::Latency;
  using Values = Cells<kKind>;  // there are none

  Latency what{};  // the key
  std::string name = {};

  Values values = {};
  Histogram histogram = {};
  auto key() const { return std::tie(what, name); }
  bool operator==(const LatencyRow&) const = default;
};

// How far each column of each kind of row can be believed.
class Marks {
 public:
  Certainty of(RowKind kind, Column column) const {
    return marks_[static_cast<size_t>(kind)][static_cast<size_t>(column)];
  }
  void set(RowKind kind, Column column, Certainty certainty) {
    marks_[static_cast<size_t>(kind)][static_cast<size_t>(column)] = certainty;
  }
  // Of two periods together: what only one of them knows is estimated.
  void combine(const Marks& other);
  bool operator==(const Marks&) const = default;

 private:
  std::array<std::array<Certainty, kColumnCount>, kRowKinds> marks_ = {};
};

// One machine in a period.
struct Machine {
  static constexpr RowKind kKind = RowKind::Machine;
  using Values = Cells<kKind>;

  std::string name = {};
  Values values = {};
  Marks marks = {};
  std::vector<CpuRow> cpus = {};
  std::vector<TaskRow> tasks = {};
  std::vector<VmRow> vms = {};
  std::vector<VcpuRow> vcpus = {};
  std::vector<ExitRow> exits = {};
  std::vector<FileRow> files = {};
  std::vector<DescriptorRow> descriptors = {};
  std::vector<DeviceRow> devices = {};
  std::vector<InterfaceRow> interfaces = {};
  std::vector<LatencyRow> latencies = {};

  // What follows from the rows: the virtual machines from their CPUs, the machine's time in each
  // mode and what counters counted from its CPUs. To be called when these have been filled in.
  void add_up();
  bool operator==(const Machine&) const = default;
};

// Who filled a table.
enum class Source : uint8_t {
  Trace,  // events, through the state engine
  Live,   // the running kernel
};
std::string_view name_of(Source source);

// What the machines did from `begin` to `end`, in nanoseconds of whatever `clock` counts.
// The same whether a trace or the running kernel filled it.
struct Table {
  int64_t begin = 0;
  int64_t end = 0;
  Source source{};
  std::string clock = {};  // "epoch", or the clock's name
  std::vector<Machine> machines = {};

  int64_t length() const { return end - begin; }
  // Adds the period that follows at once: the sum of both. Threads without a row in one of them are
  // seen to (TaskRow), corrections are applied as far as they concern this table. False: it does
  // not follow, and nothing was done.
  [[nodiscard]] bool append(const Table& next);
  bool operator==(const Table&) const = default;
};

}  // namespace strata::period
