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

// What most rows have in common with others of their table (who their user is, what they did last,
// which of their values are told, ...) is a row's shape. It is there once, and a number in each
// row. Numbers of processes and threads lie near the one before.

class Packer {
 public:
  explicit Packer(int64_t begin) : begin_(begin) {}

  void number(uint64_t value) { put(bytes_, value); }
  void text(const std::string& text) {
    const auto [found, is_new] = texts_.emplace(text, texts_.size());
    number(found->second);
    if (!is_new) return;
    number(text.size());
    bytes_.insert(bytes_.end(), text.begin(), text.end());
  }
  void time(int64_t time) { number(folded(difference(time, begin_))); }

  // Whatever `parts` hands over belongs to one row.
  void row(auto&& parts) {
    own_.clear();
    shape_.clear();
    std::swap(own_, bytes_);
    parts();
    std::swap(own_, bytes_);
    const auto [found, is_new] =
        shapes_.emplace(std::string(shape_.begin(), shape_.end()), shapes_.size());
    number(found->second);
    if (is_new) {
      number(shape_.size());
      bytes_.insert(bytes_.end(), shape_.begin(), shape_.end());
    }
    bytes_.insert(bytes_.end(), own_.begin(), own_.end());
  }

  void operator()(std::string_view, const std::string& value) { text(value); }
  void operator()(std::string_view, int32_t value) {
    number(folded(int64_t{value} - last_id_));
    last_id_ = value;
  }
  void operator()(std::string_view, int64_t value) { time(value); }
  void operator()(std::string_view, uint32_t value) { number(value); }
  void operator()(std::string_view, uint64_t value) { number(value); }
  void operator()(std::string_view, bool value) { put(shape_, value ? 1 : 0); }
  template <typename T>
  void operator()(std::string_view, const std::optional<T>& value) {
    put(shape_, value ? uint64_t{1} + static_cast<uint64_t>(*value) : 0);
  }
  template <typename E>
  requires std::is_enum_v<E>
  void operator()(std::string_view, E value) { put(shape_, static_cast<uint64_t>(value)); }

