/* SPDX-License-Identifier: Apache-2.0
 *
 * shop [ORDERS]: takes orders, and tells of each. Every kind of probe once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <strata/probe.h>

enum Mood { kPatient, kHurried };

STRATA_EVENT(shop, order_placed, STRATA_INFO, (u64, order), (string, customer), (f64, total),
             (enum, mood, "patient=0,hurried=1"));
STRATA_EVENT(shop, basket, STRATA_DEBUG, (u64, order), (seq_u32, articles));
STRATA_SPAN_EVENT(shop, delivery, STRATA_INFO, (u64, order), (u32, stops));
STRATA_COUNTER(shop, stock, STRATA_INFO, s64);

static void deliver(uint64_t order) {
  const uint64_t begin = STRATA_SPAN_BEGIN(shop, delivery);
  uint32_t stops = 0;
  while (stops < order % 5) ++stops;
  STRATA_SPAN_END(shop, delivery, begin, order, stops);
}

int main(int argc, char** argv) {
  const uint64_t orders = argc > 1 ? strtoull(argv[1], NULL, 10) : 10;
  int64_t stock = 1000;
  for (uint64_t order = 1; order <= orders; ++order) {
    const uint32_t articles[] = {(uint32_t)order, 7, 11};
    /* What only the event needs is prepared only for it. */
    if (STRATA_ENABLED(shop, order_placed)) {
      char customer[32];
      snprintf(customer, sizeof customer, "customer %d", (int)(order % 3));
      STRATA_TRACE(shop, order_placed, order, customer, (double)order * 1.5,
                   order % 2 == 0 ? kPatient : kHurried);
    }
    STRATA_TRACE(shop, basket, order, ((strata_seq_u32){articles, 3}));
    stock -= 3;
    STRATA_COUNT(shop, stock, stock);
    deliver(order);
  }
  return 0;
}
