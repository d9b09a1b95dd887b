// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <optional>
#include <utility>

#include "ftrace/print_format.h"
#include "ftrace/print_format_constants.h"
#include "ftrace/print_format_lexer.h"

namespace strata::ftrace {
namespace {

using Kind = Expression::Kind;

// Bounds on what is built from a text that comes from outside. The kernel's largest format needs
// 1,900 nodes and a depth of 40.
constexpr int kMaxDepth = 400;
constexpr size_t kMaxNodes = 50'000;

// How loosely an operator binds; -1: it is none.
int priority_of(std::string_view op) {
  struct Entry {
    std::string_view op;
    int priority;
  };
  static constexpr std::array<Entry, 23> kOperators{{
      {"~", 4},  {"!", 4},  {"*", 6},   {"/", 6},   {"%", 6},  {"+", 7},   {"-", 7},   {"<<", 8},
      {">>", 8}, {"<", 9},  {">", 9},   {"<=", 9},  {">=", 9}, {"==", 10}, {"!=", 10}, {"&", 11},
      {"^", 12}, {"|", 13}, {"&&", 14}, {"||", 15}, {"?", 16}, {"++", 3},  {"--", 3},
  }};
  for (const Entry& entry : kOperators)
    if (entry.op == op) return entry.priority;
  return -1;
}

bool is_binary(std::string_view op) {
  const int priority = priority_of(op);
  return priority >= 6 && priority <= 15;
}

struct FunctionShape {
  std::string_view name;
  size_t arguments;
};
constexpr std::array<FunctionShape, 8> kFunctions{{{kCallSite, 1},
                                                   {kTimerFunction, 1},
                                                   {"jbd2_dev_to_name", 1},
                                                   {"jiffies_to_msecs", 1},
                                                   {"is_writable_pte", 1},
                                                   {"xen_hypercall_name", 1},
                                                   {"__le16_to_cpup", 1},
                                                   {"scsi_trace_parse_cdb", 3}}};

// Every method that parses something begins at token_ and leaves token_ at what follows. They give
// false at what is not understood, with the reason in cause_.
class Parser {
 public:
  Parser(const trace::EventType& type, Target target, std::string_view text, bool ours)
      : type_(type), target_(target), text_(text), whole_(text), ours_(ours) {}

  Result<PrintFormat> parse() {
    advance();
    if (token_.kind != Token::Kind::String) return failure("does not begin with a string");
    result_.format = token_.text;
    advance();
    if (token_.kind == Token::Kind::End) {
      if (type_.system == "ftrace") all_fields_as_arguments();
      return std::move(result_);
    }
    if (!token_.is_delimiter(",")) return failure("has no comma after its string");
    while (token_.kind != Token::Kind::End) {
      advance();
      Expression* argument = make();
      if (!primary(*argument)) return failure(cause_);
      result_.arguments.push_back(argument);
      if (token_.kind == Token::Kind::Operator) {
        if (!operation(*argument)) return failure(cause_);
      } else if (!token_.is_delimiter(",")) {
        break;
      }
    }
    result_.complete = token_.kind == Token::Kind::End;
    return std::move(result_);
  }

 private:
  Error failure(std::string_view cause) const {
    return Error{"", whole_.size() - text_.size(),
                 "the print format of " + type_.name + " " + std::string(cause)};
  }
  bool fail(std::string_view cause) {
    if (cause_.empty()) cause_ = cause;
    return false;
  }
  void advance() { token_ = take_token(text_); }
  bool pass(std::string_view delimiter) {
    if (!token_.is_delimiter(delimiter)) return fail("lacks a comma or a parenthesis");
    advance();
    return true;
  }
  Expression* make(Expression expression = {}) {
    return &result_.expressions.emplace_back(std::move(expression));
  }
  static void set_operation(Expression& into, std::string op, Expression* left, Expression* right) {
    into = {};
    into.kind = Kind::Operation;
    into.text = std::move(op);
    into.left = left;
    into.right = right;
  }

