// SPDX-License-Identifier: Apache-2.0
#include "collect/memory_flags.h"

#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <climits>

#include "base/small_file.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

std::optional<int> yama_scope() {
  const Result<std::string> text = read_small_file("/proc/sys/kernel/yama/ptrace_scope");
  if (!text) return std::nullopt;
  int scope = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), scope);
  return error == std::errc{} ? std::optional(scope) : std::nullopt;
}

// Words of this process to or from those at `places` of another.
template <typename Word, typename Transfer>
Status transfer(pid_t process, std::span<const uint64_t> places, std::span<Word> words,
                Transfer system_call) {
  std::vector<iovec> there;
  for (size_t done = 0; done < places.size(); done += there.size()) {
    there.clear();
    for (const uint64_t place :
         places.subspan(done, std::min<size_t>(places.size() - done, IOV_MAX)))
      there.push_back({reinterpret_cast<void*>(place), sizeof(Word)});
    const iovec here{words.data() + done, there.size() * sizeof(Word)};
    const ssize_t moved = system_call(process, &here, 1, there.data(), there.size(), 0);
    if (moved < 0) return memory_refusal(process, errno, yama_scope());
    if (static_cast<size_t>(moved) != here.iov_len)
      return memory_refusal(process, EFAULT, std::nullopt);
  }
  return {};
}

std::vector<uint64_t> places_of(std::span<const FileSite> sites, uint64_t bias, size_t member) {
  std::vector<uint64_t> places;
  for (const FileSite& site : sites) places.push_back(site.site.flag + bias + member);
  return places;
}

constexpr uint8_t kNop = 0x90;  // what an anchor is while no uprobe sits there

// Those whose flags the kernel has raised, though there is no uprobe. A uprobe that comes raises
// the flag first, but nobody sees the memory before it is in place: the flags are read first.
Result<std::vector<FileSite>> raised_for_nobody(pid_t process, std::span<const FileSite> sites,
                                                uint64_t bias) {
  const Result<std::vector<abi::Flag>> flags = read_flags(process, sites, bias);
  if (!flags) return flags.error();
  std::vector<FileSite> raised;
  std::vector<uint64_t> anchors;
  for (size_t i = 0; i < sites.size(); ++i) {
    if ((*flags)[i].kernel == 0) continue;
    raised.push_back(sites[i]);
    anchors.push_back(sites[i].site.anchor + bias);
  }
  std::vector<uint8_t> code(anchors.size());
  if (Status status = transfer(process, anchors, std::span(code), process_vm_readv); !status)
    return std::move(status).error();
  size_t i = 0;
  std::erase_if(raised, [&](const FileSite&) { return code[i++] != kNop; });
  return raised;
}

}  // namespace

Result<std::vector<abi::Flag>> read_flags(pid_t process, std::span<const FileSite> sites,
                                          uint64_t bias) {
  std::vector<abi::Flag> flags(sites.size());
  const Status status =
      transfer(process, places_of(sites, bias, 0), std::span(flags), process_vm_readv);
  if (!status) return status.error();
  return flags;
}

Status change_flags(pid_t process, std::span<const FileSite> sites, uint64_t bias, uint16_t bits,
                    bool on) {
  const Result<std::vector<abi::Flag>> flags = read_flags(process, sites, bias);
  if (!flags) return flags.error();
  std::vector<uint16_t> words;
  for (const abi::Flag& flag : *flags)
    words.push_back(static_cast<uint16_t>(on ? flag.collector | bits : flag.collector & ~bits));
  return transfer(process, places_of(sites, bias, offsetof(abi::Flag, collector)), std::span(words),
                  process_vm_writev);
}

