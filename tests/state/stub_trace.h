// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "trace/trace.h"

namespace strata::state {

// A trace written by hand as XML, as Trace Compass' tests have them: events with LTTng's names,
// each with its fields and the CPU among them. Just enough of XML for these.
class StubTrace : public trace::Trace {
 public:
  // `machine`: whose it is.
  static Result<std::unique_ptr<StubTrace>> open(const std::string& path, std::string machine);

  std::vector<const trace::EventType*> event_types() const override;
  std::vector<std::unique_ptr<trace::Stream>> open_streams() const override;
  void print_fields(const trace::Event&, TextBuffer&) const override {}
  const trace::TaskNames& task_names() const override { return names_; }
  std::optional<Span> time_span() const override;

  struct Record {
    const trace::EventType* type = nullptr;
    int64_t time = 0;
    std::vector<std::byte> bytes = {};
  };

 private:
  struct Value {
    std::string name;
    std::string text;
    bool is_text = false;
  };
  void add(const std::string& name, int64_t time, const std::vector<Value>& values);
  const trace::EventType& type_of(const std::string& name, const std::vector<Value>& values);

  std::map<std::string, std::unique_ptr<trace::EventType>> types_;
  std::map<uint32_t, std::vector<Record>> cpus_;
  trace::TaskNames names_;
};

}  // namespace strata::state
