// SPDX-License-Identifier: Apache-2.0
#include "kernel/socket_text.h"

#include <arpa/inet.h>

#include <array>
#include <cstring>

#include "kernel/text_parts.h"

namespace strata::kernel {
namespace {

constexpr std::array<std::string_view, 13> kTcpStates = {
    "?",     "ESTABLISHED", "SYN_SENT", "SYN_RECV", "FIN_WAIT1", "FIN_WAIT2",   "TIME_WAIT",
    "CLOSE", "CLOSE_WAIT",  "LAST_ACK", "LISTEN",   "CLOSING",   "NEW_SYN_RECV"};

// "0100007F:0016": the address as 32-bit words in the machine's byte order, and the port. Empty for
// what is none, and for port 0, which is nobody.
std::string address_text(std::string_view text) {
  std::string_view digits = take_until(text, ':');
  const auto port = whole_number<uint16_t>(text, 16);
  if ((digits.size() != 8 && digits.size() != 32) || !port || *port == 0) return {};
  std::array<uint32_t, 4> words{};
  const size_t count = digits.size() / 8;
  for (size_t i = 0; i < count; ++i) {
    const auto word = whole_number<uint32_t>(digits.substr(8 * i, 8), 16);
    if (!word) return {};
    words[i] = *word;
  }
  const bool is_v6 = count == 4;
  std::array<char, INET6_ADDRSTRLEN> name{};
  if (inet_ntop(is_v6 ? AF_INET6 : AF_INET, words.data(), name.data(), name.size()) == nullptr)
    return {};
  std::string result = is_v6 ? "[" + std::string(name.data()) + "]" : std::string(name.data());
  return result + ":" + std::to_string(*port);
}

}  // namespace

void parse_internet_sockets(std::string_view text, std::string_view protocol,
                            std::vector<Socket>& sockets) {
  take_line(text);  // the heads of the columns
  while (!text.empty()) {
    std::string_view line = take_line(text);
    take_word(line);
    const std::string_view local = take_word(line);
    const std::string_view peer = take_word(line);
    const auto state = whole_number<uint8_t>(take_word(line), 16);
    for (int i = 0; i < 5; ++i) take_word(line);
    const auto inode = whole_number<uint64_t>(take_word(line));
    // 0: the connection lives on without a process.
    if (!inode || *inode == 0 || !state) continue;
    sockets.push_back({*inode, std::string(protocol), address_text(local), address_text(peer),
                       std::string(*state < kTcpStates.size() ? kTcpStates[*state] : "?")});
  }
}

void parse_unix_sockets(std::string_view text, std::vector<Socket>& sockets) {
  constexpr uint32_t kListens = 0x10000;  // __SO_ACCEPTCON
  take_line(text);
  while (!text.empty()) {
    std::string_view line = take_line(text);
    for (int i = 0; i < 3; ++i) take_word(line);
    const auto flags = whole_number<uint32_t>(take_word(line), 16);
    take_word(line);
    const auto state = whole_number<uint8_t>(take_word(line), 16);
    const auto inode = whole_number<uint64_t>(take_word(line));
    if (!inode || *inode == 0 || !flags || !state) continue;
    const bool connected = *state == 3;        // SS_CONNECTED
    if (!line.empty()) line.remove_prefix(1);  // one space; the path may begin with more
    sockets.push_back({*inode, "unix", std::string(line), "",
                       (*flags & kListens) != 0 ? "LISTEN"
                       : connected              ? "ESTABLISHED"
                                                : "UNCONNECTED"});
  }
}

}  // namespace strata::kernel