Result<size_t> clear_leaked_flags(pid_t process, std::span<const FileSite> sites, uint64_t bias) {
  Result<std::vector<FileSite>> leaked = raised_for_nobody(process, sites, bias);
  // Twice: one may have been removed between the look at its flag and that at its code, and another
  // have come since.
  if (leaked && !leaked->empty()) leaked = raised_for_nobody(process, *leaked, bias);
  if (!leaked) return leaked.error();
  std::vector<uint16_t> words(leaked->size(), 0);
  if (Status status = transfer(process, places_of(*leaked, bias, offsetof(abi::Flag, kernel)),
                               std::span(words), process_vm_writev);
      !status)
    return std::move(status).error();
  return leaked->size();
}

Error memory_refusal(pid_t process, int error_number, std::optional<int> yama) {
  const std::string who = "process " + std::to_string(process);
  if (error_number != EPERM)
    return system_error(who, "cannot reach the flags of its probes", error_number);
  std::string cause = "this user may not reach the flags of its probes: ";
  if (yama == 1) {
    cause += "kernel.yama.ptrace_scope is 1, which leaves that to those who started it";
  } else if (yama && *yama > 1) {
    cause += "kernel.yama.ptrace_scope is " + std::to_string(*yama) +
             (*yama == 2 ? ", which leaves that to root" : ", which forbids it to all");
  } else {
    cause += "it is another user's, or has gained rights by its file";
  }
  cause += ". What remains is to start the program with " + std::string(abi::kEnableVariable) +
           "=PROVIDER:NAME in its environment, or to be root";
  return {who, std::nullopt, std::move(cause)};
}

Result<MemoryFlags> MemoryFlags::open(const FileIdentity& file, std::vector<FileSite> sites,
                                      std::span<const pid_t> processes,
                                      std::vector<std::string>& remarks) {
  MemoryFlags flags(file, std::move(sites));
  const bool all = processes.empty();
  const std::vector<pid_t> running = all ? running_processes() : std::vector<pid_t>{};
  std::optional<Error> refused;
  for (const pid_t process : all ? running : processes) {
    const std::vector<CodeMapping> mappings = mappings_of(process, file);
    const std::vector<uint64_t> biases = load_biases(mappings, flags.sites_.front());
    if (biases.empty()) continue;
    Status status = flags.switch_on(process, biases);
    if (status) continue;
    if (!all) return std::move(status).error();
    remarks.push_back(status.error().text());
    refused = std::move(status).error();
  }
  if (!flags.bits_.empty()) return flags;
  if (refused) return *std::move(refused);
  return Error{"", std::nullopt,
               "no process of this user's has it mapped; to reach those that start later, start "
               "them with " +
                   std::string(abi::kEnableVariable) + "=PROVIDER:NAME in their environment"};
}

Status MemoryFlags::switch_on(pid_t process, std::span<const uint64_t> biases) {
  // Bit 0 is the environment variable's. Of the others each who writes there takes one that is
  // free, so that all can leave in any order. (Two that look in the same moment take the same.)
  uint16_t used = 1;
  for (const uint64_t bias : biases) {
    const Result<std::vector<abi::Flag>> flags = read_flags(process, sites_, bias);
    if (!flags) return flags.error();
    for (const abi::Flag& flag : *flags) used = static_cast<uint16_t>(used | flag.collector);
  }
  const auto free = static_cast<uint16_t>(~used & (used + 1));
  const auto bit = free != 0 ? free : uint16_t{0x8000};
  for (const uint64_t bias : biases)
    if (Status status = change_flags(process, sites_, bias, bit, true); !status) return status;
  bits_[process] = bit;
  return {};
}

MemoryFlags::MemoryFlags(MemoryFlags&& other) noexcept
    : file_(other.file_), sites_(std::move(other.sites_)), bits_(std::exchange(other.bits_, {})) {}

MemoryFlags::~MemoryFlags() {
  // A process may have ended meanwhile, or be another program now: it is looked at anew.
  for (const auto& [process, bit] : bits_)
    for (const uint64_t bias : load_biases(mappings_of(process, file_), sites_.front()))
      (void)change_flags(process, sites_, bias, bit, false);
}

}  // namespace strata::collect
