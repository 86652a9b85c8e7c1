// What SystemC's interfaces derive from.
#pragma once
namespace sc_core {
class sc_interface {
 public:
  virtual ~sc_interface() = default;
};
}  // namespace sc_core
