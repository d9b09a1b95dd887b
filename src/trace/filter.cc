// SPDX-License-Identifier: Apache-2.0
#include "trace/filter.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "trace/filter_tests.h"
#include "trace/type_table.h"

namespace strata::trace {
namespace {

// What is told of every event without being a field of its record.
enum class Pseudo : uint8_t { None, Event, System, Cpu, Tid, Comm, Time };

Pseudo pseudo_field(std::string_view name) {
  if (name == "event") return Pseudo::Event;
  if (name == "system") return Pseudo::System;
  if (name == "cpu" || name == "CPU") return Pseudo::Cpu;
  if (name == "tid") return Pseudo::Tid;
  if (name == "comm" || name == "COMM") return Pseudo::Comm;
  if (name == "ts") return Pseudo::Time;
  return Pseudo::None;
}

// Where a program ends instead of going to its next test.
constexpr uint32_t kYes = std::numeric_limits<uint32_t>::max();
constexpr uint32_t kNo = kYes - 1;

enum class Load : uint8_t { Field, Real, Cpu, Tid, Time, Comm, Mask };

// One test of a program, and where to go on after it.
struct Test {
  Load load = Load::Field;
  Comparison comparison = Comparison::Equal;
  bool is_text = false;
  bool in_cpus = false;  // a number against the set of CPUS{...}
  FieldRef field;
  int64_t flip = 0;    // lets unsigned numbers of 64 bits be compared as signed ones
  int64_t number = 0;  // flipped already
  const FilterTerm* term = nullptr;
  uint32_t if_true = kYes;
  uint32_t if_false = kNo;
};

template <typename T>
bool compare(T value, Comparison comparison, T with) {
  switch (comparison) {
    case Comparison::Equal:
      return value == with;
    case Comparison::NotEqual:
      return value != with;
    case Comparison::Less:
      return value < with;
    case Comparison::LessEqual:
      return value <= with;
    case Comparison::Greater:
      return value > with;
    case Comparison::GreaterEqual:
      return value >= with;
    case Comparison::Bits:
      if constexpr (std::is_integral_v<T>) return (value & with) != 0;
      break;
    case Comparison::Like:
      break;
  }
  return false;
}

// As the kernel has it: "&" asks whether they meet, "==" and "!=" whether they are the same set.
bool compare_cpu(uint64_t cpu, const FilterTerm& term) {
  bool in = cpu / 64 < term.cpus.size() && (term.cpus[cpu / 64] >> (cpu % 64) & 1) != 0;
  if (term.comparison == Comparison::Bits) return in;
  unsigned count = 0;
  for (uint64_t word : term.cpus) count += static_cast<unsigned>(std::popcount(word));
  bool same = in && count == 1;
  return (term.comparison == Comparison::Equal) == same;
}

bool compare_mask(Bytes mask, const FieldRef& field, const FilterTerm& term) {
  const size_t step = field.element_size == 0 ? 1 : field.element_size;
  bool meet = false;
  bool same = true;
  const size_t words = std::max(term.cpus.size() * 8, mask.size() + 7) / 8;
  for (size_t w = 0; w < words; ++w) {
    uint64_t word = 0;
    for (size_t b = 0; b < 8; ++b) {
      size_t at = w * 8 + b;
      // In the other byte order, each of the mask's numbers lies the other way round.
      if (field.swap || kNativeOrder == ByteOrder::Big)
        at = at / step * step + (step - 1 - at % step);
      if (at < mask.size()) word |= static_cast<uint64_t>(mask[at]) << (8 * b);
    }
    uint64_t wanted = w < term.cpus.size() ? term.cpus[w] : 0;
    meet |= (word & wanted) != 0;
    same &= word == wanted;
  }
  if (term.comparison == Comparison::Bits) return meet;
  return (term.comparison == Comparison::Equal) == same;
}

bool fulfils(const Test& test, const Event& event, const TaskNames& names) {
  int64_t value = 0;
  switch (test.load) {
    case Load::Field: {
      if (test.is_text) return compare_text(event.text(test.field), *test.term);
      std::optional<int64_t> read = event.integer(test.field);
      if (!read) return false;
      value = *read;
      break;
    }
    case Load::Cpu:
      value = static_cast<int64_t>(raw(event.cpu));
      break;
    case Load::Tid:
      if (event.tid() == kNoTid) return false;
      value = raw(event.tid());
      break;
    case Load::Time:
      value = event.time.count;
      break;
    case Load::Comm:
      return event.tid() != kNoTid && compare_text(names.find(event.tid()), *test.term);
    case Load::Mask:
      return compare_mask(event.bytes(test.field), test.field, *test.term);
    case Load::Real: {
      std::optional<double> read = event.real(test.field);
      return read && compare(*read, test.comparison, *test.term->real);
    }
  }
  if (test.in_cpus) return compare_cpu(static_cast<uint64_t>(value), *test.term);
  return compare(value ^ test.flip, test.comparison, test.number);
}

}  // namespace

struct Filter::State {
  FilterTree tree;
  std::vector<Test> tests;      // of all types' programs
  TypeTable<uint32_t> entries;  // where each type's program begins

