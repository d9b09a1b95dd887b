// SPDX-License-Identifier: Apache-2.0
#include "period/pack.h"

#include <string_view>
#include <unordered_map>

#include "base/varint.h"
#include "period/fields.h"

namespace strata::period {
namespace {

// Small numbers of either sign are small.
uint64_t folded(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
int64_t unfolded(uint64_t value) { return static_cast<int64_t>(value >> 1 ^ (0 - (value & 1))); }

// Begins of tasks lie near the table's as a rule; differences wrap around, both ways alike.
int64_t difference(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

class Packer {
 public:
  explicit Packer(int64_t begin) : begin_(begin) {}

  void number(uint64_t value) {
    uint8_t room[kMaxVarint];
    bytes_.insert(bytes_.end(), room, put_varint(room, value));
  }
  void text(const std::string& text) {
    const auto [found, is_new] = texts_.emplace(text, texts_.size());
    number(found->second);
    if (!is_new) return;
    number(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  void time(int64_t time) { number(folded(difference(time, begin_))); }

  void operator()(std::string_view, const std::string& value) { text(value); }
  void operator()(std::string_view, int32_t value) { number(uint32_t(value) + uint64_t{1}); }
  void operator()(std::string_view, int64_t value) { time(value); }
  void operator()(std::string_view, uint32_t value) { number(value); }
  void operator()(std::string_view, uint64_t value) { number(value); }
  void operator()(std::string_view, bool value) { number(value ? 1 : 0); }
  template <typename T>
  void operator()(std::string_view, const std::optional<T>& value) {
    number(value ? uint64_t{1} + static_cast<uint64_t>(*value) : 0);
  }
  template <typename E>
  requires std::is_enum_v<E>
  void operator()(std::string_view, E value) { number(static_cast<uint64_t>(value)); }

  template <typename Values>
  void values(const Values& values) {
    static_assert(Values::kSize <= 64);
    uint64_t told = 0;
    for (size_t i = 0; i < Values::kSize; ++i)
      if (values[Values::kOrder[i]] != 0) told |= uint64_t{1} << i;
    number(told);
    for (size_t i = 0; i < Values::kSize; ++i)
      if ((told >> i & 1) != 0) number(values[Values::kOrder[i]] + 1);  // kUnknownCell becomes 0
  }
  void corrections(const Corrections& corrections) {
    number(corrections.size());
    for (const Correction& correction : corrections) {
      time(correction.begin);
      time(correction.end);
      (*this)("", correction.from);
      (*this)("", correction.to);
      number(correction.weight);
    }
  }
  void histogram(const Histogram& histogram) {
    number(histogram.count);
    number(histogram.sum_ns);
    uint64_t told = 0;
    for (size_t i = 0; i < Histogram::kBuckets; ++i)
      if (histogram.buckets[i] != 0) told |= uint64_t{1} << i;
    number(told);
    for (const uint64_t bucket : histogram.buckets)
      if (bucket != 0) number(bucket);
  }
  std::vector<uint8_t> take() && {
    bytes_.shrink_to_fit();
    return std::move(bytes_);
  }

 private:
  int64_t begin_;
  std::vector<uint8_t> bytes_;
  std::unordered_map<std::string, size_t> texts_;
};

class Unpacker {
 public:
  Unpacker(const std::vector<uint8_t>& bytes, int64_t begin)
      : at_(bytes.data()), end_(at_ + bytes.size()), begin_(begin) {}

  uint64_t number() {
    uint64_t value = 0;
    at_ = take_varint(at_, end_, value);
    return value;
  }
  std::string text() {
    const uint64_t id = number();
    if (id < texts_.size()) return texts_[id];
    const uint64_t size = number();
    texts_.emplace_back(at_, at_ + size);
    at_ += size;
    return texts_.back();
  }
  int64_t time() {
    return static_cast<int64_t>(static_cast<uint64_t>(unfolded(number())) +
                                static_cast<uint64_t>(begin_));
  }

  void operator()(std::string_view, std::string& value) { value = text(); }
  void operator()(std::string_view, int32_t& value) {
    value = static_cast<int32_t>(static_cast<uint32_t>(number() - 1));
  }
  void operator()(std::string_view, int64_t& value) { value = time(); }
  void operator()(std::string_view, uint32_t& value) { value = static_cast<uint32_t>(number()); }
  void operator()(std::string_view, uint64_t& value) { value = number(); }
  void operator()(std::string_view, bool& value) { value = number() != 0; }
  template <typename T>
  void operator()(std::string_view, std::optional<T>& value) {
    if (const uint64_t told = number(); told != 0) value = static_cast<T>(told - 1);
  }
  template <typename E>
  requires std::is_enum_v<E>
  void operator()(std::string_view, E& value) { value = static_cast<E>(number()); }

  template <typename Values>
  void values(Values& values) {
    const uint64_t told = number();
    for (size_t i = 0; i < Values::kSize; ++i)
      if ((told >> i & 1) != 0) values.set(Values::kOrder[i], number() - 1);
  }
  void corrections(Corrections& corrections) {
    corrections.resize(number());
    for (Correction& correction : corrections) {
      correction.begin = time();
      correction.end = time();
      (*this)("", correction.from);
      (*this)("", correction.to);
      correction.weight = number();
    }
  }
  void histogram(Histogram& histogram) {
    histogram.count = number();
    histogram.sum_ns = number();
    const uint64_t told = number();
    for (size_t i = 0; i < Histogram::kBuckets; ++i)
      if ((told >> i & 1) != 0) histogram.buckets[i] = number();
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
  int64_t begin_;
  std::vector<std::string> texts_;
};

// Packer and Unpacker go over the same parts in the same order.
template <typename P, typename Row>
void row_parts(P& packer, Row& row) {
  each_field(row, packer);
  packer.values(row.values);
  if constexpr (HasCorrections<Row>) packer.corrections(row.corrections);
  if constexpr (HasHistogram<Row>) packer.histogram(row.histogram);
}

void pack_marks(Packer& packer, const Marks& marks) {
  for (size_t kind = 0; kind < kRowKinds; ++kind)
    for (const ColumnInfo& info : kColumns)
      if (has_column(RowKind(kind), info.id)) packer("", marks.of(RowKind(kind), info.id));
}

void unpack_marks(Unpacker& packer, Marks& marks) {
  for (size_t kind = 0; kind < kRowKinds; ++kind)
    for (const ColumnInfo& info : kColumns)
      if (has_column(RowKind(kind), info.id))
        marks.set(RowKind(kind), info.id, static_cast<Certainty>(packer.number()));
}

}  // namespace

std::vector<uint8_t> pack(const Table& table) {
  Packer packer(table.begin);
  packer.time(table.end);
  packer("", table.source);
  packer.text(table.clock);
  packer.number(table.machines.size());
  for (const Machine& machine : table.machines) {
    packer.text(machine.name);
    packer.values(machine.values);
    pack_marks(packer, machine.marks);
    each_list(machine, [&](std::string_view, const auto& rows) {
      packer.number(rows.size());
      for (const auto& row : rows) row_parts(packer, row);
    });
  }
  return std::move(packer).take();
}

Table unpack(const std::vector<uint8_t>& bytes, int64_t begin) {
  Unpacker packer(bytes, begin);
  Table table{.begin = begin, .end = packer.time()};
  packer("", table.source);
  table.clock = packer.text();
  table.machines.resize(packer.number());
  for (Machine& machine : table.machines) {
    machine.name = packer.text();
    packer.values(machine.values);
    unpack_marks(packer, machine.marks);
    each_list(machine, [&](std::string_view, auto& rows) {
      rows.resize(packer.number());
      for (auto& row : rows) row_parts(packer, row);
    });
  }
  return table;
}

}  // namespace strata::period
