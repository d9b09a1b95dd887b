// SPDX-License-Identifier: Apache-2.0
//
// Packets as they may be found in a file, under three kinds of metadata: LTTng's compact headers
// with strings, sequences and a variant; big-endian, naturally aligned and bit-packed fields; and
// CTF 2 with integers of variable length, optionals and BLOBs. The first byte chooses.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "format/ctf/ctf_trace.h"
#include "trace/merge.h"

namespace {

using namespace strata;

constexpr const char* kLttng = R"(/* CTF 1.8 */
typealias integer { size = 8; align = 8; } := uint8_t;
typealias integer { size = 16; align = 8; } := uint16_t;
typealias integer { size = 32; align = 8; } := uint32_t;
typealias integer { size = 64; align = 8; } := uint64_t;
typealias integer { size = 5; align = 1; } := uint5_t;
trace { major = 1; minor = 8; byte_order = le;
  packet.header := struct { uint32_t magic; uint32_t stream_id; }; };
env { domain = "kernel"; tracer_name = "lttng-modules"; tracer_major = 2; tracer_minor = 13; };
clock { name = monotonic; freq = 1000000000; offset = 1500000000000000000; };
typealias integer { size = 27; align = 1; map = clock.monotonic.value; } := uint27_clock_t;
typealias integer { size = 64; align = 8; map = clock.monotonic.value; } := uint64_clock_t;
struct event_header_compact {
  enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
  variant <id> {
    struct { uint27_clock_t timestamp; } compact;
    struct { uint32_t id; uint64_clock_t timestamp; } extended;
  } v;
} align(8);
stream { id = 0; event.header := struct event_header_compact;
  packet.context := struct { uint64_clock_t timestamp_begin; uint64_clock_t timestamp_end;
    uint64_t content_size; uint64_t packet_size; uint64_t packet_seq_num;
    uint32_t events_discarded; uint32_t cpu_id; };
  event.context := struct { uint32_t _tid; uint8_t _procname[16]; }; };
event { name = "sched_switch"; id = 0; stream_id = 0;
  fields := struct { uint32_t _prev_tid; string _prev_comm; uint32_t _next_tid; }; };
event { name = "sequences"; id = 1; stream_id = 0;
  fields := struct { uint8_t __n_length; uint16_t _n[ __n_length ]; string _s;
    struct { string a; uint32_t b; } _pairs[2]; }; };
event { name = "choice"; id = 40; stream_id = 0;
  fields := struct { enum : uint8_t { A = 0 ... 3, B = 4 } _tag;
    variant <_tag> { string A; uint64_t B; } _v; uint32_t _after; }; };
)";

constexpr const char* kAligned = R"(/* CTF 1.8 */
typealias integer { size = 32; align = 32; } := uint32_t;
typealias integer { size = 64; align = 64; } := uint64_t;
typealias integer { size = 3; align = 1; signed = true; } := int3_t;
typealias integer { size = 13; align = 1; } := uint13_t;
trace { major = 1; minor = 8; byte_order = be;
  packet.header := struct { uint32_t magic; }; };
stream {
  packet.context := struct { uint32_t packet_size; uint32_t content_size; };
  event.header := struct { uint13_t id; int3_t odd; uint64_t timestamp; }; };
event { name = "bits"; id = 0; fields := struct { int3_t a; uint13_t b; uint64_t c;
  floating_point { exp_dig = 11; mant_dig = 53; align = 64; } d; uint13_t e[5]; }; };
event { name = "text"; id = 1; fields := struct { uint13_t n; uint64_t q[n]; string s; int3_t z; }; };
)";

constexpr const char* kCtf2 =
    "\x1e"
    R"({"type":"preamble","version":2}
)"
    "\x1e"
    R"({"type":"trace-class"}
)"
    "\x1e"
    R"({"type":"data-stream-class",
"event-record-header-field-class":{"type":"structure","member-classes":[
 {"name":"id","field-class":{"type":"variable-length-unsigned-integer","roles":["event-record-class-id"]}}]}}
)"
    "\x1e"
    R"({"type":"event-record-class","id":0,"name":"a","payload-field-class":{"type":"structure",
"member-classes":[
 {"name":"n","field-class":{"type":"variable-length-unsigned-integer"}},
 {"name":"b","field-class":{"type":"dynamic-length-blob","length-field-location":
   {"origin":"event-record-payload","path":["n"]}}},
 {"name":"s","field-class":{"type":"null-terminated-string","encoding":"utf-16le"}},
 {"name":"o","field-class":{"type":"optional","selector-field-location":
   {"origin":"event-record-payload","path":["n"]},"selector-field-ranges":[[1,3]],
   "field-class":{"type":"variable-length-signed-integer"}}}]}}
)";

// One folder for the whole run.
struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/strata-ctf-fuzz.XXXXXX";
    if (mkdtemp(name) == nullptr) std::abort();
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

std::string folder(int kind) {
  static const Folder base;
  const std::string path = base.path + "/" + std::to_string(kind);
  if (!std::filesystem::exists(path)) {
    std::filesystem::create_directory(path);
    std::ofstream(path + "/metadata", std::ios::binary) << (kind == 0   ? kLttng
                                                            : kind == 1 ? kAligned
                                                                        : kCtf2);
  }
  return path;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string path = folder(data[0] % 3);
  std::ofstream(path + "/stream", std::ios::binary)
      .write(reinterpret_cast<const char*>(data + 1), static_cast<std::streamsize>(size - 1));
  const auto traces = ctf::CtfTrace::open_all(path);
  if (!traces) std::abort();  // the metadata are right, whatever the packets are
  const ctf::CtfTrace& trace = *traces->front();
  trace.time_span();
  trace::Merge merge(trace.open_streams());
  TextBuffer out;
  for (int events = 0; events < 10000 && merge.next() == trace::Step::Event; ++events) {
    const trace::Event& event = merge.event();
    out.clear();
    trace.print_packet(event, out);
    trace.print_fields(event, out);
    for (const trace::Field& field : event.type->fields) {
      const trace::FieldRef ref(field, event.type->order);
      event.integer(ref);
      event.text(ref);
      event.real(ref);
      if (field.kind == trace::ValueKind::Compound) trace.print_compound(event, field, out);
    }
  }
  return 0;
}
