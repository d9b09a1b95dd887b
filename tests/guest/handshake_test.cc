// SPDX-License-Identifier: Apache-2.0
#include "guest/handshake.h"

#include <gmock/gmock.h>

#include "wire_bytes.h"

namespace strata::guest {
namespace {

using test::WireBytes;
using ::testing::HasSubstr;
using Sent = std::vector<std::byte>;

const Key kKey({std::byte{1}, std::byte{2}, std::byte{3}});
const Key kOtherKey({std::byte{1}, std::byte{2}, std::byte{4}});
constexpr std::string_view kBinding = "vsock 3:7823";

// The message in it, behind the preamble where there is one.
Message message_in(const Sent& sent) {
  Bytes bytes = sent;
  if (as_text(bytes).starts_with(kPreamble)) bytes = bytes.subspan(kPreamble.size());
  ByteReader in(bytes, ByteOrder::Little);
  const uint32_t size = in.u32();
  const auto kind = static_cast<Kind>(in.u16());
  EXPECT_EQ(bytes.size(), kHeadSize + size);
  return {kind, 0, bytes.subspan(kHeadSize)};
}

Sent must(Result<Sent> sent) {
  EXPECT_TRUE(sent) << sent.error().text();
  return sent ? *std::move(sent) : Sent();
}

struct Conversation {
  Sent host_hello, guest_hello, host_proof, guest_proof;
};

Conversation converse(Handshake& host, Handshake& guest) {
  Conversation said;
  said.host_hello = host.begin();
  EXPECT_TRUE(guest.begin().empty());
  said.guest_hello = must(guest.receive(message_in(said.host_hello), kBinding));
  said.host_proof = must(host.receive(message_in(said.guest_hello), kBinding));
  said.guest_proof = must(guest.receive(message_in(said.host_proof), kBinding));
  EXPECT_TRUE(guest.done());
  EXPECT_FALSE(host.done());
  EXPECT_TRUE(must(host.receive(message_in(said.guest_proof), kBinding)).empty());
  EXPECT_TRUE(host.done());
  return said;
}

// As docs/protocol.md defines it.
Mac defined_mac(const Key& key, std::string_view role, const Conversation& said,
                std::string_view binding) {
  WireBytes all;
  for (const Bytes part : {as_bytes(role), message_in(said.host_hello).body,
                           message_in(said.guest_hello).body, as_bytes(binding)})
    all.u32(static_cast<uint32_t>(part.size())).raw(part);
  return hmac(key.derive("strata guest protocol proof"), all.bytes());
}

TEST(Handshake, BothProveTheKeyAsTheProtocolDefinesIt) {
  Handshake host(Role::Host, kKey);
  Handshake guest(Role::Guest, kKey);
  const Conversation said = converse(host, guest);
  EXPECT_EQ(host.version(), 1);
  EXPECT_EQ(guest.version(), 1);
  EXPECT_EQ(decode<Proof>(message_in(said.host_proof))->mac,
            defined_mac(kKey, "host", said, kBinding));
  EXPECT_EQ(decode<Proof>(message_in(said.guest_proof))->mac,
            defined_mac(kKey, "guest", said, kBinding));
}

TEST(Handshake, NothingIsTheSameTwice) {
  Handshake host1(Role::Host, kKey), guest1(Role::Guest, kKey);
  Handshake host2(Role::Host, kKey), guest2(Role::Guest, kKey);
  const Conversation first = converse(host1, guest1);
  const Conversation second = converse(host2, guest2);
  EXPECT_NE(first.host_hello, second.host_hello);
  EXPECT_NE(first.guest_hello, second.guest_hello);
  EXPECT_NE(first.host_proof, second.host_proof);
}

TEST(Handshake, WhoHasAnotherKeyIsRefusedAndTold) {
  Handshake host(Role::Host, kOtherKey);
  Handshake guest(Role::Guest, kKey);
  const Sent hello = must(guest.receive(message_in(host.begin()), kBinding));
  const Sent proof = must(host.receive(message_in(hello), kBinding));
  const Result<Sent> answer = guest.receive(message_in(proof), kBinding);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause, "the host's proof of the key is wrong");
  EXPECT_FALSE(guest.done());
  EXPECT_TRUE(guest.is_final());
  const Result<Sent> told = host.receive(message_in(guest.refusal()), kBinding);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().cause, "the guest refuses: the host's proof of the key is wrong");
  EXPECT_TRUE(host.is_final());
  EXPECT_TRUE(host.refusal().empty());
}

TEST(Handshake, AGuestThatHasNotTheKeyIsFoundOutByTheHost) {
  Handshake host(Role::Host, kKey);
  Handshake guest(Role::Guest, kOtherKey);
  const Sent hello = must(guest.receive(message_in(host.begin()), kBinding));
  (void)must(host.receive(message_in(hello), kBinding));
  const Result<Sent> answer = host.receive(message_in(encode(Proof{})), kBinding);
  ASSERT_FALSE(answer);
  EXPECT_FALSE(host.done());
}

