// SPDX-License-Identifier: Apache-2.0
#include "ftrace/libtraceevent_text.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "ftrace/print_format.h"
#include "ftrace/print_format_compiler.h"

extern "C" {
#include <event-parse.h>
#include <trace-seq.h>
}

namespace strata::ftrace {
namespace {

using trace::Event;
using trace::EventType;
using trace::Field;
using trace::Location;

// Zeros behind every record: strings end there, and a SCSI command, which its plugin reads by what
// its first byte says.
constexpr size_t kPadding = 512;

// Stands for the print format in what libtraceevent is told: a plugin goes back to it where it
// lacks a field, and then the text ends with this.
constexpr std::string_view kPrintFormat = "(the print format)";

struct Told {
  std::string_view system;
  std::string_view name;
  bool by_format;  // the plugin brings a function that the print format calls
};
constexpr std::array<Told, 15> kTold{{
    {"kvm", "kvm_exit", false},
    {"kvm", "kvm_entry", false},
    {"kvm", "kvm_emulate_insn", false},
    {"kvm", "kvm_nested_vmexit", false},
    {"kvm", "kvm_nested_vmexit_inject", false},
    {"kvmmmu", "kvm_mmu_get_page", false},
    {"kvmmmu", "kvm_mmu_sync_page", false},
    {"kvmmmu", "kvm_mmu_unsync_page", false},
    {"kvmmmu", "kvm_mmu_zap_page", false},
    {"kvmmmu", "kvm_mmu_prepare_zap_page", false},
    {"mac80211", "drv_bss_info_changed", false},
    {"scsi", "scsi_dispatch_cmd_start", true},
    {"scsi", "scsi_dispatch_cmd_error", true},
    {"scsi", "scsi_dispatch_cmd_done", true},
    {"scsi", "scsi_dispatch_cmd_timeout", true},
}};

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  });
}
bool is_type(std::string_view text) {
  return !text.empty() && is_name(text.substr(0, 1)) &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return is_name({&c, 1}) || c == ' ' || c == '*' || c == '[' || c == ']';
         });
}

// One line of a format file, from a field that was understood.
std::optional<std::string> declaration_of(const Field& field) {
  if (!is_name(field.name) || !is_type(field.type)) return std::nullopt;
  std::string declared = field.type + " " + field.name;
  if (field.location == Location::InPlace && field.type.ends_with(']')) {
    const size_t open = field.type.find('[');
    declared = field.type.substr(0, open) + " " + field.name + field.type.substr(open);
  }
  return "\tfield:" + declared + ";\toffset:" + std::to_string(field.offset) +
         ";\tsize:" + std::to_string(field.size) + ";\tsigned:" + (field.is_signed ? "1" : "0") +
         ";\n";
}

std::optional<std::string> declaration_of(const EventType& type, std::string_view print_format) {
  if (!is_name(type.name) || !is_name(type.system)) return std::nullopt;
  std::string text = "name: " + type.name + "\nID: " + std::to_string(type.id) + "\nformat:\n";
  for (size_t i = 0; i < type.fields.size(); ++i) {
    if (i == type.common_fields) text += "\n";
    const auto line = declaration_of(type.fields[i]);
    if (!line) return std::nullopt;
    text += *line;
  }
  return text + "\nprint fmt: " + std::string(print_format) + "\n";
}

// What our own parser did not refuse, and what cannot make libtraceevent divide by zero or read
// where a number in the record says.
bool harmless(const PrintFormat& format, bool scsi) {
  using Kind = Expression::Kind;
  if (!format.complete) return false;
  for (const Expression& e : format.expressions) {
    if (e.kind == Kind::Array) return false;
    if ((e.kind == Kind::Hex || e.kind == Kind::HexString) && !scsi) return false;
    if (e.kind == Kind::Operation && (e.text == "/" || e.text == "%" || e.text == "["))
      return false;
    if (e.kind == Kind::Function && e.text == "__le16_to_cpup") return false;
    if ((e.kind == Kind::Field || e.kind == Kind::DynamicString || e.kind == Kind::Bitmask) &&
        !e.field)
      return false;
  }
  // A width or precision that an argument gives is taken as it is; sizeof is read after it is
  // freed.
  return format.format.find('*') == std::string::npos;
}

bool lies_inside(const Field& field, Bytes record, ByteOrder order) {
  if (uint64_t{field.offset} + field.size > record.size()) return false;
  if (field.location == Location::InPlace) return true;
  if (field.size != 4) return false;
  const uint32_t locator = load<uint32_t>(record.data() + field.offset, order != kNativeOrder);
  uint64_t begin = locator & 0xffff;
  if (field.location == Location::RelLoc) begin += field.offset + field.size;
  return begin + (locator >> 16) <= record.size();
}

}  // namespace

struct Libtraceevent::State {
  explicit State(const KernelNames& kernel) : names(kernel) {}
  ~State() {
    if (!tep) return;
    tep_unload_plugins(plugins, tep);
    trace_seq_destroy(&seq);
    tep_free(tep);
  }

