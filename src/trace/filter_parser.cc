// SPDX-License-Identifier: Apache-2.0
#include "trace/filter_parser.h"

#include <charconv>
#include <limits>
#include <utility>

namespace strata::trace {
namespace {

constexpr size_t kLongestText = 64 * 1024;
constexpr int kDeepest = 64;  // parentheses and negations within each other
constexpr unsigned kHighestCpu = 65535;

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool is_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || static_cast<unsigned char>(c) >= 0x80;
}

// What may stand in a value without quotes: anything but what ends a term, as in the kernel.
bool is_bare(char c) { return !is_space(c) && c != ')' && c != '(' && c != '&' && c != '|'; }

std::optional<FilterNumber> read_number(std::string_view text) {
  FilterNumber number;
  if (text.starts_with('-')) {
    number.negative = true;
    text.remove_prefix(1);
  } else if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  } else if (text.size() > 1 && text.starts_with('0')) {
    base = 8;
    text.remove_prefix(1);
  }
  const char* end = text.data() + text.size();
  auto [stopped, problem] = std::from_chars(text.data(), end, number.bits, base);
  if (text.empty() || problem != std::errc() || stopped != end) return std::nullopt;
  if (number.negative) {
    if (number.bits > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) + 1)
      return std::nullopt;
    number.bits = 0 - number.bits;
    if (number.bits == 0) number.negative = false;
  }
  return number;
}

// Integers too, also where they are hexadecimal or octal.
std::optional<double> read_real(std::string_view text) {
  if (std::optional<FilterNumber> number = read_number(text))
    return number->negative ? static_cast<double>(static_cast<int64_t>(number->bits))
                            : static_cast<double>(number->bits);
  double value = 0;
  const char* end = text.data() + text.size();
  auto [stopped, problem] = std::from_chars(text.data(), end, value);
  if (text.empty() || problem != std::errc() || stopped != end) return std::nullopt;
  return value;
}

// As people write sizes: "10M", "1.5k"; and "80%".
std::optional<double> read_multiple(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  double factor = 1;
  switch (text.back()) {
    case '%':
      break;
    case 'k':
      factor = 1e3;
      break;
    case 'M':
      factor = 1e6;
      break;
    case 'G':
      factor = 1e9;
      break;
    default:
      return std::nullopt;
  }
  const std::optional<double> number = read_real(text.substr(0, text.size() - 1));
  if (!number) return std::nullopt;
  return *number * factor;
}

class Parser {
 public:
  Parser(std::string_view text, Equals equals) : text_(text), equals_(equals) {}

  Result<FilterTree> run() {
    if (text_.size() > kLongestText) return fail(kLongestText, "the filter is longer than 64 kB");
    Status status = disjunction(tree_.root, 0);
    if (!status) return std::move(status).error();
    skip_space();
    if (at_ < text_.size()) {
      if (text_[at_] == ')') return fail(at_, "')' without a '('");
      return fail(at_, "expected 'and', 'or', '&&', '||' or the end");
    }
    return std::move(tree_);
  }

 private:
  Error fail(size_t column, std::string cause) const { return Error{"", column, std::move(cause)}; }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool accept(std::string_view symbol) {
    skip_space();
    if (!text_.substr(at_).starts_with(symbol)) return false;
    at_ += symbol.size();
    return true;
  }
  // A word of the grammar; "order" is not the word "or".
  bool accept_word(std::string_view word) {
    skip_space();
    if (!text_.substr(at_).starts_with(word)) return false;
    size_t end = at_ + word.size();
    if (end < text_.size() && is_name(text_[end])) return false;
    at_ = end;
    return true;
  }
  // `not` and a field called "not" are told apart by what follows.
  bool accept_not() {
    skip_space();
    if (at_ + 1 < text_.size() && text_[at_] == '!' && text_[at_ + 1] == '=') return false;
    if (accept("!")) return true;
    size_t before = at_;
    if (!accept_word("not")) return false;
    skip_space();
    if (at_ < text_.size() && (is_name(text_[at_]) || text_[at_] == '(' ||
                               (text_[at_] == '!' && !text_.substr(at_).starts_with("!="))))
      return true;
    at_ = before;
    return false;
  }

  // A chain of the same kind becomes one node, so that it is not deep however long it is.
  static void join(FilterNode& node, FilterNode::Kind kind, FilterNode next) {
    if (node.kind != kind) {
      FilterNode first = std::exchange(node, FilterNode{});
      node.kind = kind;
      node.children.push_back(std::move(first));
    }
    node.children.push_back(std::move(next));
  }

  Status disjunction(FilterNode& node, int depth) {
    if (Status status = conjunction(node, depth); !status) return status;
    while (accept("||") || accept_word("or")) {
      FilterNode next;
      if (Status status = conjunction(next, depth); !status) return status;
      join(node, FilterNode::Kind::Or, std::move(next));
    }
    return {};
  }

  Status conjunction(FilterNode& node, int depth) {
    if (Status status = negation(node, depth); !status) return status;
    while (accept("&&") || accept_word("and")) {
      FilterNode next;
      if (Status status = negation(next, depth); !status) return status;
      join(node, FilterNode::Kind::And, std::move(next));
    }
    return {};
  }

