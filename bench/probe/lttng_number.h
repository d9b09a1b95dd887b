/* SPDX-License-Identifier: Apache-2.0
 *
 * LTTng-UST's declaration of an event with one int. It includes itself, several times.
 */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER strata_bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_number.h"

#if !defined(BENCH_PROBE_LTTNG_NUMBER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_PROBE_LTTNG_NUMBER_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(strata_bench, number, LTTNG_UST_TP_ARGS(int, value),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, value, value)))
LTTNG_UST_TRACEPOINT_EVENT(strata_bench, off, LTTNG_UST_TP_ARGS(int, value),
                           LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, value, value)))
#endif
#include <lttng/tracepoint-event.h>