  tep_handle* handle() {
    if (tep) return tep;
    tep_set_loglevel(TEP_LOG_NONE);
    tep = tep_alloc();
    if (!tep) return nullptr;
    trace_seq_init(&seq);
    tep_set_long_size(tep, names.target.long_size);
    tep_set_file_bigendian(
        tep, names.target.order == ByteOrder::Big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_local_bigendian(tep,
                            kNativeOrder == ByteOrder::Big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
    tep_set_function_resolver(tep, resolve, this);
    plugins = tep_load_plugins(tep);
    return tep;
  }

  static char* resolve(void* self, unsigned long long* address, char** module) {
    auto* state = static_cast<State*>(self);
    const auto found = state->names.symbols.find(*address);
    if (!found) return nullptr;
    state->name = found->name;
    state->module = found->module;
    *address = found->start;
    *module = state->module.empty() ? nullptr : state->module.data();
    return state->name.data();
  }

  const KernelNames& names;
  tep_handle* tep = nullptr;
  tep_plugin_list* plugins = nullptr;
  trace_seq seq{};
  std::vector<char> record;
  std::string name;
  std::string module;
};

class PluginText : public SpecialText {
 public:
  // `own`: the type's print format, where libtraceevent was not told it and it was understood.
  PluginText(Libtraceevent::State& state, const EventType& type, std::optional<TextProgram> own)
      : state_(state),
        type_(type),
        own_(std::move(own)),
        fields_(type, state.names.target),
        length_(number_field(type, type.system == "scsi" ? "cmd_len" : "len")),
        scsi_(type.system == "scsi"),
        instruction_(type.name == "kvm_emulate_insn") {}

  void print(const Event& event, TextBuffer& out) override {
    if (!fits(event)) return fields_.print(event.record, out);
    std::vector<char>& copy = state_.record;
    copy.assign(event.record.size() + kPadding, '\0');
    std::memcpy(copy.data(), event.record.data(), event.record.size());
    tep_record record{};
    record.ts = static_cast<unsigned long long>(event.time.count);
    record.size = static_cast<int>(event.record.size());
    record.data = copy.data();
    record.cpu = static_cast<int>(raw(event.cpu));
    trace_seq_reset(&state_.seq);
    tep_print_event(state_.handle(), &state_.seq, &record, "%s", TEP_PRINT_INFO);
    const size_t size = std::min<size_t>(state_.seq.len, TextProgram::kMaxText);
    // Some texts have a NUL at their end, which is not shown.
    std::string_view text(state_.seq.buffer, strnlen(state_.seq.buffer, size));
    const bool goes_back = text.ends_with(kPrintFormat);
    if (goes_back) text.remove_suffix(kPrintFormat.size());
    out.put(text);
    if (!goes_back) return;
    if (own_)
      own_->run(event.record, out, state_.names);
    else
      fields_.print(event.record, out);
  }

 private:
  bool fits(const Event& event) const {
    if (event.record.size() > UINT16_MAX) return false;
    // An instruction's or a command's bytes are told in a number of their own.
    const int64_t length = event.integer(length_).value_or(0);
    if (instruction_ && (length < 1 || length > 15)) return false;
    if (scsi_ && (length < 0 || length > 260)) return false;
    return std::all_of(type_.fields.begin(), type_.fields.end(), [&](const Field& field) {
      return lies_inside(field, event.record, type_.order);
    });
  }

  Libtraceevent::State& state_;
  const EventType& type_;
  std::optional<TextProgram> own_;
  FieldsText fields_;
  trace::FieldRef length_;
  bool scsi_;
  bool instruction_;
};

Libtraceevent::Libtraceevent(const KernelNames& names) : state_(std::make_unique<State>(names)) {}
Libtraceevent::~Libtraceevent() = default;

std::unique_ptr<SpecialText> Libtraceevent::text_of(const EventType& type) {
  const auto told = std::find_if(kTold.begin(), kTold.end(), [&](const Told& t) {
    return t.system == type.system && t.name == type.name;
  });
  const bool xen =
      type.system == "xen" && type.print_format.find("xen_hypercall_name") != std::string::npos;
  if (told == kTold.end() && !xen) return nullptr;

  const auto format = parse_print_format(type, state_->names.target);
  const bool by_format = xen || told->by_format;
  std::string print_format = "\"" + std::string(kPrintFormat) + "\"";
  std::optional<TextProgram> own;
  if (by_format) {
    const bool safe = format && harmless(*format, type.system == "scsi") &&
                      type.print_format.find("sizeof") == std::string::npos;
    if (!safe) return nullptr;
    print_format = type.print_format;
  } else if (format) {
    if (auto program = compile(*format, type, state_->names)) own = std::move(*program);
  }
  const auto text = declaration_of(type, print_format);
  if (!text || !state_->handle()) return nullptr;
  if (tep_parse_event(state_->handle(), text->c_str(), text->size(), type.system.c_str()) != 0)
    return nullptr;
  return std::make_unique<PluginText>(*state_, type, std::move(own));
}

}  // namespace strata::ftrace
