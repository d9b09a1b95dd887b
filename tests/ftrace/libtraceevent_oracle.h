// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ftrace/format_file.h"

extern "C" {
#include <event-parse.h>
#include <trace-seq.h>
}

namespace strata::test {

// What libtraceevent itself, with its plugins, makes of a record.
class LibtraceeventOracle {
 public:
  explicit LibtraceeventOracle(ftrace::Target target = {}, const std::string& kallsyms = "",
                               const std::string& printk_formats = "");
  ~LibtraceeventOracle();
  LibtraceeventOracle(const LibtraceeventOracle&) = delete;
  LibtraceeventOracle& operator=(const LibtraceeventOracle&) = delete;

  // The text of a format file.
  void add(const std::string& system, const std::string& format);
  // It may look at what stands behind the record: zeros, please.
  std::string text(Bytes record, uint64_t time = 0, int cpu = 0);

 private:
  tep_handle* tep_;
  tep_plugin_list* plugins_;
};

}  // namespace strata::test
