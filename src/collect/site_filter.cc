// SPDX-License-Identifier: Apache-2.0
#include "collect/site_filter.h"

#include <algorithm>
#include <bit>
#include <optional>

#include "trace/filter_tests.h"

namespace strata::collect {
namespace abi = probe::abi;
namespace {

using trace::Comparison;
using trace::FilterTerm;

// Numbers of the machine's tests, and beyond them its verdicts.
constexpr uint32_t kYes = abi::kPass;
constexpr uint32_t kNo = abi::kDrop;

uint8_t accepted(Comparison comparison) {
  switch (comparison) {
    case Comparison::Equal:
      return abi::kEqual;
    case Comparison::NotEqual:
      return abi::kLess | abi::kGreater | abi::kUnordered;
    case Comparison::Less:
      return abi::kLess;
    case Comparison::LessEqual:
      return abi::kLess | abi::kEqual;
    case Comparison::Greater:
      return abi::kGreater;
    case Comparison::GreaterEqual:
      return abi::kGreater | abi::kEqual;
    case Comparison::Bits:
      return abi::kCommonBits;
    case Comparison::Like:
      return abi::kMatches;
  }
  return 0;
}

bool is_for_texts(Comparison comparison) {
  return comparison == Comparison::Equal || comparison == Comparison::NotEqual ||
         comparison == Comparison::Like;
}

abi::Load load_of(const SiteField& field) {
  if (field.shape == FieldShape::String) return abi::Load::Text;
  if (field.is_float) return field.bytes == 4 ? abi::Load::F32 : abi::Load::F64;
  const auto first = static_cast<unsigned>(field.is_signed ? abi::Load::S8 : abi::Load::U8);
  return abi::Load{
      static_cast<uint8_t>(first + static_cast<unsigned>(std::countr_zero(field.bytes)))};
}

// What is known of a site's events without looking at one.
std::optional<std::string> constant(const Site& site, std::string_view name) {
  if (name == "event") return site.name;
  if (name == "system") return site.provider;
  return std::nullopt;
}

// A span's, which only its trace has as a field.
const SiteField kDuration{"duration_ns", FieldShape::Number, 8, false, false, {}};

const SiteField* find_field(const Site& site, std::string_view name) {
  const auto found = std::ranges::find(site.fields, name, &SiteField::name);
  if (found != site.fields.end()) return &*found;
  return site.kind == abi::SiteKind::Span && name == kDuration.name ? &kDuration : nullptr;
}

class PredicateWriter {
 public:
  explicit PredicateWriter(const Site& site) : site_(site) {}

  // The number of a test that leads there, or one of the two.
  uint32_t write(const FilterTerm& term, uint32_t if_true, uint32_t if_false) {
    const SiteField* field = find_field(site_, term.field);
    if (field == nullptr) {
      const std::optional<std::string> text = constant(site_, term.field);
      return text && fulfils(*text, term) ? if_true : if_false;
    }
    if (field->shape == FieldShape::Sequence) return if_false;
    const bool is_text = field->shape == FieldShape::String;
    if (is_text ? term.is_cpus || !is_for_texts(term.comparison)
                : term.comparison == Comparison::Like)
      return if_false;
    abi::Test test{};
    if (field != &kDuration) test = place_of(*field);
    test.load = field == &kDuration ? abi::Load::Duration : load_of(*field);
    test.accepts = accepted(term.comparison);
    if (is_text) {
      test.value = add_text(term.text);
      return add(test, if_true, if_false);
    }
    if (field->is_float) {
      if (!term.real || term.comparison == Comparison::Bits) return if_false;
      test.value = std::bit_cast<uint64_t>(*term.real);
      return add(test, if_true, if_false);
    }
    if (term.is_cpus) return add_cpus(test, term, if_true, if_false);
    if (!term.number) return if_false;
    if (const std::optional<bool> certain = trace::certain_outcome(term, field->is_signed))
      return *certain ? if_true : if_false;
    test.value = term.number->bits;
    return add(test, if_true, if_false);
  }

  Result<std::vector<std::byte>> finish(uint32_t first) {
    if (tests_.size() > abi::kMaxTests)
      return Error{site_.provider + ":" + site_.name, std::nullopt,
                   "its filters have more than " + std::to_string(abi::kMaxTests) + " comparisons"};
    const size_t texts = sizeof(abi::Predicate) + tests_.size() * sizeof(abi::Test) +
                         skips_.size() * sizeof(abi::Skip);
    std::vector<std::byte> bytes;
    const auto append = [&](const auto& value) {
      const auto* from = reinterpret_cast<const std::byte*>(&value);
      bytes.insert(bytes.end(), from, from + sizeof value);
    };
    append(abi::Predicate{static_cast<uint8_t>(first), static_cast<uint8_t>(tests_.size()),
                          static_cast<uint16_t>(skips_.size()), 0});
    for (abi::Test test : tests_) {
      if (test.load == abi::Load::Text) test.value += texts;
      append(test);
    }
    for (const abi::Skip& skip : skips_) append(skip);
    const auto* from = reinterpret_cast<const std::byte*>(texts_.data());
    bytes.insert(bytes.end(), from, from + texts_.size());
    return bytes;
  }

