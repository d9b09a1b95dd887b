// SPDX-License-Identifier: Apache-2.0
#include "format/ctf/stream_file.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/byte_writer.h"
#include "base/file_descriptor.h"
#include "base/rare_calls.h"

namespace strata::ctf {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers are stored as they are");

constexpr uint64_t kLeastGrowth = 1 << 20;
constexpr uint64_t kMostGrowth = 16 << 20;

// The file's size and its last packet's size, which belong together.
struct Resize {
  int file;
  uint64_t file_size;
  uint64_t number_at;
  uint64_t number;
  int error;
};

void change(Resize& resize) {
  if (syscall(SYS_ftruncate, resize.file, resize.file_size) != 0) {
    resize.error = errno;
    return;
  }
  const long n =
      syscall(SYS_pwrite64, resize.file, &resize.number, sizeof resize.number, resize.number_at);
  if (n != static_cast<long>(sizeof resize.number)) resize.error = n < 0 ? errno : EIO;
}

// System calls alone: this runs beside us, in our memory.
int carry_out(void* argument) {
  auto* resize = static_cast<Resize*>(argument);
  // For readers, who hold it for a moment; they do not hold up a recording.
  const bool locked = syscall(SYS_flock, resize->file, LOCK_EX | LOCK_NB) == 0;
  change(*resize);
  if (locked) syscall(SYS_flock, resize->file, LOCK_UN);
  return 0;
}

// In a process that shares our memory, while we wait: a SIGKILL that ends us does not end it
// between the two steps.
void carry_out_whole(Resize& resize) {
  alignas(16) std::array<std::byte, 32768> stack;
  const int child = clone(carry_out, stack.data() + stack.size(), CLONE_VM | CLONE_VFORK, &resize);
  if (child < 0) {
    carry_out(&resize);
    return;
  }
  while (waitpid(child, nullptr, __WCLONE) < 0 && errno == EINTR) {
  }
}

void store(std::byte* at, uint64_t value) { std::memcpy(at, &value, sizeof value); }

}  // namespace

std::optional<uint64_t> settled_size(const MappedFile& file) {
  constexpr int kMostWaits = 500;  // a lock that is held longer is not our writer's
  const FileDescriptor now(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (now.get() < 0) return std::nullopt;
  for (int i = 0; i < kMostWaits && flock(now.get(), LOCK_SH | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK) break;  // where there are no such locks
    usleep(1000);
  }
  struct stat status {};
  if (fstat(now.get(), &status) != 0 || FileId{status.st_dev, status.st_ino} != file.id())
    return std::nullopt;
  return static_cast<uint64_t>(status.st_size);
}

int write_all(int file, std::span<const std::byte> bytes, uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t n = rare::write(file, bytes, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return n < 0 ? errno : EIO;
    bytes = bytes.subspan(static_cast<size_t>(n));
    offset += static_cast<uint64_t>(n);
  }
  return 0;
}

StreamFile::StreamFile(int folder, std::string name, std::string path, unsigned mode,
                       bool with_index)
    : folder_(folder),
      name_(std::move(name)),
      path_(std::move(path)),
      mode_(mode),
      with_index_(with_index) {}

Status StreamFile::add(std::span<std::byte> packet, const PacketFacts& facts) {
  const uint64_t offset = end_;
  if (end_ == 0) {
    if (Status status = add_first(packet); !status) return status;
  } else {
    const FileDescriptor file(rare::open(folder_, name_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
    if (file.get() < 0) return system_error(path_, "cannot open", errno);
    if (Status status = add_next(file.get(), packet); !status) return status;
  }
  last_ = offset;
  end_ = offset + packet.size();
  return with_index_ ? add_to_index(offset, packet.size(), facts) : Status();
}

Status StreamFile::add_first(std::span<std::byte> packet) {
  const std::string hidden = "." + name_;
  reserved_ = std::max<uint64_t>(packet.size(), kLeastGrowth);
  store(packet.data() + kPacketSizeAt, reserved_ * 8);
  const FileDescriptor file(rare::open(folder_, hidden.c_str(),
                                       O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode_));
  if (file.get() < 0) return system_error(path_, "cannot create", errno);
  int error = write_all(file.get(), packet, 0);
  if (error == 0 && ftruncate(file.get(), static_cast<off_t>(reserved_)) != 0) error = errno;
  if (error == 0 && renameat(folder_, hidden.c_str(), folder_, name_.c_str()) != 0) error = errno;
  if (error == 0) return {};
  unlinkat(folder_, hidden.c_str(), 0);
  return system_error(path_, "cannot write", error);
}

Status StreamFile::add_next(int file, std::span<std::byte> packet) {
  if (end_ + packet.size() > reserved_) {
    const uint64_t growth = std::clamp(reserved_, kLeastGrowth, kMostGrowth);
    const uint64_t size = std::max(reserved_ + growth, end_ + packet.size());
    if (Status status = resize(file, size, size - last_); !status) return status;
  }
  store(packet.data() + kPacketSizeAt, (reserved_ - end_) * 8);
  if (const int error = write_all(file, packet, end_))
    return system_error(path_, "cannot write", error);
  const uint64_t last_bits = (end_ - last_) * 8;
  if (const int error =
          write_all(file, std::as_bytes(std::span(&last_bits, 1)), last_ + kPacketSizeAt))
    return system_error(path_, "cannot write", error);
  return {};
}

Status StreamFile::resize(int file, uint64_t size, uint64_t last_packet_size) {
  Resize both{file, size, last_ + kPacketSizeAt, last_packet_size * 8, 0};
  carry_out_whole(both);
  if (both.error != 0) return system_error(path_, "cannot resize", both.error);
  reserved_ = size;
  return {};
}

Status StreamFile::finish() {
  if (reserved_ == end_) return {};
  const FileDescriptor file(rare::open(folder_, name_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (file.get() < 0) return system_error(path_, "cannot open", errno);
  return resize(file.get(), end_, end_ - last_);
}

Status StreamFile::add_to_index(uint64_t offset, uint64_t size, const PacketFacts& facts) {
  constexpr uint32_t kEntrySize = 9 * 8;
  constexpr uint32_t kHeadSize = 4 * 4;
  const std::string name = "index/" + name_ + ".idx";
  if (offset == 0 && mkdirat(folder_, "index", 0777) != 0 && errno != EEXIST)
    return system_error(path_, "cannot create its index", errno);
  const FileDescriptor file(
      rare::open(folder_, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, mode_));
  struct stat facts_now {};
  if (file.get() < 0 || fstat(file.get(), &facts_now) != 0)
    return system_error(path_, "cannot write its index", errno);

  ByteWriter out(ByteOrder::Big);
  if (offset == 0) {
    out.u32(0xc1f1dcc1);
    out.u32(1);
    out.u32(1);
    out.u32(kEntrySize);
  }
  for (const uint64_t number :
       {offset, size * 8, facts.content_size, facts.begin, facts.end, facts.discarded,
        facts.stream_class, facts.stream, facts.sequence_number})
    out.u64(number);
  // An entry that an earlier failure cut off is written over.
  const auto whole = static_cast<uint64_t>(facts_now.st_size);
  const uint64_t at = offset == 0 ? 0
                                  : kHeadSize + (std::max<uint64_t>(whole, kHeadSize) - kHeadSize) /
                                                    kEntrySize * kEntrySize;
  if (const int error = write_all(file.get(), out.bytes(), at))
    return system_error(path_, "cannot write its index", error);
  return {};
}

}  // namespace strata::ctf
