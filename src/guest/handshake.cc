// SPDX-License-Identifier: Apache-2.0
#include "guest/handshake.h"

#include <algorithm>
#include <utility>

namespace strata::guest {
namespace {

constexpr std::string_view kPurpose = "strata guest protocol proof";

size_t index_of(Role role) { return role == Role::Host ? 0 : 1; }

std::string text_of(Versions versions) {
  return std::to_string(versions.oldest) + " to " + std::to_string(versions.newest);
}

}  // namespace

Handshake::Handshake(Role role, const Key& key, Versions versions) : role_(role), key_(&key) {
  own_.versions = versions;
  own_.role = role;
  own_.nonce = random_bytes();
}

std::vector<std::byte> Handshake::begin() {
  if (role_ == Role::Guest) return {};
  const std::vector<std::byte> message = encode(own_);
  hellos_[index_of(role_)].assign(message.begin() + kHeadSize, message.end());
  return with_preamble(message);
}

Result<std::vector<std::byte>> Handshake::receive(const Message& message,
                                                  std::string_view binding) {
  if (message.kind == Kind::Refused) {
    const Result<Refused> refused = decode<Refused>(message);
    if (!refused) return refused.error();
    is_final_ = true;
    return Error{"", std::nullopt,
                 "the " + std::string(name_of(other(role_))) + " refuses: " + refused->why};
  }
  if (!done_ && is_heard(message))
    return role_ == Role::Host ? std::vector<std::byte>() : with_preamble(encode(own_));
  if (done_ || message.kind != (theirs_ ? Kind::Proof : Kind::Hello))
    return fail(Reason::Request, "a message out of its turn");
  return theirs_ ? receive_proof(message, binding) : receive_hello(message, binding);
}

Result<std::vector<std::byte>> Handshake::receive_hello(const Message& message,
                                                        std::string_view binding) {
  Result<Hello> hello = decode<Hello>(message);
  if (!hello) return fail(Reason::Request, hello.error().cause);
  if (hello->role == role_) return fail(Reason::Request, "it says that it is on this side");
  if (role_ == Role::Host && !equal_secrets(hello->answers, own_.nonce))
    return fail(Reason::Request, "an answer to another hello");
  const std::optional<uint16_t> version = common_version(own_.versions, hello->versions);
  if (!version)
    return fail(Reason::Version, "the " + std::string(name_of(other(role_))) + " speaks versions " +
                                     text_of(hello->versions) + " of the protocol, the " +
                                     std::string(name_of(role_)) + " " + text_of(own_.versions));
  version_ = *version;
  theirs_ = *std::move(hello);
  hellos_[index_of(other(role_))].assign(message.body.begin(), message.body.end());
  if (role_ == Role::Host) return encode(Proof{mac(Role::Host, binding)});
  own_.answers = theirs_->nonce;
  const std::vector<std::byte> answer = encode(own_);
  hellos_[index_of(role_)].assign(answer.begin() + kHeadSize, answer.end());
  return with_preamble(answer);
}

Result<std::vector<std::byte>> Handshake::receive_proof(const Message& message,
                                                        std::string_view binding) {
  const Result<Proof> proof = decode<Proof>(message);
  if (!proof) return fail(Reason::Request, proof.error().cause);
  if (!equal_secrets(proof->mac, mac(other(role_), binding)))
    return fail(Reason::Key,
                "the " + std::string(name_of(other(role_))) + "'s proof of the key is wrong");
  done_ = true;
  if (role_ == Role::Host) return std::vector<std::byte>();
  return encode(Proof{mac(Role::Guest, binding)});
}

// Each part with its length, so that none can reach into the next.
Mac Handshake::mac(Role of, std::string_view binding) const {
  ByteWriter all(ByteOrder::Little);
  for (const Bytes part :
       {as_bytes(name_of(of)), Bytes(hellos_[0]), Bytes(hellos_[1]), as_bytes(binding)}) {
    all.u32(static_cast<uint32_t>(part.size()));
    all.raw(part);
  }
  return hmac(key_->derive(kPurpose), all.bytes());
}

bool Handshake::is_heard(const Message& message) const {
  return message.kind == Kind::Hello && theirs_ &&
         std::ranges::equal(message.body, hellos_[index_of(other(role_))]);
}

bool Handshake::is_from_another(const Message& message) const {
  return message.kind == Kind::Hello && theirs_ && !is_heard(message);
}

Error Handshake::fail(Reason reason, std::string cause) {
  refused_ = Refused{reason, cause};
  is_final_ = reason != Reason::Request;
  return {"", std::nullopt, std::move(cause)};
}

std::vector<std::byte> Handshake::refusal() const {
  if (!refused_) return {};
  const std::vector<std::byte> message = encode(*refused_);
  // Of a guest that has said nothing yet.
  const bool has_begun = !hellos_[index_of(role_)].empty();
  return has_begun ? message : with_preamble(message);
}

}  // namespace strata::guest