 private:
  static bool fulfils(const std::string& text, const FilterTerm& term) {
    if (term.is_cpus) return false;
    if (term.comparison == Comparison::Like) return term.glob->matches(text);
    if (term.comparison == Comparison::Equal) return text == term.text;
    return term.comparison == Comparison::NotEqual && text != term.text;
  }

  // Where the field lies; what has to be skipped on the way is noted.
  abi::Test place_of(const SiteField& wanted) {
    abi::Test test{};
    size_t offset = site_.kind == abi::SiteKind::Span ? sizeof(uint64_t) : 0;
    uint16_t base = 0;
    for (const SiteField& field : site_.fields) {
      if (&field == &wanted) break;
      if (field.shape == FieldShape::String || field.shape == FieldShape::Sequence) {
        if (base == skips_.size())
          skips_.push_back(
              {static_cast<uint16_t>(offset),
               static_cast<uint16_t>(field.shape == FieldShape::String ? 0 : field.bytes)});
        ++base;
        offset = 0;
      } else {
        offset += field.bytes;
      }
    }
    test.base = base;
    test.offset = static_cast<uint16_t>(offset);
    return test;
  }

  // In the set: in one of its ranges. The same set: the only one.
  uint32_t add_cpus(abi::Test test, const FilterTerm& term, uint32_t if_true, uint32_t if_false) {
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (uint64_t cpu = 0; cpu < term.cpus.size() * 64; ++cpu) {
      if ((term.cpus[cpu / 64] >> (cpu % 64) & 1) == 0) continue;
      if (!ranges.empty() && ranges.back().second + 1 == cpu)
        ranges.back().second = cpu;
      else
        ranges.emplace_back(cpu, cpu);
    }
    const auto compare = [&](Comparison comparison, uint64_t value, uint32_t yes, uint32_t no) {
      test.accepts = accepted(comparison);
      test.value = value;
      return add(test, yes, no);
    };
    if (term.comparison == Comparison::Bits) {
      uint32_t next = if_false;
      for (size_t i = ranges.size(); i-- > 0;) {
        const uint32_t below = compare(Comparison::LessEqual, ranges[i].second, if_true, next);
        next = compare(Comparison::GreaterEqual, ranges[i].first, below, next);
      }
      return next;
    }
    const bool is_one = ranges.size() == 1 && ranges[0].first == ranges[0].second;
    if (is_one) return compare(term.comparison, ranges[0].first, if_true, if_false);
    return term.comparison == Comparison::NotEqual ? if_true : if_false;
  }

  // Which texts lie where is known when the number of tests is: until then, from the first one on.
  uint64_t add_text(const std::string& text) {
    const uint64_t at = texts_.size();
    texts_ += text;
    return at | uint64_t{text.size()} << 32;
  }

  uint32_t add(abi::Test test, uint32_t if_true, uint32_t if_false) {
    test.if_true = static_cast<uint8_t>(if_true);
    test.if_false = static_cast<uint8_t>(if_false);
    tests_.push_back(test);
    return static_cast<uint32_t>(tests_.size() - 1);
  }

  const Site& site_;
  std::vector<abi::Test> tests_;
  std::vector<abi::Skip> skips_;
  std::string texts_;
};

}  // namespace

Result<std::vector<std::byte>> make_predicate(std::span<const trace::FilterTree> filters,
                                              const Site& site) {
  PredicateWriter writer(site);
  uint32_t next = kYes;
  for (size_t i = filters.size(); i-- > 0;)
    next = trace::write_tests(filters[i], next, kNo,
                              [&](const FilterTerm& term, uint32_t if_true, uint32_t if_false) {
                                return writer.write(term, if_true, if_false);
                              });
  return writer.finish(next);
}

bool drops_everything(std::span<const std::byte> predicate) {
  return !predicate.empty() && predicate[offsetof(abi::Predicate, first)] == std::byte{abi::kDrop};
}

bool has_field(const Site& site, std::string_view name) {
  return find_field(site, name) != nullptr || constant(site, name).has_value();
}

}  // namespace strata::collect
