// SPDX-License-Identifier: Apache-2.0
#include "guest/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace strata::guest {
namespace {

constexpr std::string_view kPurpose = "strata guest tls psk";
constexpr std::string_view kIdentity = "strata";  // of the key: there is one
constexpr std::string_view kExporter = "EXPORTER-strata-guest";
// The hash of the key's suite is SHA-256, so only suites with that hash can be used with it.
constexpr const char* kSuites = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";
constexpr std::array<unsigned char, 2> kPskSuite = {0x13, 0x01};  // TLS_AES_128_GCM_SHA256

using Secret = std::array<std::byte, 32>;

void free_secret(void*, void* secret, CRYPTO_EX_DATA*, int, long, void*) {
  if (secret == nullptr) return;
  OPENSSL_cleanse(secret, sizeof(Secret));
  delete static_cast<Secret*>(secret);
}

// Where a context keeps its secret, which is freed with it.
int secret_index() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, free_secret);
  return index;
}

// The key as OpenSSL wants it; null: no memory.
SSL_SESSION* psk_of(SSL* ssl) {
  const auto* secret =
      static_cast<const Secret*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), secret_index()));
  const SSL_CIPHER* suite = SSL_CIPHER_find(ssl, kPskSuite.data());
  SSL_SESSION* session = SSL_SESSION_new();
  if (session != nullptr && suite != nullptr &&
      SSL_SESSION_set1_master_key(session, reinterpret_cast<const unsigned char*>(secret->data()),
                                  secret->size()) == 1 &&
      SSL_SESSION_set_cipher(session, suite) == 1 &&
      SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION) == 1)
    return session;
  SSL_SESSION_free(session);
  return nullptr;
}

int use_key(SSL* ssl, const EVP_MD*, const unsigned char** identity, size_t* size,
            SSL_SESSION** session) {
  *session = psk_of(ssl);
  *identity = reinterpret_cast<const unsigned char*>(kIdentity.data());
  *size = kIdentity.size();
  return *session != nullptr;
}

int find_key(SSL* ssl, const unsigned char* identity, size_t size, SSL_SESSION** session) {
  *session = nullptr;  // without one there is no certificate to go on with, either
  if (std::string_view(reinterpret_cast<const char*>(identity), size) == kIdentity)
    *session = psk_of(ssl);
  return 1;
}

// The first thing that OpenSSL has to say, and no more of it.
std::string reason() {
  const char* text = ERR_reason_error_string(ERR_peek_error());
  return text != nullptr ? text : "no memory";
}

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};

class TlsChannel : public Channel {
 public:
  TlsChannel(FileDescriptor socket, std::unique_ptr<SSL, FreeSsl> ssl, std::string peer)
      : Channel(std::move(peer)), socket_(std::move(socket)), ssl_(std::move(ssl)) {}

  Result<Transfer> send(Bytes bytes) override {
    if (bytes.empty()) return Transfer{};
    size_t size = 0;
    ERR_clear_error();
    const int done = SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &size);
    return outcome(done, size, send_events_);
  }

  Result<Transfer> receive(std::span<std::byte> room) override {
    size_t size = 0;
    ERR_clear_error();
    const int done = SSL_read_ex(ssl_.get(), room.data(), room.size(), &size);
    return outcome(done, size, receive_events_);
  }

  pollfd to_send() const override { return {socket_.get(), send_events_, 0}; }
  pollfd to_receive() const override { return {socket_.get(), receive_events_, 0}; }
  void end_sending() override {
    ERR_clear_error();
    SSL_shutdown(ssl_.get());
  }
  bool is_plain() const override { return false; }

  // RFC 9266's idea: nobody else has a connection with this secret.
  std::string binding() const override {
    std::array<char, 32> secret{};
    if (SSL_export_keying_material(ssl_.get(), reinterpret_cast<unsigned char*>(secret.data()),
                                   secret.size(), kExporter.data(), kExporter.size(), nullptr, 0,
                                   0) != 1)
      return {};  // the proof fails then
    return "tls " + std::string(secret.data(), secret.size());
  }

 private:
  Result<Transfer> outcome(int done, size_t size, short& events) {
    // A server with a certificate but without the key has proved nothing that counts here.
    if (SSL_is_init_finished(ssl_.get()) != 0 && SSL_session_reused(ssl_.get()) == 0)
      return error("TLS without the key");
    if (done == 1) return Transfer{.size = size};
    switch (SSL_get_error(ssl_.get(), done)) {
      case SSL_ERROR_WANT_READ:
        events = POLLIN;
        return Transfer{};
      case SSL_ERROR_WANT_WRITE:
        events = POLLOUT;
        return Transfer{};
      case SSL_ERROR_ZERO_RETURN:
        return Transfer{.ended = true};
      case SSL_ERROR_SYSCALL:
        return error("the connection is cut off", errno);
      default:
        if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
          return error("the connection is cut off");
        return error("TLS: " + reason());
    }
  }

  FileDescriptor socket_;
  std::unique_ptr<SSL, FreeSsl> ssl_;  // gone before its socket
  short send_events_ = POLLOUT;
  short receive_events_ = POLLIN;
};

}  // namespace

void TlsContext::Free::operator()(ssl_ctx_st* context) const { SSL_CTX_free(context); }

Result<TlsContext> TlsContext::create(Role role, const Key& key) {
  TlsContext made;
  made.role_ = role;
  made.context_.reset(SSL_CTX_new(role == Role::Host ? TLS_client_method() : TLS_server_method()));
  SSL_CTX* context = made.context_.get();
  auto secret = std::make_unique<Secret>(key.derive(kPurpose));
  if (context == nullptr || SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_max_proto_version(context, TLS1_3_VERSION) != 1 ||
      SSL_CTX_set_ciphersuites(context, kSuites) != 1 || SSL_CTX_set_num_tickets(context, 0) != 1 ||
      SSL_CTX_set_ex_data(context, secret_index(), secret.get()) != 1)
    return Error{"", std::nullopt, "cannot use TLS 1.3: " + reason()};
  (void)secret.release();  // the context's now
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  SSL_CTX_set_read_ahead(context, 1);
  // There is no certificate of a guest's that is believed.
  if (role == Role::Host) SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  SSL_CTX_set_psk_use_session_callback(context, use_key);
  SSL_CTX_set_psk_find_session_callback(context, find_key);
  return made;
}

Result<std::unique_ptr<Channel>> TlsContext::wrap(FileDescriptor socket, std::string peer) const {
  std::unique_ptr<SSL, FreeSsl> ssl(SSL_new(context_.get()));
  if (!ssl || SSL_set_fd(ssl.get(), socket.get()) != 1)
    return Error{std::move(peer), std::nullopt, "TLS: " + reason()};
  if (role_ == Role::Host)
    SSL_set_connect_state(ssl.get());
  else
    SSL_set_accept_state(ssl.get());
  return std::unique_ptr<Channel>(
      std::make_unique<TlsChannel>(std::move(socket), std::move(ssl), std::move(peer)));
}

}  // namespace strata::guest
