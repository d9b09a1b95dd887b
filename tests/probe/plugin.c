/* SPDX-License-Identifier: Apache-2.0
 *
 * A library with sites, that a program loads and unloads.
 */
#include <strata/probe.h>

STRATA_EVENT(plugin, step, STRATA_INFO, (u32, number), (string, text));

void plugin_switch_on(void);
void plugin_fire(uint32_t number);

void plugin_switch_on(void) { strata_flag_plugin__step = 0x10000; }
void plugin_fire(uint32_t number) { STRATA_TRACE(plugin, step, number, "from a library"); }
