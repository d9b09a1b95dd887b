// SPDX-License-Identifier: Apache-2.0
//
// Lines to tables. Whoever wrote the line is not trusted.
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/units.h"
#include "period/fields.h"
#include "period/json.h"

namespace strata::period {
namespace {

using Json = nlohmann::json;

// No table has more; what has is damaged or made to hurt.
constexpr size_t kLongestLine = size_t{256} << 20;
// Of all kinds and machines together: a row takes far more memory than the two letters of an empty
// one in the line.
constexpr size_t kMostRows = size_t{1} << 21;
constexpr size_t kMostMachines = size_t{1} << 12;

// One object. The first thing that is wrong with it is kept for all of them.
class ObjectReader {
 public:
  ObjectReader(const Json& object, std::string& problem) : object_(object), problem_(problem) {
    if (!object.is_object()) fail("a row that is no object");
  }

  const Json* find(std::string_view name) const {
    if (!object_.is_object()) return nullptr;
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }
  bool is_null(std::string_view name) const {
    if (!object_.is_object()) return false;
    const auto found = object_.find(name);
    return found != object_.end() && found->is_null();
  }
  void fail(std::string_view what) const {
    if (problem_.empty()) problem_ = what;
  }
  std::string& problem() const { return problem_; }

  void operator()(std::string_view name, std::string& text) const {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (found->is_string())
      text = found->get_ref<const std::string&>();
    else
      fail(std::string(name) + " is no text");
  }
  template <std::integral T>
  void operator()(std::string_view name, T& number) const {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (found->is_number_unsigned() &&
        found->get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<T>::max()))
      number = static_cast<T>(found->get<uint64_t>());
    else if (found->is_number_integer() && !found->is_number_unsigned() && std::is_signed_v<T> &&
             found->get<int64_t>() >= int64_t{std::numeric_limits<std::make_signed_t<T>>::min()})
      number = static_cast<T>(found->get<int64_t>());
    else
      fail(std::string(name) + " is no such number");
  }
  void operator()(std::string_view name, std::optional<uint32_t>& number) const {
    if (find(name) != nullptr) (*this)(name, number.emplace());
  }
  void operator()(std::string_view name, bool& is_so) const {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (found->is_boolean())
      is_so = found->get<bool>();
    else
      fail(std::string(name) + " is neither true nor false");
  }
  void operator()(std::string_view name, std::optional<Column>& state) const {
    one_of(name, kColumnCount, state_name, [&](Column found) {
      if (is_task_state(found) || is_vcpu_state(found))
        state = found;
      else
        fail(std::string(name) + " is none that there is");
    });
  }
  void operator()(std::string_view name, FileIdentity& identity) const {
    one_of(name, static_cast<size_t>(FileIdentity::Count_),
           static_cast<std::string_view (*)(FileIdentity)>(name_of),
           [&](FileIdentity found) { identity = found; });
  }
  void operator()(std::string_view name, Latency& what) const {
    one_of(name, static_cast<size_t>(Latency::Count_),
           static_cast<std::string_view (*)(Latency)>(name_of),
           [&](Latency found) { what = found; });
  }
  // Each element of an array.
  void each(std::string_view name, auto&& visit) const {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (!found->is_array()) return fail(std::string(name) + " is no array");
    for (const Json& element : *found) {
      if (!problem_.empty()) return;
      visit(element);
    }
  }
  size_t size_of(std::string_view name) const {
    const Json* found = find(name);
    return found != nullptr && found->is_array() ? found->size() : 0;
  }

 private:
  template <typename E>
  void one_of(std::string_view name, size_t count, std::string_view (*name_of_value)(E),
              auto&& take) const {
    const Json* found = find(name);
    if (found == nullptr) return;
    if (found->is_string()) {
      for (size_t i = 0; i < count; ++i)
        if (name_of_value(E(i)) == found->get_ref<const std::string&>()) return take(E(i));
    }
    fail(std::string(name) + " is none that there is");
  }