  uint32_t entry(const EventType* type) {
    if (uint32_t* known = entries.find(type)) [[likely]]
      return *known;
    const uint32_t entry =
        write_tests(tree, kYes, kNo, [&](const FilterTerm& term, uint32_t yes, uint32_t no) {
          return compile(term, *type, yes, no);
        });
    return *entries.add(type, entry);
  }

  uint32_t compile(const FilterTerm& term, const EventType& type, uint32_t if_true,
                   uint32_t if_false) {
    Test test;
    test.term = &term;
    test.comparison = term.comparison;
    test.if_true = if_true;
    test.if_false = if_false;
    bool unsigned64 = false;

    if (const Field* field = type.find(term.field)) {
      test.field = FieldRef(*field, type.order);
      test.is_text = field->kind == ValueKind::Text;
      if (field->kind == ValueKind::Compound) return if_false;
      if (field->kind == ValueKind::Float) {
        if (!term.real || term.comparison == Comparison::Bits ||
            term.comparison == Comparison::Like)
          return if_false;
        test.load = Load::Real;
        return write(test);
      }
      const bool located =
          field->location == Location::DataLoc || field->location == Location::RelLoc;
      if (!test.is_text && (field->kind == ValueKind::Array || located)) {
        if (!term.is_cpus) return if_false;
        test.load = Load::Mask;
        return write(test);
      }
      unsigned64 = !field->is_signed;
    } else {
      switch (pseudo_field(term.field)) {
        case Pseudo::None:
          return if_false;
        case Pseudo::Event:
          return !term.is_cpus && compare_text(type.name, term) ? if_true : if_false;
        case Pseudo::System:
          return !term.is_cpus && compare_text(type.system, term) ? if_true : if_false;
        case Pseudo::Comm:
          // What the event itself tells is sooner known than what was learned of the thread.
          test.is_text = true;
          test.field = type.comm;
          test.load = type.comm ? Load::Field : Load::Comm;
          break;
        case Pseudo::Cpu:
          test.load = Load::Cpu;
          break;
        case Pseudo::Tid:
          test.load = Load::Tid;
          break;
        case Pseudo::Time:
          test.load = Load::Time;
          break;
      }
    }

    if (test.is_text) return term.is_cpus ? if_false : write(test);
    if (term.is_cpus) {
      test.in_cpus = true;
      return write(test);
    }
    if (!term.number || term.comparison == Comparison::Like) return if_false;

    if (const std::optional<bool> certain = certain_outcome(term, !unsigned64))
      return *certain ? if_true : if_false;
    test.number = static_cast<int64_t>(term.number->bits);
    if (unsigned64 && term.comparison != Comparison::Bits) {
      test.flip = std::numeric_limits<int64_t>::min();
      test.number ^= test.flip;
    }
    return write(test);
  }

  uint32_t write(const Test& test) {
    tests.push_back(test);
    return static_cast<uint32_t>(tests.size() - 1);
  }
};

Filter::Filter(std::unique_ptr<State> state) : state_(std::move(state)) {}
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;
Filter::~Filter() = default;

Result<Filter> Filter::parse(std::string_view text) {
  Result<FilterTree> tree = parse_filter(text);
  if (!tree) return std::move(tree).error();
  auto state = std::make_unique<State>();
  state->tree = *std::move(tree);
  return Filter(std::move(state));
}

bool Filter::matches(const Event& event, const TaskNames& names) const {
  uint32_t at = state_->entry(event.type);
  while (at < kNo) {
    const Test& test = state_->tests[at];
    at = fulfils(test, event, names) ? test.if_true : test.if_false;
  }
  return at == kYes;
}

bool Filter::rejects(const EventType& type) const { return state_->entry(&type) == kNo; }

std::vector<std::string> Filter::unknown_fields(const std::vector<const EventType*>& types) const {
  std::vector<std::string> unknown;
  for (const FilterTerm& term : state_->tree.terms) {
    bool known = pseudo_field(term.field) != Pseudo::None ||
                 std::any_of(types.begin(), types.end(),
                             [&](const EventType* type) { return type->find(term.field); });
    if (!known && std::find(unknown.begin(), unknown.end(), term.field) == unknown.end())
      unknown.push_back(term.field);
  }
  return unknown;
}

}  // namespace strata::trace