TEST(Handshake, WhatWasHeardBeforeProvesNothingLater) {
  Handshake host(Role::Host, kKey), guest(Role::Guest, kKey);
  const Conversation said = converse(host, guest);
  Handshake again(Role::Guest, kKey);
  (void)must(again.receive(message_in(said.host_hello), kBinding));
  EXPECT_FALSE(again.receive(message_in(said.host_proof), kBinding));
  EXPECT_FALSE(again.done());

  Handshake caller(Role::Host, kKey);
  (void)caller.begin();
  const Result<Sent> answer = caller.receive(message_in(said.guest_hello), kBinding);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause, "an answer to another hello");
  EXPECT_FALSE(caller.is_final());
}

TEST(Handshake, WhatAnEndSaidItselfProvesNothingToIt) {
  Handshake host(Role::Host, kKey);
  const Sent hello = host.begin();
  const Result<Sent> mirrored = host.receive(message_in(hello), kBinding);
  ASSERT_FALSE(mirrored);
  EXPECT_EQ(mirrored.error().cause, "it says that it is on this side");

  // The proof of a host, given back as a guest's.
  Handshake again(Role::Host, kKey), guest(Role::Guest, kKey);
  const Sent answer = must(guest.receive(message_in(again.begin()), kBinding));
  const Sent proof = must(again.receive(message_in(answer), kBinding));
  EXPECT_FALSE(again.receive(message_in(proof), kBinding));
  EXPECT_FALSE(again.done());
}

TEST(Handshake, AProofHoldsOnItsOwnChannelAlone) {
  Handshake host(Role::Host, kKey);
  Handshake guest(Role::Guest, kKey);
  const Sent hello = must(guest.receive(message_in(host.begin()), "vsock 3:7823"));
  const Sent proof = must(host.receive(message_in(hello), "vsock 4:7823"));
  EXPECT_FALSE(guest.receive(message_in(proof), "vsock 3:7823"));
}

TEST(Handshake, NobodyInBetweenChangesAByteOfAHello) {
  Handshake first(Role::Host, kKey);
  const Sent hello = first.begin();
  for (size_t at = kPreamble.size() + kHeadSize; at < hello.size(); ++at) {
    Handshake guest(Role::Guest, kKey);
    Handshake host(Role::Host, kKey);
    Sent changed = host.begin();
    changed[at] ^= std::byte{1};
    const Result<Sent> answer = guest.receive(message_in(changed), kBinding);
    if (!answer) continue;  // it is none any more
    const Result<Sent> proof = host.receive(message_in(*answer), kBinding);
    if (!proof) continue;
    EXPECT_FALSE(guest.receive(message_in(*proof), kBinding)) << at;
  }
}

TEST(Handshake, TheNewestVersionOfBothIsSpoken) {
  const auto spoken = [](Versions host_versions, Versions guest_versions) {
    Handshake host(Role::Host, kKey, host_versions);
    Handshake guest(Role::Guest, kKey, guest_versions);
    converse(host, guest);
    EXPECT_EQ(host.version(), guest.version());
    return host.version();
  };
  EXPECT_EQ(spoken({1, 1}, {1, 2}), 1);
  EXPECT_EQ(spoken({1, 2}, {1, 1}), 1);
  EXPECT_EQ(spoken({1, 3}, {2, 4}), 3);
}

TEST(Handshake, WithoutACommonVersionBothSayWhichTheySpeak) {
  Handshake host(Role::Host, kKey, {1, 1});
  Handshake guest(Role::Guest, kKey, {2, 3});
  const Result<Sent> answer = guest.receive(message_in(host.begin()), kBinding);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().cause,
            "the host speaks versions 1 to 1 of the protocol, the guest 2 to 3");
  const Result<Sent> told = host.receive(message_in(guest.refusal()), kBinding);
  ASSERT_FALSE(told);
  EXPECT_THAT(told.error().cause, HasSubstr("the guest 2 to 3"));
}

// Who gets no answer for a while greets again, and then both may be answered.
TEST(Handshake, AHelloThatComesOnceMoreIsAnsweredOnceMore) {
  Handshake host(Role::Host, kKey);
  Handshake guest(Role::Guest, kKey);
  const Sent hello = host.begin();
  const Sent answer = must(guest.receive(message_in(hello), kBinding));
  EXPECT_EQ(must(guest.receive(message_in(hello), kBinding)), answer);
  const Sent proof = must(host.receive(message_in(answer), kBinding));
  EXPECT_TRUE(must(host.receive(message_in(answer), kBinding)).empty());
  must(host.receive(message_in(must(guest.receive(message_in(proof), kBinding))), kBinding));
  EXPECT_TRUE(host.done());
  EXPECT_TRUE(guest.done());
}

TEST(Handshake, AMessageOutOfItsTurnEndsIt) {
  Handshake guest(Role::Guest, kKey);
  EXPECT_FALSE(guest.receive(message_in(encode(Proof{})), kBinding));
  Handshake attached(Role::Guest, kKey);
  EXPECT_FALSE(attached.receive(message_in(encode(Attach{})), kBinding));
  Handshake twice(Role::Guest, kKey);
  Handshake host(Role::Host, kKey);
  const Sent hello = host.begin();
  (void)must(twice.receive(message_in(hello), kBinding));
  Handshake other(Role::Host, kKey);
  const Sent another = other.begin();
  EXPECT_TRUE(twice.is_from_another(message_in(another)));
  EXPECT_FALSE(twice.is_from_another(message_in(hello)));
  EXPECT_FALSE(twice.receive(message_in(another), kBinding));
}

}  // namespace
}  // namespace strata::guest
