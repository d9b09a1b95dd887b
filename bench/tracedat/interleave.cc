// SPDX-License-Identifier: Apache-2.0
//
// Writes a trace.dat of many CPUs whose events interleave one by one, in an order that no branch
// predictor learns: the hardest case for a merge.
//
//     interleave OUT [CPUS [EVENTS]]      CPUS: a power of two

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "format/tracedat/writer.h"
#include "ftrace/ring_page_builder.h"

namespace {

using namespace strata;

constexpr std::string_view kHeaderPage =
    "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
    "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
    "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
    "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
constexpr std::string_view kHeaderEvent =
    "# compressed entry header\n"
    "\ttype_len    :    5 bits\n"
    "\ttime_delta  :   27 bits\n"
    "\tarray       :   32 bits\n";
constexpr std::string_view kFormat =
    "name: sched_waking\n"
    "ID: 1\n"
    "format:\n"
    "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
    "\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
    "\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
    "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
    "\n"
    "\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
    "\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
    "\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
    "\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n"
    "\n"
    "print fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, "
    "REC->target_cpu\n";

struct Waking {
  uint16_t type = 1;
  uint16_t flags = 0;
  int32_t common_pid = 0;
  char comm[16] = "interleave";
  int32_t pid = 0;
  int32_t prio = 120;
  int32_t target_cpu = 0;
};

// Scatters bits: consecutive numbers give unrelated ones.
uint64_t scatter(uint64_t n) {
  n = (n ^ (n >> 30)) * 0xbf58476d1ce4e5b9;
  n = (n ^ (n >> 27)) * 0x94d049bb133111eb;
  return n ^ (n >> 31);
}

// In each round every CPU has one event; which comes when is another permutation in each round.
uint64_t time_of(uint64_t round, uint32_t cpu, uint32_t cpus) {
  constexpr uint64_t kStart = 1'000'000'000'000;
  constexpr uint64_t kApart = 100;
  const uint64_t dice = scatter(round);
  const uint64_t place = (cpu * (dice | 1) + (dice >> 32)) & (cpus - 1);
  return kStart + (round * cpus + place) * kApart;
}

Status write(const char* path, uint32_t cpus, uint64_t events) {
  tracedat::Head head;
  head.header_page = kHeaderPage;
  head.header_event = kHeaderEvent;
  head.formats.push_back({"sched", kFormat});
  head.cmdlines = "1 interleave\n";
  tracedat::PlannedBuffer buffer{"", "mono", head.page_size, {}};
  for (uint32_t cpu = 0; cpu < cpus; ++cpu) buffer.cpus.push_back(cpu);
  head.buffers.push_back(buffer);
  std::vector<std::byte> cpu_count(sizeof cpus);
  std::memcpy(cpu_count.data(), &cpus, sizeof cpus);
  head.options.push_back({tracedat::OptionId::CpuCount, cpu_count});

  tracedat::WriteOptions how;
  how.compression = tracedat::Compression::None;
  Result<tracedat::Writer> writer = tracedat::Writer::create(path, head, how);
  if (!writer) return writer.error();
  ftrace::RingPageBuilder page(head.page_size, head.target);
  for (uint32_t cpu = 0; cpu < cpus; ++cpu) {
    if (Status status = writer->begin_cpu(); !status) return status;
    Waking waking;
    waking.target_cpu = static_cast<int32_t>(cpu);
    for (uint64_t round = 0; round < events / cpus; ++round) {
      waking.common_pid = static_cast<int32_t>(1 + round % 1000);
      waking.pid = static_cast<int32_t>(1 + cpu);
      const Ticks ticks{time_of(round, cpu, cpus)};
      const Bytes record = std::as_bytes(std::span(&waking, 1));
      if (page.add(ticks, record)) continue;
      if (Status status = writer->add_page(page.finish()); !status) return status;
      page.add(ticks, record);
    }
    if (page.empty()) continue;
    if (Status status = writer->add_page(page.finish()); !status) return status;
  }
  return writer->finish();
}

}  // namespace

int main(int argc, char** argv) {
  const auto cpus = static_cast<uint32_t>(argc > 2 ? std::atol(argv[2]) : 512);
  const auto events = static_cast<uint64_t>(argc > 3 ? std::atoll(argv[3]) : 9'000'000);
  if (argc < 2 || !std::has_single_bit(cpus)) {
    std::fputs("usage: interleave OUT [CPUS [EVENTS]]\n", stderr);
    return 2;
  }
  if (const Status status = write(argv[1], cpus, events); !status) {
    std::fprintf(stderr, "%s\n", status.error().text().c_str());
    return 1;
  }
}