  // Formats of old ftrace events have no arguments: they are all the fields.
  void all_fields_as_arguments() {
    for (size_t i = type_.common_fields; i < type_.fields.size(); ++i) {
      Expression* argument = make();
      argument->kind = Kind::Field;
      argument->field = &type_.fields[i];
      result_.arguments.push_back(argument);
    }
  }

  const trace::Field* own_field(std::string_view name) const {
    for (size_t i = type_.common_fields; i < type_.fields.size(); ++i)
      if (type_.fields[i].name == name) return &type_.fields[i];
    return nullptr;
  }

  struct Depth {
    explicit Depth(int& depth) : depth_(depth) { ++depth_; }
    ~Depth() { --depth_; }
    int& depth_;
  };
  bool too_much() const { return depth_ > kMaxDepth || result_.expressions.size() > kMaxNodes; }

  bool primary(Expression& into) {
    const Depth depth(depth_);
    if (too_much()) return fail("is too large");
    switch (token_.kind) {
      case Token::Kind::Item: {
        if (token_.text == "REC") {
          advance();
          return record_field(into);
        }
        std::string atom = std::move(token_.text);
        advance();
        if (token_.is_delimiter("(")) {
          advance();
          return function(atom, into);
        }
        for (; token_.kind == Token::Kind::Item; advance()) atom += " " + token_.text;
        into.kind = Kind::Atom;
        into.text = std::move(atom);
        return true;
      }
      case Token::Kind::String:
      case Token::Kind::Character:
        into.kind = Kind::Atom;
        into.quoted = true;
        into.text = std::move(token_.text);
        advance();
        return true;
      case Token::Kind::Delimiter:
        if (!token_.is_delimiter("(")) return fail("has a comma or parenthesis out of place");
        advance();
        return parenthesis(into);
      case Token::Kind::Operator: {
        const std::string op = token_.text;
        if (op != "~" && op != "!" && op != "+" && op != "-")
          return fail("has an operator out of place: " + op);
        Expression* nothing = make();
        Expression* operand = make();
        set_operation(into, op, nothing, operand);
        advance();
        return primary(*operand) && rest_of_operation(into, operand);
      }
      case Token::Kind::End:
        break;
    }
    return fail("ends in the middle of an argument");
  }

  // At what follows REC.
  bool record_field(Expression& into) {
    // (REC)->name: parenthesis() goes on behind it.
    if (token_.is_delimiter(")")) {
      bare_record_ = true;
      return true;
    }
    if (!token_.is_operator("->")) return fail("has REC without ->");
    advance();
    if (token_.kind != Token::Kind::Item) return fail("has REC-> without a name");
    into.kind = Kind::Field;
    into.text = token_.text;
    into.field = type_.find(token_.text);
    if (!into.field && in_choice_ > 0)
      return fail("names a field that the event lacks: " + into.text);
    advance();
    return true;
  }

  // Behind the opening one.
  bool parenthesis(Expression& into) {
    if (!primary(into)) return false;
    if (token_.kind == Token::Kind::Operator && !operation(into)) return false;
    if (std::exchange(bare_record_, false)) {
      advance();
      return record_field(into);
    }
    if (!pass(")")) return false;
    if (!token_.is_word() && !token_.is_delimiter("(")) return true;
    if (into.kind != Kind::Atom) return fail("casts to what is no type");
    std::string type = std::move(into.text);
    into = {};
    into.kind = Kind::Cast;
    into.text = std::move(type);
    into.left = make();
    return primary(*into.left);
  }

