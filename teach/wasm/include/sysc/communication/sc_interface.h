// The base class of SystemC's interfaces.
#pragma once
namespace sc_core {
class sc_interface {
 public:
  virtual ~sc_interface() = default;
};
}  // namespace sc_core
