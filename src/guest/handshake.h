// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "guest/key.h"
#include "guest/messages.h"

namespace strata::guest {

// How two ends prove to each other that they have the key, and agree on a version. No I/O.
//
//     host   Hello: versions, nonce
//     guest  Hello: versions, nonce
//     host   Proof: HMAC over "host", both Hellos and the channel's binding
//     guest  Proof: the same over "guest"
//
// Both nonces are new each time, so nothing that was heard before proves anything; who speaks is in
// it, so neither end's proof is the other's; the versions are in it, so nobody in between lowers
// them; the channel is in it, so a proof holds on the channel for which it was made.
class Handshake {
 public:
  // `key` must outlive it.
  Handshake(Role role, const Key& key, Versions versions = kVersions);

  // What to send at first: a host's preamble and Hello; nothing of a guest, which answers.
  std::vector<std::byte> begin();
  // What to send in return, which may be nothing. `binding` is the channel's at this time. A Hello
  // that comes once more, byte for byte, is answered once more, byte for byte. An error ends it;
  // its text is for a log, and refusal() for the other end.
  Result<std::vector<std::byte>> receive(const Message& message, std::string_view binding);

  // Whether this is a Hello of somebody else than who has been heard.
  bool is_from_another(const Message& message) const;

  bool done() const { return done_; }
  // When it is done.
  uint16_t version() const { return version_; }
  // After an error: a message that tells the other end why. Empty: it was the other end that ended
  // it.
  std::vector<std::byte> refusal() const;
  // After an error: whether the two ends are what they are, and another attempt would end like this
  // one. Otherwise something else than a handshake came in between.
  bool is_final() const { return is_final_; }

 private:
  Result<std::vector<std::byte>> receive_hello(const Message& message, std::string_view binding);
  Result<std::vector<std::byte>> receive_proof(const Message& message, std::string_view binding);
  bool is_heard(const Message& message) const;
  Error fail(Reason reason, std::string cause);
  Mac mac(Role of, std::string_view binding) const;

  Role role_;
  const Key* key_;
  Hello own_;
  std::optional<Hello> theirs_;
  std::vector<std::byte> hellos_[2];  // as they were sent, the host's and the guest's
  uint16_t version_ = 0;
  bool done_ = false;
  bool is_final_ = false;
  std::optional<Refused> refused_;
};

}  // namespace strata::guest
