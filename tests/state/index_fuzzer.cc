// SPDX-License-Identifier: Apache-2.0
//
// A history with any rows and intervals, and any records, taken for a machine's index.
#include <string>
#include <string_view>

#include "history/writer.h"
#include "state/index.h"
#include "state/index_writer.h"
#include "support/temporary_folder.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace strata;
  static const test::TemporaryFolder folder;
  const std::string path = folder.file("index");
  Result<history::Writer> writer = history::Writer::create(path, 1);
  Result<history::RecordWriter> records =
      history::RecordWriter::create(state::IndexWriter::records_path(path), 1);
  if (!writer || !records) return 0;
  // Lines: a key, then bytes in pairs that are states and infos, and values of records.
  std::string_view text(reinterpret_cast<const char*>(data), size);
  int64_t time = 0;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const std::string_view key = line.substr(0, line.find('='));
    const history::Row row = writer->row(key);
    history::Record record{time, time + 1, {}};
    for (size_t i = key.size() + 1; i + 1 < line.size(); i += 2) {
      writer->set(row, ++time, static_cast<uint8_t>(line[i]) % history::kStates,
                  static_cast<uint8_t>(line[i + 1]));
      record.values[i / 2 % history::kMostValues] = line[i] * int64_t{line[i + 1]};
    }
    records->add(static_cast<uint8_t>(key.size()) % 2, state::DescriptorRecord::kValues, record);
  }
  if (!records->finish(time + 1) || !writer->finish(time + 1)) return 0;
  Result<state::Index> index = state::Index::open(path, 1);
  if (!index) return 0;
  for (const int64_t at : {int64_t{0}, time / 2, time}) (void)index->at(at);
  for (const auto kind : {state::RecordKind::Descriptor, state::RecordKind::BlockRequest}) {
    history::Records::Walk walk = index->records(kind, INT64_MIN, INT64_MAX);
    for (auto next = walk.next(); next && *next != nullptr; next = walk.next()) {
      (void)name_of(state::DescriptorRecord::unpacked(**next).kind);
      (void)state::BlockRecord::unpacked(**next);
    }
  }
  return 0;
}