  // token_ is an operator, `into` what stands on its left and becomes the operation.
  bool operation(Expression& into) {
    const Depth depth(depth_);
    if (too_much()) return fail("is too large");
    const std::string op = token_.text;
    Expression* right = nullptr;
    if (op == "?") {
      Expression* condition = make(std::move(into));
      set_operation(into, op, condition, nullptr);
      if (!conditional(into)) return false;
    } else if (op == "[") {
      Expression* array = make(std::move(into));
      Expression* index = make();
      set_operation(into, op, array, index);
      advance();
      if (!primary(*index)) return false;
      if (!token_.is_operator("]")) return fail("has an index that is no single value");
      advance();
    } else if (is_binary(op)) {
      Expression* left = make(std::move(into));
      set_operation(into, op, left, nullptr);
      into.priority = left->kind == Kind::Nothing ? 0 : priority_of(op);
      advance();
      if (op == "*" && token_.is_delimiter(")")) {  // a pointer type
        if (left->kind != Kind::Atom) return fail("has a pointer to what is no type");
        left->text += " *";
        into = std::move(*left);
        return true;
      }
      right = make();
      if (!primary(*right)) return false;
      into.right = right;
      if (right->kind == Kind::Operation && priority_of(op) < priority_of(right->text)) {
        into.right = right->left;
        std::swap(into, *right);
        into.left = right;
      }
    } else {
      return fail("has an operator that is not known: " + op);
    }
    return rest_of_operation(into, right);
  }

  // A further operator applies to the whole operation where it binds more loosely, else to its
  // right side.
  bool rest_of_operation(Expression& whole, Expression* right) {
    if (token_.kind != Token::Kind::Operator || token_.text == ":") return true;
    if (priority_of(token_.text) > whole.priority) return operation(whole);
    if (!right) return fail("has an operator out of place: " + token_.text);
    return operation(*right);
  }

  // token_ is the `?`.
  bool conditional(Expression& whole) {
    Expression* then = make();
    Expression* otherwise = make();
    advance();
    if (!primary(*then)) return false;
    while (token_.kind == Token::Kind::Operator && token_.text != ":")
      if (!operation(*then)) return false;
    if (!token_.is_operator(":")) return fail("has ? without :");
    advance();
    if (!primary(*otherwise)) return false;
    whole.right = make();
    set_operation(*whole.right, ":", then, otherwise);
    return true;
  }

  bool delimited(Expression*& into, std::string_view delimiter) {
    into = make();
    if (!primary(*into)) return false;
    if (token_.kind == Token::Kind::Operator && !operation(*into)) return false;
    return pass(delimiter);
  }

  // Behind the opening parenthesis of a call.
  bool function(const std::string& name, Expression& into) {
    into = {};
    if (name == "__print_flags" || name == "__print_symbolic") return choice(name, into);
    if (name == "__print_hex" || name == "__print_hex_str") {
      into.kind = name == "__print_hex" ? Kind::Hex : Kind::HexString;
      return delimited(into.left, ",") && delimited(into.right, ")");
    }
    if (name == "__print_array") {
      into.kind = Kind::Array;
      return delimited(into.left, ",") && delimited(into.right, ",") && delimited(into.third, ")");
    }
    if (name == "__get_str" || name == "__get_rel_str")
      return field_call(Kind::DynamicString, into);
    if (name == "__get_bitmask" || name == "__get_rel_bitmask")
      return field_call(Kind::Bitmask, into);
    if (name == "__get_cpumask" || name == "__get_rel_cpumask")
      return field_call(Kind::CpuList, into);
    if (name == "__get_dynamic_array_len" || name == "__get_rel_dynamic_array_len")
      return field_call(Kind::DynamicArrayLength, into);
    if (name == "__get_dynamic_array" || name == "__get_rel_dynamic_array" ||
        name == "__get_sockaddr" || name == "__get_sockaddr_rel") {
      if (!field_call(Kind::DynamicArray, into)) return false;
      return !token_.is_operator("[") || fail("has an index behind __get_dynamic_array()");
    }
    if (name == "__builtin_expect") {
      if (!primary(into) || !pass(",")) return false;
      if (token_.kind != Token::Kind::Item) return fail("expects what is no number");
      advance();
      return pass(")");
    }
    if (name == "sizeof") return size_of(into);
    for (const FunctionShape& shape : kFunctions) {
      if (shape.name != name || (name.starts_with("strata_") && !ours_)) continue;
      into.kind = Kind::Function;
      into.text = name;
      for (size_t i = 0; i < shape.arguments; ++i) {
        into.arguments.push_back(make());
        if (!primary(*into.arguments.back())) return false;
        if (!pass(i + 1 < shape.arguments ? "," : ")")) return false;
      }
      return true;
    }
    return fail("calls a function that is not known: " + name);
  }