  Status negation(FilterNode& node, int depth) {
    if (depth >= kDeepest)
      return fail(at_, "more than 64 parentheses and negations within each other");
    if (accept_not()) {
      node.kind = FilterNode::Kind::Not;
      return negation(node.children.emplace_back(), depth + 1);
    }
    skip_space();
    size_t opened = at_;
    if (accept("(")) {
      if (Status status = disjunction(node, depth + 1); !status) return status;
      if (!accept(")")) {
        if (at_ >= text_.size())
          return fail(at_, "expected ')' for the '(' in column " + std::to_string(opened + 1));
        return fail(at_, "expected 'and', 'or' or ')'");
      }
      return {};
    }
    return term(node);
  }

  Status term(FilterNode& node) {
    FilterTerm term;
    skip_space();
    term.column = at_;
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    term.field = text_.substr(term.column, at_ - term.column);
    if (term.field.empty()) return fail(at_, "expected the name of a field, 'not' or '('");
    if (term.field.ends_with(".ustring") || term.field.ends_with(".function"))
      return fail(
          term.column + term.field.rfind('.'),
          "only the kernel itself can evaluate '.ustring' and '.function', while it records");

    if (accept("==")) {
      term.comparison = Comparison::Equal;
    } else if (accept("!=")) {
      term.comparison = Comparison::NotEqual;
    } else if (accept("<=")) {
      term.comparison = Comparison::LessEqual;
    } else if (accept(">=")) {
      term.comparison = Comparison::GreaterEqual;
    } else if (accept("<")) {
      term.comparison = Comparison::Less;
    } else if (accept(">")) {
      term.comparison = Comparison::Greater;
    } else if (equals_ == Equals::SingleToo && accept("=")) {
      term.comparison = Comparison::Equal;
    } else if (accept("~")) {
      term.comparison = Comparison::Like;
    } else if (!text_.substr(at_).starts_with("&&") && accept("&")) {
      term.comparison = Comparison::Bits;
    } else if (text_.substr(at_).starts_with("=")) {
      return fail(at_, "expected '==' (equality is written with two signs)");
    } else {
      return fail(
          at_, "expected '==', '!=', '<', '<=', '>', '>=', '&' or '~' after '" + term.field + "'");
    }
    if (Status status = value(term); !status) return status;
    node.kind = FilterNode::Kind::Term;
    node.term = static_cast<uint32_t>(tree_.terms.size());
    tree_.terms.push_back(std::move(term));
    return {};
  }

  Status value(FilterTerm& term) {
    skip_space();
    size_t start = at_;
    if (accept("CPUS{")) {
      if (Status status = cpus(term); !status) return status;
      bool fits = term.comparison == Comparison::Equal || term.comparison == Comparison::NotEqual ||
                  term.comparison == Comparison::Bits;
      return fits ? Status() : fail(start, "CPUS{} goes with '==', '!=' and '&' only");
    }
    bool quoted = at_ < text_.size() && (text_[at_] == '"' || text_[at_] == '\'');
    if (quoted) {
      char quote = text_[at_++];
      size_t end = text_.find(quote, at_);
      if (end == std::string_view::npos)
        return fail(start, std::string("the quote ") + quote + " is never closed");
      term.text = text_.substr(at_, end - at_);
      at_ = end + 1;
    } else {
      while (at_ < text_.size() && is_bare(text_[at_])) ++at_;
      term.text = text_.substr(start, at_ - start);
      if (term.text.empty()) return fail(start, "expected a number, a word or a quoted text");
    }
    term.number = read_number(term.text);
    term.real = read_real(term.text);
    if (!term.real && equals_ == Equals::SingleToo) term.real = read_multiple(term.text);

    switch (term.comparison) {
      case Comparison::Equal:
      case Comparison::NotEqual:
        return {};
      case Comparison::Like:
        term.glob.emplace(term.text);
        return {};
      default:
        if (term.number || (term.real && term.comparison != Comparison::Bits)) return {};
        return fail(start, "expected a number");
    }
  }

  // The list of CPUS{0-3,8}; its brace is already open.
  Status cpus(FilterTerm& term) {
    term.is_cpus = true;
    auto number = [&](unsigned& out) -> Status {
      skip_space();
      auto [end, problem] =
          std::from_chars(text_.data() + at_, text_.data() + text_.size(), out, 10);
      if (problem != std::errc() || out > kHighestCpu) return fail(at_, "expected a CPU's number");
      at_ = static_cast<size_t>(end - text_.data());
      return {};
    };
    do {
      unsigned first = 0;
      if (Status status = number(first); !status) return status;
      unsigned last = first;
      size_t range = at_;
      if (accept("-")) {
        if (Status status = number(last); !status) return status;
        if (last < first) return fail(range, "the range of CPUs goes backwards");
      }
      if (term.cpus.size() <= last / 64) term.cpus.resize(last / 64 + 1);
      for (unsigned cpu = first; cpu <= last; ++cpu)
        term.cpus[cpu / 64] |= uint64_t{1} << (cpu % 64);
    } while (accept(","));
    return accept("}") ? Status() : fail(at_, "expected ',', '-' or '}' in the list of CPUs");
  }

  std::string_view text_;
  Equals equals_;
  size_t at_ = 0;
  FilterTree tree_;
};

}  // namespace

Result<FilterTree> parse_filter(std::string_view text, Equals equals) {
  return Parser(text, equals).run();
}

}  // namespace strata::trace
