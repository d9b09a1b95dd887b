// SPDX-License-Identifier: Apache-2.0
//
// Every event of CTF traces in the order of time, and every field of each: our side of the
// comparison with `babeltrace2 -o dummy`, which decodes all fields and throws them away.

#include <cinttypes>
#include <cstdio>
#include <vector>

#include "format/ctf/ctf_trace.h"
#include "trace/merge.h"
#include "trace/type_table.h"

int main(int argc, char** argv) {
  using namespace strata;
  if (argc != 2) {
    std::fputs("usage: iterate FOLDER\n", stderr);
    return 2;
  }
  const auto traces = ctf::CtfTrace::open_all(argv[1]);
  if (!traces) {
    std::fprintf(stderr, "%s\n", traces.error().text().c_str());
    return 1;
  }
  std::vector<std::unique_ptr<trace::Stream>> streams;
  for (const auto& trace : *traces) {
    for (auto& stream : trace->open_streams()) streams.push_back(std::move(stream));
  }
  trace::Merge merge(std::move(streams));
  // Fields are resolved once for each type, as everywhere.
  trace::TypeTable<std::vector<trace::FieldRef>> types;
  uint64_t count = 0;
  uint64_t sum = 0;
  while (merge.next() == trace::Step::Event) {
    const trace::Event& event = merge.event();
    const std::vector<trace::FieldRef>* fields = types.find(event.type);
    if (fields == nullptr) {
      std::vector<trace::FieldRef> refs;
      for (const trace::Field& field : event.type->fields)
        refs.emplace_back(field, event.type->order);
      fields = types.add(event.type, std::move(refs));
    }
    for (const trace::FieldRef& ref : *fields) {
      if (ref.kind == trace::ValueKind::Text || ref.kind == trace::ValueKind::Array) {
        const Bytes bytes = event.bytes(ref);
        sum += bytes.empty() ? 0 : std::to_integer<uint64_t>(bytes.back()) + bytes.size();
      } else {
        sum += static_cast<uint64_t>(event.integer(ref).value_or(0));
      }
    }
    sum += static_cast<uint64_t>(event.time.count);
    ++count;
  }
  std::printf("%" PRIu64 " events, checksum %016" PRIx64 "\n", count, sum);
  for (const auto& stream : merge.streams()) {
    if (!stream->problem()) continue;
    std::fprintf(stderr, "%s\n", stream->problem()->text().c_str());
    return 1;
  }
}
