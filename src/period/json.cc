// SPDX-License-Identifier: Apache-2.0
//
// Tables to lines.
#include "period/json.h"

#include <nlohmann/json.hpp>

#include "period/fields.h"

namespace strata::period {
namespace {

void put_text(std::string_view text, TextBuffer& out) {
  using Json = nlohmann::json;
  out.put(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace));
}

// One object: what has its usual value is left out.
class ObjectWriter {
 public:
  explicit ObjectWriter(TextBuffer& out) : out_(out) { out_.put('{'); }

  TextBuffer& name(std::string_view name) {
    if (!is_first_) out_.put(',');
    is_first_ = false;
    out_.put('"');
    out_.put(name);
    out_.put("\":");
    return out_;
  }
  void end() { out_.put('}'); }

  void operator()(std::string_view field, const std::string& text) {
    if (!text.empty()) put_text(text, name(field));
  }
  void operator()(std::string_view field, int32_t id) {
    if (id != kNoId) name(field).put_decimal(int64_t{id});
  }
  void operator()(std::string_view field, int64_t time) { name(field).put_decimal(time); }
  void operator()(std::string_view field, uint32_t number) {
    name(field).put_decimal(uint64_t{number});
  }
  void operator()(std::string_view field, uint64_t number) {
    if (number != 0) name(field).put_decimal(number);
  }
  void operator()(std::string_view field, const std::optional<uint32_t>& number) {
    if (number) (*this)(field, *number);
  }
  void operator()(std::string_view field, bool is_so) {
    if (is_so) name(field).put("true");
  }
  void operator()(std::string_view field, const std::optional<Column>& state) {
    if (state) put_text(state_name(*state), name(field));
  }
  void operator()(std::string_view field, FileIdentity identity) {
    put_text(name_of(identity), name(field));
  }
  void operator()(std::string_view field, Latency what) { put_text(name_of(what), name(field)); }

 private:
  TextBuffer& out_;
  bool is_first_ = true;
};

template <typename Values>
void put_values(const Values& values, ObjectWriter& object) {
  for (const Column column : Values::kOrder) {
    const uint64_t value = values[column];
    if (value == kUnknownCell)
      object.name(info_of(column).name).put("null");
    else
      object(info_of(column).name, value);
  }
}

void put_corrections(const Corrections& corrections, ObjectWriter& object) {
  if (corrections.empty()) return;
  TextBuffer& out = object.name("corrections");
  out.put('[');
  for (const Correction& correction : corrections) {
    if (&correction != &corrections.front()) out.put(',');
    ObjectWriter one(out);
    one("begin_ns", correction.begin);
    one("end_ns", correction.end);
    if (correction.from) put_text(info_of(*correction.from).name, one.name("from"));
    if (correction.to) put_text(info_of(*correction.to).name, one.name("to"));
    if (correction.weight != 1) one("weight", correction.weight);
    one.end();
  }
  out.put(']');
}

void put_histogram(const Histogram& histogram, ObjectWriter& object) {
  object("count", histogram.count);
  object("sum_ns", histogram.sum_ns);
  size_t size = Histogram::kBuckets;
  while (size > 0 && histogram.buckets[size - 1] == 0) --size;
  TextBuffer& out = object.name("histogram");
  out.put('[');
  for (size_t i = 0; i < size; ++i) {
    if (i > 0) out.put(',');
    out.put_decimal(histogram.buckets[i]);
  }
  out.put(']');
}

template <typename Row>
void put_row(const Row& row, TextBuffer& out) {
  ObjectWriter object(out);
  each_field(row, object);
  put_values(row.values, object);
  if constexpr (HasCorrections<Row>) put_corrections(row.corrections, object);
  if constexpr (HasHistogram<Row>) put_histogram(row.histogram, object);
  object.end();
}

// "estimated":{"task":["wait_other_ns"]}
void put_marks(const Marks& marks, Certainty certainty, ObjectWriter& object) {
  TextBuffer* out = nullptr;
  for (size_t kind = 0; kind < kRowKinds; ++kind) {
    bool is_first = true;
    for (const ColumnInfo& info : kColumns) {
      if (marks.of(RowKind(kind), info.id) != certainty) continue;
      if (is_first) {
        if (out == nullptr) {
          out = &object.name(name_of(certainty));
          out->put('{');
        } else {
          out->put(',');
        }
        put_text(name_of(RowKind(kind)), *out);
        out->put(":[");
      } else {
        out->put(',');
      }
      is_first = false;
      put_text(info.name, *out);
    }
    if (!is_first) out->put(']');
  }
  if (out != nullptr) out->put('}');
}

void put_machine(const Machine& machine, TextBuffer& out) {
  ObjectWriter object(out);
  put_text(machine.name, object.name("name"));
  put_values(machine.values, object);
  put_marks(machine.marks, Certainty::Estimated, object);
  put_marks(machine.marks, Certainty::Unknown, object);
  each_list(machine, [&](std::string_view name, const auto& rows) {
    if (rows.empty()) return;
    object.name(name).put('[');
    for (const auto& row : rows) {
      if (&row != &rows.front()) out.put(',');
      put_row(row, out);
    }
    out.put(']');
  });
  object.end();
}

}  // namespace

void put_json(const Table& table, TextBuffer& out) {
  ObjectWriter object(out);
  object("begin_ns", table.begin);
  object("end_ns", table.end);
  put_text(name_of(table.source), object.name("source"));
  object("clock", table.clock);
  object.name("machines").put('[');
  for (const Machine& machine : table.machines) {
    if (&machine != &table.machines.front()) out.put(',');
    put_machine(machine, out);
  }
  out.put(']');
  object.end();
  out.put('\n');
}

}  // namespace strata::period