  template <typename Values>
  void values(const Values& values) {
    static_assert(Values::kSize <= 64);
    uint64_t told = 0;
    for (size_t i = 0; i < Values::kSize; ++i)
      if (values[Values::kOrder[i]] != 0) told |= uint64_t{1} << i;
    put(shape_, told);
    for (size_t i = 0; i < Values::kSize; ++i)
      if ((told >> i & 1) != 0) number(values[Values::kOrder[i]] + 1);  // kUnknownCell becomes 0
  }
  void corrections(const Corrections& corrections) {
    put(shape_, corrections.size());
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
  static void put(std::vector<uint8_t>& bytes, uint64_t value) {
    uint8_t room[kMaxVarint];
    bytes.insert(bytes.end(), room, put_varint(room, value));
  }

  int64_t begin_;
  int32_t last_id_ = 0;
  std::vector<uint8_t> bytes_;  // within a row, that row's
  std::vector<uint8_t> own_;
  std::vector<uint8_t> shape_;
  std::unordered_map<std::string, size_t> texts_;
  std::unordered_map<std::string, size_t> shapes_;
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
  std::string text() { return std::string(once(texts_)); }
  int64_t time() {
    return static_cast<int64_t>(static_cast<uint64_t>(unfolded(number())) +
                                static_cast<uint64_t>(begin_));
  }

  void row(auto&& parts) {
    shape_ = once(shapes_);
    parts();
  }

  void operator()(std::string_view, std::string& value) { value = text(); }
  void operator()(std::string_view, int32_t& value) {
    last_id_ = value = static_cast<int32_t>(last_id_ + unfolded(number()));
  }
  void operator()(std::string_view, int64_t& value) { value = time(); }
  void operator()(std::string_view, uint32_t& value) { value = static_cast<uint32_t>(number()); }
  void operator()(std::string_view, uint64_t& value) { value = number(); }
  void operator()(std::string_view, bool& value) { value = of_shape() != 0; }
  template <typename T>
  void operator()(std::string_view, std::optional<T>& value) {
    if (const uint64_t told = of_shape(); told != 0) value = static_cast<T>(told - 1);
  }
  template <typename E>
  requires std::is_enum_v<E>
  void operator()(std::string_view, E& value) { value = static_cast<E>(of_shape()); }

  template <typename Values>
  void values(Values& values) {
    const uint64_t told = of_shape();
    for (size_t i = 0; i < Values::kSize; ++i)
      if ((told >> i & 1) != 0) values.set(Values::kOrder[i], number() - 1);
  }
  void corrections(Corrections& corrections) {
    corrections.resize(of_shape());
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
  // What is there once, and by its number from then on.
  std::string_view once(std::vector<std::string_view>& known) {
    const uint64_t id = number();
    if (id < known.size()) return known[id];
    const uint64_t size = number();
    known.emplace_back(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return known.back();
  }
  uint64_t of_shape() {
    uint64_t value = 0;
    const auto* at = reinterpret_cast<const uint8_t*>(shape_.data());
    shape_.remove_prefix(static_cast<size_t>(take_varint(at, at + shape_.size(), value) - at));
    return value;
  }

  const uint8_t* at_;
  const uint8_t* end_;
  int64_t begin_;
  int32_t last_id_ = 0;
  std::string_view shape_;  // what is left of that of the row
  std::vector<std::string_view> texts_;
  std::vector<std::string_view> shapes_;
};

// Packer and Unpacker go over the same parts in the same order.
template <typename P, typename Row>
void row_parts(P& packer, Row& row) {
  packer.row([&] {
    each_field(row, packer);
    packer.values(row.values);
    if constexpr (HasCorrections<Row>) packer.corrections(row.corrections);
    if constexpr (HasHistogram<Row>) packer.histogram(row.histogram);
  });
}

void each_mark(auto&& visit) {
  for (size_t kind = 0; kind < kRowKinds; ++kind)
    for (const ColumnInfo& info : kColumns)
      if (has_column(RowKind(kind), info.id)) visit(RowKind(kind), info.id);
}

// Columns that lie together are known alike, mostly: how many they are, and what they have.
constexpr unsigned kMarkBits = 2;
static_assert(static_cast<unsigned>(Certainty::Unknown) < 1u << kMarkBits);

void pack_marks(Packer& packer, const Marks& marks) {
  uint64_t count = 0;
  Certainty mark{};
  const auto put = [&] { packer.number(count << kMarkBits | static_cast<uint64_t>(mark)); };
  each_mark([&](RowKind kind, Column column) {
    const Certainty next = marks.of(kind, column);
    if (count != 0 && next != mark) {
      put();
      count = 0;
    }
    mark = next;
    ++count;
  });
  put();
}

void unpack_marks(Unpacker& packer, Marks& marks) {
  uint64_t count = 0;
  Certainty mark{};
  each_mark([&](RowKind kind, Column column) {
    if (count == 0) {
      const uint64_t told = packer.number();
      count = told >> kMarkBits;
      mark = static_cast<Certainty>(told & ((1u << kMarkBits) - 1));
    }
    marks.set(kind, column, mark);
    --count;
  });
}

}  // namespace

std::vector<uint8_t> pack(const Table& table) {
  Packer packer(table.begin);
  packer.time(table.end);
  packer.number(static_cast<uint64_t>(table.source));
  packer.text(table.clock);
  packer.number(table.machines.size());
  for (const Machine& machine : table.machines) {
    packer.text(machine.name);
    packer.row([&] { packer.values(machine.values); });
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
  table.source = static_cast<Source>(packer.number());
  table.clock = packer.text();
  table.machines.resize(packer.number());
  for (Machine& machine : table.machines) {
    machine.name = packer.text();
    packer.row([&] { packer.values(machine.values); });
    unpack_marks(packer, machine.marks);
    each_list(machine, [&](std::string_view, auto& rows) {
      rows.resize(packer.number());
      for (auto& row : rows) row_parts(packer, row);
    });
  }
  return table;
}

}  // namespace strata::period
