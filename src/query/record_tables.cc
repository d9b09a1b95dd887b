// SPDX-License-Identifier: Apache-2.0
#include "query/record_table.h"
#include "query/state_cells.h"
#include "query/state_tables.h"

namespace strata::query {
namespace {

using state::BlockRecord;
using state::DescriptorEnd;
using state::DescriptorRecord;
using state::DeviceId;
using enum ColumnType;
using FdTable = RecordTable<DescriptorRecord>;
using BlockTable = RecordTable<BlockRecord>;

constexpr int64_t kSectorBytes = 512;
constexpr unsigned kMinorBits = 20;

void show_owner(const FdTable::Row& row, Cell& cell) {
  show_name(row.machine->task_name(row.record.owner, row.record.begin), cell);
}

std::unique_ptr<Table> fd_table(Machines& machines) {
  using Row = FdTable::Row;
  return std::make_unique<FdTable>(
      machines,
      FdTable::Plan{.name = "fd",
                    .about = "descriptors of processes, from being made, or first heard of, until "
                             "they are closed",
                    .kind = state::RecordKind::Descriptor,
                    .subject = {"pid", Integer,
                                "the process; of a thread of which none was told, itself"},
                    .subject_of = [](const DescriptorRecord& record) { return record.process; },
                    .parts = {
                        {{"comm", Text, "what its first thread was called then"}, show_owner},
                        {{"fd", Integer, "the descriptor's number"},
                         [](const Row& row, Cell& cell) { cell.integer(row.record.fd); }},
                        {{"kind", Text,
                          "what it leads to: file, device, pipe, socket, local-socket, event, "
                          "poll, ...; "
                          "unknown"},
                         [](const Row& row, Cell& cell) {
                           cell.lasting_text(name_of(row.record.kind));
                         }},
                        {{"name", Text,
                          "the path that it was opened by, or a socket's peer; NULL: not told"},
                         [](const Row& row, Cell& cell) {
                           show_name(row.machine->index().name(row.record.name), cell);
                         }},
                        {{"inode", Integer,
                          "of a socket or pipe, where the starting state told; else NULL"},
                         [](const Row& row, Cell& cell) {
                           if (row.record.inode != 0)
                             cell.integer(static_cast<int64_t>(row.record.inode));
                         }},
                        {{"reads", Integer, "how many calls read from it"},
                         [](const Row& row, Cell& cell) {
                           cell.integer(static_cast<int64_t>(row.record.traffic.reads));
                         }},
                        {{"read_bytes", Integer, "how much they read"},
                         [](const Row& row, Cell& cell) {
                           cell.integer(static_cast<int64_t>(row.record.traffic.read_bytes));
                         }},
                        {{"writes", Integer, "how many calls wrote to it"},
                         [](const Row& row, Cell& cell) {
                           cell.integer(static_cast<int64_t>(row.record.traffic.writes));
                         }},
                        {{"written_bytes", Integer, "how much they wrote"},
                         [](const Row& row, Cell& cell) {
                           cell.integer(static_cast<int64_t>(row.record.traffic.written_bytes));
                         }},
                        {{"close_on_exec", Integer, "1: exec closes it"},
                         [](const Row& row, Cell& cell) {
                           cell.integer(static_cast<int64_t>(row.record.close_on_exec));
                         }},
                        {{"opened_by", Text,
                          "the system call that made it; fork: its parent's; before: it was open "
                          "when the "
                          "recording began; NULL: it was used, and nobody told how it came"},
                         [](const Row& row, Cell& cell) {
                           show_name(row.machine->index().name(row.record.made_by), cell);
                         }},
                        {{"closed_by", Text,
                          "close, replaced (by dup2 or the like), exec, exit; lost: events were, "
                          "and with "
                          "them what became of it; NULL: it is open at the end"},
                         [](const Row& row, Cell& cell) {
                           if (row.record.how_ended != DescriptorEnd::None)
                             cell.lasting_text(name_of(row.record.how_ended));
                         }},
                    }});
}

void show_device(Machine& machine, DeviceId device, Cell& cell) {
  const std::string& name = machine.index().device_name(device);
  if (!name.empty()) return cell.text(name);
  const auto number = static_cast<uint32_t>(device);
  cell.text(std::to_string(number >> kMinorBits) + ':' +
            std::to_string(number & ((1u << kMinorBits) - 1)));
}

std::string_view operation(state::BlockDirection direction) {
  switch (direction) {
    case state::BlockDirection::Read:
      return "read";
    case state::BlockDirection::Write:
      return "write";
    case state::BlockDirection::Other:
      return "other";
  }
  return "other";
}

std::unique_ptr<Table> block_table(Machines& machines) {
  using Row = BlockTable::Row;
  return std::make_unique<BlockTable>(
      machines,
      BlockTable::Plan{
          .name = "block_io",
          .about =
              "requests to block devices, from being wished for, or else issued, to completion",
          .kind = state::RecordKind::BlockRequest,
          .subject = {"tid", Integer,
                      "the thread that wished for it; or else issued it; NULL: nobody knows"},
          .subject_of = [](const BlockRecord& record) { return record.tid; },
          .parts =
              {
                  {{"comm", Text, "the thread's name then"},
                   [](const Row& row, Cell& cell) {
                     show_name(row.machine->task_name(row.record.task, row.record.begin), cell);
                   }},
                  {{"device", Text, "which did it; MAJOR:MINOR where its name was not told"},
                   [](const Row& row, Cell& cell) {
                     show_device(*row.machine, row.record.device, cell);
                   }},
                  {{"wished_of", Text, "of which it was wished: a partition, or a mapped device"},
                   [](const Row& row, Cell& cell) {
                     show_device(*row.machine, row.record.origin, cell);
                   }},
                  {{"sector", Integer, "the first, of 512 bytes"},
                   [](const Row& row, Cell& cell) {
                     cell.integer(static_cast<int64_t>(row.record.sector));
                   }},
                  {{"bytes", Integer, "how much"},
                   [](const Row& row, Cell& cell) {
                     cell.integer(int64_t{row.record.sectors} * kSectorBytes);
                   }},
                  {{"operation", Text,
                    "read, write; other: discarding or the like; NULL: not issued"},
                   [](const Row& row, Cell& cell) {
                     if (row.record.is_issued) cell.lasting_text(operation(row.record.direction));
                   }},
                  {{"queued", Integer, "when it was wished for; NULL: that was not recorded"},
                   [](const Row& row, Cell& cell) {
                     if (row.record.has_wish) cell.integer(row.record.begin);
                   }},
                  {{"issued", Integer, "when the device got it; NULL: it has not"},
                   [](const Row& row, Cell& cell) {
                     if (row.record.is_issued) cell.integer(row.record.issued);
                   }},
                  {{"completed", Integer, "when it was done; NULL: it was not seen to be"},
                   [](const Row& row, Cell& cell) {
                     if (row.record.is_completed) cell.integer(row.record.end);
                   }},
                  {{"waiting_ns", Integer, "from queued to issued"},
                   [](const Row& row, Cell& cell) {
                     if (row.record.has_wish && row.record.is_issued)
                       cell.integer(row.record.issued - row.record.begin);
                   }},
                  {{"device_ns", Integer, "from issued to completed"},
                   [](const Row& row, Cell& cell) {
                     if (row.record.is_issued && row.record.is_completed)
                       cell.integer(row.record.end - row.record.issued);
                   }},
                  {{"merged", Integer, "how many other wishes became a part of it"},
                   [](const Row& row, Cell& cell) { cell.integer(row.record.merged); }},
              }});
}

}  // namespace

std::vector<std::unique_ptr<Table>> record_tables(Machines& machines) {
  std::vector<std::unique_ptr<Table>> all;
  all.push_back(fd_table(machines));
  all.push_back(block_table(machines));
  return all;
}

}  // namespace strata::query
