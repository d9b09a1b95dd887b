// SPDX-License-Identifier: Apache-2.0
//
// A print format, a NUL, and the bytes of a record: whatever they are, the text ends, and nothing
// outside the record is read. The first byte chooses the machine and the event.

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "ftrace/event_text.h"

namespace {

constexpr const char* kFields =
    "\tfield:int a;\toffset:8;\tsize:4;\tsigned:1;\n"
    "\tfield:u64 b;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:char c[16];\toffset:24;\tsize:16;\tsigned:0;\n"
    "\tfield:__data_loc char[] d;\toffset:40;\tsize:4;\tsigned:0;\n"
    "\tfield:__rel_loc u8[] e;\toffset:44;\tsize:4;\tsigned:0;\n"
    "\tfield:unsigned long f[2];\toffset:48;\tsize:16;\tsigned:0;\n"
    "\tfield:u8 g[6];\toffset:64;\tsize:6;\tsigned:0;\n"
    "\tfield:char h[];\toffset:72;\tsize:0;\tsigned:0;\n";
constexpr const char* kPrintkFields =
    "\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
    "\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n";
constexpr const char* kExitFields =
    "\tfield:unsigned int exit_reason;\toffset:8;\tsize:4;\tsigned:0;\n"
    "\tfield:unsigned long guest_rip;\toffset:16;\tsize:8;\tsigned:0;\n"
    "\tfield:u32 isa;\toffset:24;\tsize:4;\tsigned:0;\n"
    "\tfield:u64 info1;\toffset:32;\tsize:8;\tsigned:0;\n"
    "\tfield:u64 info2;\toffset:40;\tsize:8;\tsigned:0;\n";

struct Kind {
  const char* system;
  const char* name;
  const char* fields;
};
constexpr Kind kKinds[] = {{"test", "any", kFields},
                           {"ftrace", "bprint", kPrintkFields},
                           {"kvm", "kvm_exit", kExitFields},
                           {"ftrace", "old", kFields}};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  if (size == 0) return 0;
  const uint8_t choice = data[0];
  const std::string_view input(reinterpret_cast<const char*>(data + 1), size - 1);
  const size_t nul = std::min(input.find('\0'), input.size());
  const std::string print_format(input.substr(0, nul));
  const std::string_view rest = input.substr(std::min(nul + 1, input.size()));
  // Of its own allocation, so that the sanitizer sees its end.
  std::vector<std::byte> record(rest.size());
  if (!rest.empty()) std::memcpy(record.data(), rest.data(), rest.size());

  const ftrace::Target target{.order = choice & 1 ? ByteOrder::Big : ByteOrder::Little,
                              .long_size = static_cast<uint8_t>(choice & 2 ? 4 : 8)};
  const Kind& kind = kKinds[choice >> 2 & 3];
  const std::string format = "name: " + std::string(kind.name) +
                             "\nID: 7\nformat:\n"
                             "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
                             "\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n" +
                             kind.fields + "\nprint fmt: " + print_format + "\n";
  auto type = ftrace::parse_format_file(kind.system, format, target);
  if (!type) return 0;

  // trace_printk() takes its format from here instead.
  const std::string printk = "0x0 : \"" + print_format + "\"\n";
  ftrace::KernelText kernel;
  kernel.target = target;
  kernel.kallsyms = "1000 T one\n2000 T two\n";
  kernel.printk_formats = printk;
  const trace::EventType* types[] = {&*type};
  const ftrace::EventText texts(types, kernel);
  trace::Event event;
  event.type = &*type;
  event.record = record;
  TextBuffer out(64);
  for (int i = 0; i < 2; ++i) {
    out.clear();
    texts.print(event, out);
    if (out.size() > 2'000'000) abort();
  }
  return 0;
}
