// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "collect/site.h"

namespace strata::test {

// A site with fields of each shape, and what a record of it holds.
inline collect::Site order_site() {
  using enum collect::FieldShape;
  collect::Site site;
  site.provider = "shop";
  site.name = "order";
  site.fields = {{"size", Number, 4, false, false, {}},     {"change", Number, 8, true, false, {}},
                 {"customer", String, 1, false, false, {}}, {"total", Number, 4, true, true, {}},
                 {"items", Sequence, 2, false, false, {}},  {"note", String, 1, false, false, {}},
                 {"big", Number, 8, false, false, {}}};
  return site;
}

struct Order {
  uint32_t size = 0;
  int64_t change = 0;
  std::string customer = {};
  float total = 0;
  std::vector<uint16_t> items = {};
  std::string note = {};
  uint64_t big = 0;
};

inline std::vector<std::byte> order_fields(const Order& order) {
  std::vector<std::byte> bytes;
  const auto put = [&](const void* from, size_t size) {
    const auto* at = static_cast<const std::byte*>(from);
    bytes.insert(bytes.end(), at, at + size);
  };
  put(&order.size, sizeof order.size);
  put(&order.change, sizeof order.change);
  put(order.customer.c_str(), order.customer.size() + 1);
  put(&order.total, sizeof order.total);
  const auto count = static_cast<uint16_t>(order.items.size());
  put(&count, sizeof count);
  put(order.items.data(), order.items.size() * sizeof(uint16_t));
  put(order.note.c_str(), order.note.size() + 1);
  put(&order.big, sizeof order.big);
  return bytes;
}

}  // namespace strata::test
