// SPDX-License-Identifier: Apache-2.0
#include "libtraceevent_oracle.h"

#include <cstring>

namespace strata::test {

LibtraceeventOracle::LibtraceeventOracle(ftrace::Target target, const std::string& kallsyms,
                                         const std::string& printk_formats)
    : tep_(tep_alloc()) {
  tep_set_loglevel(TEP_LOG_NONE);
  tep_set_long_size(tep_, target.long_size);
  tep_set_file_bigendian(tep_, target.order == ByteOrder::Big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
  tep_set_local_bigendian(tep_,
                          kNativeOrder == ByteOrder::Big ? TEP_BIG_ENDIAN : TEP_LITTLE_ENDIAN);
  plugins_ = tep_load_plugins(tep_);
  tep_parse_kallsyms(tep_, kallsyms.c_str());
  tep_parse_printk_formats(tep_, printk_formats.c_str());
}

LibtraceeventOracle::~LibtraceeventOracle() {
  tep_unload_plugins(plugins_, tep_);
  tep_free(tep_);
}

void LibtraceeventOracle::add(const std::string& system, const std::string& format) {
  tep_parse_event(tep_, format.c_str(), format.size(), system.c_str());
}

std::string LibtraceeventOracle::text(Bytes record, uint64_t time, int cpu) {
  tep_record r{};
  r.data = const_cast<std::byte*>(record.data());
  r.size = static_cast<int>(record.size());
  r.ts = time;
  r.cpu = cpu;
  trace_seq s;
  trace_seq_init(&s);
  tep_print_event(tep_, &s, &r, "%s", TEP_PRINT_INFO);
  // What follows a NUL is never shown.
  std::string text(s.buffer, strnlen(s.buffer, s.len));
  trace_seq_destroy(&s);
  return text;
}

}  // namespace strata::test
