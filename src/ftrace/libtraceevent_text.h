// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "ftrace/fields_text.h"
#include "ftrace/special_text.h"

namespace strata::ftrace {

// libtraceevent with its plugins, for the texts that only those know. Made at the first such event.
//
// libtraceevent trusts what it is given. So it is given little: the few event types that one of its
// plugins tells, declared by us from fields that were checked; and records, copied to where zeros
// follow them, whose fields and located arrays all lie inside.
class Libtraceevent {
 public:
  explicit Libtraceevent(const KernelNames& names);
  ~Libtraceevent();

  // The text of a type that a plugin tells; null for all others. It points to this.
  std::unique_ptr<SpecialText> text_of(const trace::EventType& type);

 private:
  struct State;
  friend class PluginText;
  std::unique_ptr<State> state_;
};

}  // namespace strata::ftrace