  const Json& object_;
  std::string& problem_;
};

template <typename Values>
void read_values(const ObjectReader& object, Values& values) {
  for (const Column column : Values::kOrder) {
    const std::string_view name = info_of(column).name;
    uint64_t value = object.is_null(name) ? kUnknownCell : 0;
    object(name, value);
    values.set(column, value);
  }
}

std::optional<Column> time_column(const ObjectReader& object, std::string_view name) {
  std::string text;
  object(name, text);
  if (text.empty()) return std::nullopt;
  const std::optional<Column> column = column_called(text);
  if (!column || !is_time(*column)) object.fail(std::string(name) + " is no time");
  return column;
}

void read_corrections(const ObjectReader& object, Corrections& corrections) {
  object.each("corrections", [&](const Json& element) {
    const ObjectReader one(element, object.problem());
    Correction& correction = corrections.emplace_back();
    one("begin_ns", correction.begin);
    one("end_ns", correction.end);
    one("weight", correction.weight);
    correction.from = time_column(one, "from");
    correction.to = time_column(one, "to");
    if (correction.end < correction.begin) one.fail("a correction that ends before it begins");
    if (correction.weight == 0) one.fail("a correction that corrects nothing");
  });
}

void read_histogram(const ObjectReader& object, Histogram& histogram) {
  object("count", histogram.count);
  object("sum_ns", histogram.sum_ns);
  size_t bucket = 0;
  UInt128 sum = 0;
  object.each("histogram", [&](const Json& element) {
    if (bucket < Histogram::kBuckets && element.is_number_unsigned())
      sum += histogram.buckets[bucket++] = element.get<uint64_t>();
    else
      object.fail("histogram is none");
  });
  if (sum != histogram.count) object.fail("a histogram of another count");
}

template <typename Row>
void read_row(const ObjectReader& object, Row& row) {
  each_field(row, object);
  read_values(object, row.values);
  if constexpr (HasCorrections<Row>) read_corrections(object, row.corrections);
  if constexpr (HasHistogram<Row>) read_histogram(object, row.histogram);
}

void read_marks(const ObjectReader& machine, Certainty certainty, Marks& marks) {
  const Json* found = machine.find(name_of(certainty));
  if (found == nullptr) return;
  const ObjectReader kinds(*found, machine.problem());
  for (size_t kind = 0; kind < kRowKinds; ++kind) {
    kinds.each(name_of(RowKind(kind)), [&](const Json& element) {
      const std::optional<Column> column =
          element.is_string() ? column_called(element.get_ref<const std::string&>()) : std::nullopt;
      if (!column || !has_column(RowKind(kind), *column))
        return machine.fail("a mark of a column that there is not");
      marks.set(RowKind(kind), *column, certainty);
    });
  }
}

// `room` is for how many rows there is room in the table.
void read_machine(const ObjectReader& object, Machine& machine, size_t& room) {
  object("name", machine.name);
  read_values(object, machine.values);
  read_marks(object, Certainty::Estimated, machine.marks);
  read_marks(object, Certainty::Unknown, machine.marks);
  each_list(machine, [&](std::string_view name, auto& rows) {
    const size_t size = object.size_of(name);
    if (size > room) return object.fail("more rows than there can be");
    room -= size;
    object.each(name, [&](const Json& element) {
      read_row(ObjectReader(element, object.problem()), rows.emplace_back());
    });
  });
}

void read_table(const ObjectReader& object, Table& table) {
  std::string source;
  object("begin_ns", table.begin);
  object("end_ns", table.end);
  object("source", source);
  object("clock", table.clock);
  if (object.find("begin_ns") == nullptr || object.find("end_ns") == nullptr)
    object.fail("no period: it has no begin_ns and end_ns");
  int64_t length = 0;
  if (__builtin_sub_overflow(table.end, table.begin, &length) || length < 0)
    object.fail("a period that ends before it begins");
  table.source = source == name_of(Source::Live) ? Source::Live : Source::Trace;
  if (source != name_of(table.source)) object.fail("source is neither trace nor live");
  if (object.size_of("machines") > kMostMachines)
    return object.fail("more machines than there can be");
  std::set<std::string_view> names;
  size_t room = kMostRows;
  object.each("machines", [&](const Json& element) {
    read_machine(ObjectReader(element, object.problem()), table.machines.emplace_back(), room);
  });
  for (const Machine& machine : table.machines)
    if (!names.insert(machine.name).second) object.fail("two machines of one name");
}

}  // namespace

Result<Table> table_from_json(std::string_view line) {
  if (line.size() > kLongestLine) return Error{{}, std::nullopt, "the line is too long"};
  const Json json = Json::parse(line, nullptr, false);
  if (json.is_discarded()) return Error{{}, std::nullopt, "the line is no JSON, or cut off"};
  if (!json.is_object()) return Error{{}, std::nullopt, "the line is no table of a period"};
  std::string problem;
  Table table;
  read_table(ObjectReader(json, problem), table);
  if (!problem.empty()) return Error{{}, std::nullopt, "the line has " + problem};
  return table;
}

Result<std::optional<Table>> TableLines::next() {
  while (at_ < text_.size()) {
    const size_t end = std::min(text_.find('\n', at_), text_.size());
    const std::string_view line = text_.substr(at_, end - at_);
    line_at_ = at_;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) {
      Result<Table> table = table_from_json(line);
      if (!table) return Error{file_, at_, table.error().cause};
      at_ = end + 1;
      return std::optional(*std::move(table));
    }
    at_ = end + 1;
  }
  return std::optional<Table>();
}

}  // namespace strata::period