  bool field_call(Kind kind, Expression& into) {
    if (token_.kind != Token::Kind::Item) return fail("lacks a field's name");
    into.kind = kind;
    into.text = token_.text;
    const bool array = kind == Kind::DynamicArray || kind == Kind::DynamicArrayLength;
    into.field = array ? own_field(token_.text) : type_.find(token_.text);
    if (!into.field && (array || kind == Kind::CpuList))
      return fail("names a field that the event lacks: " + into.text);
    advance();
    return pass(")");
  }

  bool size_of(Expression& into) {
    into.kind = Kind::Atom;
    std::string word = token_.text;
    advance();
    if (word == "unsigned") {
      word = "int";
      if (token_.kind == Token::Kind::Item) {
        word = token_.text;
        advance();
      }
    }
    if (word == "int") {
      into.text = "4";
    } else if (word == "long") {
      into.text = target_.long_size == 4 ? "4" : "8";
      if (token_.text == "long") {
        into.text = "8";
        advance();
      }
    } else if (word == "REC" && token_.is_operator("->")) {
      advance();
      const trace::Field* field = type_.find(token_.text);
      if (!field || field->type.ends_with(']')) return fail("asks for the size of an array");
      into.text = std::to_string(field->size);
      advance();
    } else {
      return fail("asks for the size of what is not known: " + word);
    }
    return pass(")");
  }

  bool choice(const std::string& name, Expression& into) {
    const bool flags = name == "__print_flags";
    into.kind = flags ? Kind::Flags : Kind::Symbolic;
    into.left = make();
    ++in_choice_;
    if (!primary(*into.left)) return false;
    --in_choice_;
    while (token_.kind == Token::Kind::Operator)
      if (!operation(*into.left)) return false;
    if (!token_.is_delimiter(",")) return fail("lacks a comma behind a value");
    if (flags) {
      advance();
      if (token_.is_word()) {
        into.text = token_.text;
        advance();
      }
      if (!token_.is_delimiter(",")) return fail("lacks a comma behind a delimiter");
    }
    do {
      advance();
      if (!token_.is_operator("{")) break;
      advance();
      if (!one_choice(into.choices)) return false;
    } while (token_.is_delimiter(","));
    return pass(")");
  }

  // Behind the opening brace.
  bool one_choice(std::vector<Expression::Choice>& choices) {
    if (choices.size() > kMaxNodes) return fail("is too large");
    Expression value;
    if (!primary(value)) return false;
    if (token_.kind == Token::Kind::Operator && !operation(value)) return false;
    if (!pass(",")) return false;
    const auto text = constant_text(value);
    if (!text) return fail("has a choice that is no constant");
    Expression name;
    if (!primary(name)) return false;
    if (!token_.is_operator("}")) return fail("has a choice without a closing brace");
    const auto name_text = constant_text(name);
    if (!name_text) return fail("has a choice without a name");
    choices.push_back({choice_value(*text), *name_text});
    advance();
    return true;
  }

  const trace::EventType& type_;
  Target target_;
  std::string_view text_;
  std::string_view whole_;
  bool ours_;
  Token token_;
  PrintFormat result_;
  std::string cause_;
  int depth_ = 0;
  int in_choice_ = 0;
  bool bare_record_ = false;
};

}  // namespace

Result<PrintFormat> parse_print_format(const trace::EventType& type, Target target,
                                       std::string_view text) {
  return Parser(type, target, text, true).parse();
}

Result<PrintFormat> parse_print_format(const trace::EventType& type, Target target) {
  return Parser(type, target, type.print_format, false).parse();
}

}  // namespace strata::ftrace
