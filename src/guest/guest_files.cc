// SPDX-License-Identifier: Apache-2.0
#include "guest/guest_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <random>

#include "base/byte_writer.h"
#include "format/tracedat/convert.h"
#include "format/tracedat/trace_dat.h"

namespace strata::guest {
namespace {

// A program's trace has a file for each ring that one of its processes had.
constexpr size_t kMostFiles = 1 << 16;
constexpr size_t kMostParts = 256;
constexpr size_t kLongestDescription = size_t{4} << 20;

constexpr bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

Error refused(std::string cause) { return {"", std::nullopt, std::move(cause)}; }

// What a folder's part is called behind the guest's name, and what it tells.
struct PartNames {
  std::string suffix;
  std::string what;
};
PartNames names_of(const File& file) {
  switch (file.kind) {
    case FileKind::State:
      return {"-state", "state"};
    case FileKind::Counters:
      return {"-counters", "counters"};
    case FileKind::Cgroups:
      return {"-cgroups", "cgroups"};
    default:
      return {"-app-" + plain_name(file.part), "application"};
  }
}

uint64_t random_number() {
  std::random_device source;
  return uint64_t{source()} << 32 | source();
}

// Of all that a head may say, what is kept as it is. What it says of other files and of the time is
// the host's to know.
bool is_kept(tracedat::OptionId id) {
  using enum tracedat::OptionId;
  return id == Uname || id == Version || id == TraceClock;
}

}  // namespace

bool Quota::take(uint64_t bytes) {
  uint64_t used = used_.load(std::memory_order_relaxed);
  do {
    if (left_of(used) < bytes) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  return true;
}

std::string plain_name(const std::string& name) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string plain;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    // A dot may stand in it, but not at its beginning, where it would hide the file.
    if (is_plain(c) || (c == '.' && !plain.empty()))
      plain += c;
    else
      (plain += '%') += {kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return plain;
}

GuestFiles::GuestFiles(std::string folder, const std::string& guest, Quota& quota)
    : folder_(std::move(folder)),
      prefix_("guest-" + plain_name(guest)),
      trace_name_(prefix_ + ".dat"),
      quota_(quota) {}

// Makes the folders that it needs.
Result<std::string> GuestFiles::place_for(const File& file) {
  if (file.kind == FileKind::Head) return head_path();
  const PartNames names = names_of(file);
  const std::string part = prefix_ + names.suffix;
  if (std::ranges::find(parts_, part, &recording::Part::file) == parts_.end()) {
    if (parts_.size() >= kMostParts) return refused("sends too many traces");
    recording::Part& added = parts_.emplace_back();
    added.file = part;
    added.kind = "ctf";
    added.what = names.what;
  }
  std::string folder = folder_ + "/" + part;
  const size_t slash = file.name.find('/');
  if (slash != std::string::npos) folder += "/" + file.name.substr(0, slash);
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) return Error{folder, std::nullopt, "cannot create: " + problem.message()};
  return folder_ + "/" + part + "/" + file.name;
}

Status GuestFiles::begin(const File& file) {
  if (files_.size() >= kMostFiles || files_.contains(file.file))
    return refused("sends a file twice, or too many");
  Open open{file.kind, {}, 0};
  if (file.kind == FileKind::Description) {
    description_.clear();
  } else {
    Result<std::string> path = place_for(file);
    if (!path) return std::move(path).error();
    open.path = *std::move(path);
    const FileDescriptor made(
        ::open(open.path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!made) return system_error(open.path, "cannot create", errno);
  }
  files_.emplace(file.file, std::move(open));
  return {};
}

Status GuestFiles::take(const Piece& piece) {
  const auto found = files_.find(piece.file);
  if (found == files_.end()) return refused("sends a piece of no file");
  Open& file = found->second;
  // One behind the other: there are no holes to be filled later.
  if (piece.offset > file.size) return refused("sends a piece behind a file's end");
  const uint64_t end = piece.offset + piece.bytes.size();
  if (end > file.size && !quota_.take(end - file.size))
    return refused("has written as much as its quota allows");
  file.size = std::max(file.size, end);
  if (file.kind == FileKind::Description) {
    if (end > kLongestDescription) return refused("sends a recording.json that is too long");
    description_.resize(std::max<size_t>(description_.size(), end));
    std::ranges::copy(as_text(piece.bytes),
                      description_.begin() + static_cast<ptrdiff_t>(piece.offset));
    description_is_new_ = true;
    return {};
  }
  const FileDescriptor out(::open(file.path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC));
  if (!out) return system_error(file.path, "cannot open", errno);
  for (size_t done = 0; done < piece.bytes.size();) {
    const ssize_t size = pwrite(out.get(), piece.bytes.data() + done, piece.bytes.size() - done,
                                static_cast<off_t>(piece.offset + done));
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return system_error(file.path, "cannot write", errno);
    done += static_cast<size_t>(size);
  }
  return {};
}

std::optional<recording::Description> GuestFiles::take_description() {
  if (!description_is_new_) return std::nullopt;
  // Where only a part of it has come so far, it is none yet.
  Result<recording::Description> parsed =
      recording::parse_description(description_, prefix_ + "'s recording.json");
  if (!parsed) return std::nullopt;
  description_is_new_ = false;
  return *std::move(parsed);
}

Status GuestFiles::write_head(const std::vector<uint32_t>& cpus, uint32_t page_size) {
  const Result<std::unique_ptr<tracedat::TraceDat>> trace = tracedat::TraceDat::open(head_path());
  if (!trace) return trace.error();
  tracedat::Head head = tracedat::head_of(**trace);
  std::erase_if(head.options,
                [](const tracedat::NewOption& option) { return !is_kept(option.id); });
  ByteWriter trace_id(head.target.order);
  trace_id.u64(random_number());
  head.options.push_back({tracedat::OptionId::TraceId, std::move(trace_id).bytes()});
  head.page_size = page_size;
  const std::string clock = head.buffers.empty() ? "" : head.buffers.front().clock;
  head.buffers = {{"", clock, page_size, cpus}};
  Result<tracedat::Writer> writer = tracedat::Writer::create(
      folder_ + "/" + trace_name_, head, {.compression = tracedat::Compression::None});
  if (!writer) return std::move(writer).error();
  writer->be_durable();
  if (Status status = writer->finish(); !status) return status;
  has_head_ = true;
  remove_head();
  return {};
}

void GuestFiles::remove_head() const { unlink(head_path().c_str()); }

}  // namespace strata::guest
