// SPDX-License-Identifier: Apache-2.0
#include "live/open_rows.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <string_view>
#include <utility>

#include "state/file_calls.h"

namespace strata::live {
namespace {

using period::Column;

// Of files of which only the last part of the name is known, so many are looked up for each table,
// the busiest first.
constexpr size_t kLookUps = 4;

std::string last_part(const OpenFile& open) { return {open.name, strnlen(open.name, kFileName)}; }

state::FileKind file_kind(const OpenFile& open) {
  using enum state::FileKind;
  const std::string name = last_part(open);
  if (S_ISSOCK(open.mode)) return open.family == AF_UNIX ? LocalSocket : Socket;
  if (S_ISFIFO(open.mode)) return Pipe;
  if (S_ISCHR(open.mode) || S_ISBLK(open.mode)) return Device;
  if (name.starts_with('[') || name == "inotify") return state::kind_of_name("anon_inode:" + name);
  if (name.starts_with("memfd:")) return Memory;
  return File;
}

std::string peer_of(const OpenFile& open) {
  if (open.port == 0 || (open.family != AF_INET && open.family != AF_INET6)) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (inet_ntop(open.family, open.address, text.data(), text.size()) == nullptr) return {};
  const std::string port = ':' + std::to_string(ntohs(open.port));
  const std::string address = text.data();
  return open.family == AF_INET ? address + port : '[' + address + ']' + port;
}

// Empty: it leads elsewhere by now, or the process has ended.
std::string path_of(const OpenKey& key, const OpenFile& open) {
  const std::string link =
      "/proc/" + std::to_string(key.pid) + "/fd/" + std::to_string(key.descriptor);
  std::array<char, PATH_MAX> text;
  const ssize_t size = readlink(link.c_str(), text.data(), text.size());
  if (size <= 0) return {};
  const std::string_view path(text.data(), static_cast<size_t>(size));
  const std::string_view last = path.substr(path.rfind('/') + 1);
  return last.starts_with(last_part(open)) ? std::string(path) : std::string();
}

void put_difference(const OpenFile& before, const OpenFile& now, auto& values) {
  values.set(Column::Reads, now.reads - before.reads);
  values.set(Column::Writes, now.writes - before.writes);
  values.set(Column::ReadBytes, now.read_bytes - before.read_bytes);
  values.set(Column::WrittenBytes, now.written_bytes - before.written_bytes);
  values.set(Column::InCalls, now.in_calls_ns - before.in_calls_ns);
}

uint64_t bytes_of(const period::DescriptorRow& row) {
  return row.values[Column::ReadBytes] + row.values[Column::WrittenBytes];
}

}  // namespace

std::string kind_of(const OpenFile& open) { return std::string(state::name_of(file_kind(open))); }

std::string name_of(const OpenKey& key, const OpenFile& open) {
  const std::string inode = ":[" + std::to_string(key.inode) + ']';
  switch (file_kind(open)) {
    case state::FileKind::Pipe:
      return last_part(open).empty() ? "pipe" + inode : last_part(open);
    case state::FileKind::Socket:
    case state::FileKind::LocalSocket:
      return peer_of(open).empty() ? "socket" + inode : peer_of(open);
    default:
      return last_part(open);
  }
}

void OpenRows::tell(std::span<const OpenKey> keys, std::span<const OpenFile> opens,
                    period::Machine& machine) {
  struct Told {
    Known* known;
    period::DescriptorRow row;
  };
  std::vector<Told> told;
  for (size_t i = 0; i < keys.size(); ++i) {
    Known& known = known_[place_of(keys[i])];
    known.key = keys[i];
    Told next{&known, {}};
    put_difference(std::exchange(known.open, opens[i]), opens[i], next.row.values);
    known.idle_tables = next.row.values.is_zero() ? known.idle_tables + 1 : 0;
    if (known.idle_tables != 0) continue;
    next.row.pid = keys[i].pid;
    next.row.number = keys[i].descriptor;
    next.row.identity = period::FileIdentity::Inode;
    next.row.device = keys[i].device;
    next.row.inode = keys[i].inode;
    next.row.kind = kind_of(opens[i]);
    told.push_back(std::move(next));
  }
  std::ranges::sort(told, std::greater(), [](const Told& one) { return bytes_of(one.row); });

  size_t looked_up = 0;
  std::map<std::pair<uint64_t, uint64_t>, period::FileRow> files;
  for (auto& [known, row] : told) {
    const bool has_path = row.kind == state::name_of(state::FileKind::File) ||
                          row.kind == state::name_of(state::FileKind::Device);
    if (has_path && known->path.empty() && looked_up++ < kLookUps)
      known->path = path_of(known->key, known->open);
    row.name = known->path.empty() ? name_of(known->key, known->open) : known->path;
    period::FileRow& file = files[{row.device, row.inode}];
    file.identity = row.identity;
    file.device = row.device;
    file.number = row.inode;
    file.kind = row.kind;
    if (file.name.size() < row.name.size()) file.name = row.name;
    for (const Column column : period::DescriptorRow::Values::kOrder)
      file.values.add(column, row.values[column]);
    machine.descriptors.push_back(std::move(row));
  }
  for (auto& [place, file] : files) machine.files.push_back(std::move(file));
}

std::vector<OpenKey> OpenRows::idle_since(uint32_t tables) const {
  std::vector<OpenKey> idle;
  for (const auto& [place, known] : known_)
    if (known.idle_tables >= tables) idle.push_back(known.key);
  return idle;
}

void OpenRows::forget(std::span<const OpenKey> keys) {
  for (const OpenKey& key : keys) known_.erase(place_of(key));
}

}  // namespace strata::live
