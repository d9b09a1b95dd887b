// SPDX-License-Identifier: Apache-2.0
#include "state/file_call_reader.h"

#include <arpa/inet.h>

#include <array>

#include "trace/syscall_arguments.h"

namespace strata::state {
namespace {

constexpr int64_t kLocalFamily = 1;  // AF_UNIX

// Registers are wider than what the kernel takes of them.
int32_t descriptor(const trace::Event& event, const trace::FieldRef& ref) {
  return static_cast<int32_t>(event.integer(ref).value_or(-1));
}

}  // namespace

AddressFields::AddressFields(const trace::EventType& type)
    : family(type.ref("family")), v4(type.ref("v4addr")), v6(type.ref("v6addr")) {
  port = type.ref("dport");
  if (!port) port = type.ref("sport");
}

std::string AddressFields::text(const trace::Event& event) const {
  const Bytes four = event.bytes(v4);
  const Bytes six = event.bytes(v6);
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto number = std::to_string(event.integer(port).value_or(0));
  if (four.size() == sizeof(in_addr) &&
      inet_ntop(AF_INET, four.data(), text.data(), text.size()) != nullptr)
    return std::string(text.data()) + ':' + number;
  if (six.size() == sizeof(in6_addr) &&
      inet_ntop(AF_INET6, six.data(), text.data(), text.size()) != nullptr)
    return '[' + std::string(text.data()) + "]:" + number;
  return {};
}

FileCallFields::FileCallFields(const trace::EventType& of_type, std::string_view syscall)
    : type(&of_type), call(find_file_call(syscall)) {
  if (call == nullptr) return;
  const auto bind = [&](int8_t number, std::initializer_list<std::string_view> names) {
    return number == kNoArgument
               ? trace::FieldRef{}
               : trace::syscall_argument(*type, static_cast<uint32_t>(number), names);
  };
  fd = bind(call->fd, {"fd", "fildes", "oldfd", "fd_in", "fdin", "in_fd"});
  other = bind(call->other, {"out_fd", "fd_out", "fdout", "max_fd"});
  flags = bind(call->flags, {"flags", "clone_flags", "unshare_flags", "type"});
  command = bind(call->command, {"cmd"});
  value = bind(call->value, {"arg"});
  family = bind(call->family, {"family"});
  text = trace::syscall_text(*type, {"filename", "pathname", "uname", "uname_ptr"});
  if (call->effect == FileEffect::Connect) address = AddressFields(*type);
  only_fd = call->effect == FileEffect::Read || call->effect == FileEffect::Write ||
            call->effect == FileEffect::Close || call->effect == FileEffect::Use;
}

bool EnteredFileCall::closes_on_exec() const {
  return call->close_on_exec == kAlwaysCloses || (flags & call->close_on_exec) != 0;
}

FileKind EnteredFileCall::kind() const {
  if (call->makes == FileKind::Socket && family == kLocalFamily) return FileKind::LocalSocket;
  return call->makes == FileKind::File && !text.empty() ? kind_of_name(text) : call->makes;
}

void FileCallReader::read(const trace::Event& event, NameId syscall, const Names& names,
                          EnteredFileCall& call) {
  if (syscall >= fields_.size()) fields_.resize(syscall + 1);
  std::unique_ptr<FileCallFields>& fields = fields_[syscall];
  if (!fields || fields->type != event.type)
    fields = std::make_unique<FileCallFields>(*event.type, names.text(syscall));
  call.call = fields->call;
  if (fields->call == nullptr) return;
  call.fd = descriptor(event, fields->fd);
  if (fields->only_fd) return;
  call.other = descriptor(event, fields->other);
  call.flags = event.integer(fields->flags).value_or(0);
  call.command = event.integer(fields->command).value_or(-1);
  call.value = event.integer(fields->value).value_or(0);
  call.family = event.integer(fields->family).value_or(-1);
  if (fields->call->effect == FileEffect::Connect)
    call.text = fields->address.text(event);
  else
    call.text.assign(event.text(fields->text));
}

const FileCallReader::ReturnFields& FileCallReader::returned(const trace::EventType& type) {
  if (const ReturnFields* known = returns_.find(&type)) return *known;
  ReturnFields fields{type.ref("fildes"), AddressFields(type)};
  if (!fields.pair) fields.pair = type.ref("socket");
  return *returns_.add(&type, fields);
}

std::pair<int32_t, int32_t> FileCallReader::returned_pair(const trace::Event& event) {
  const trace::FieldRef& ref = returned(*event.type).pair;
  const Bytes pair = event.bytes(ref);
  if (pair.size() != 2 * sizeof(int32_t)) return {-1, -1};
  return {static_cast<int32_t>(load<uint32_t>(pair.data(), ref.swap)),
          static_cast<int32_t>(load<uint32_t>(pair.data() + sizeof(int32_t), ref.swap))};
}

std::string FileCallReader::returned_address(const trace::Event& event) {
  return returned(*event.type).address.text(event);
}

}  // namespace strata::state
