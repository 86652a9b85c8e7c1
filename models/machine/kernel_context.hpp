// SystemC knows one simulation at a time, a global one. A program that builds several gives each a context of its own.
#pragma once

#include <stdexcept>
#include <systemc>

namespace linebounce {

class KernelContext {
 public:
  KernelContext() { sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING); }  // "stopped by user"

  // Errors: std::logic_error. A simulated program's stack is too small for another simulation.
  static void refuse_inside_a_program() {
    if (is_used) throw std::logic_error("a simulation cannot be made or run by a program of another one");
  }

  // Puts the context in the global one's place while this object lives.
  class Use {
   public:
    explicit Use(KernelContext& context) : outer_(sc_core::sc_curr_simcontext) {
      refuse_inside_a_program();
      is_used = true;
      sc_core::sc_curr_simcontext = &context.context_;
    }
    ~Use() {
      sc_core::sc_curr_simcontext = outer_;
      is_used = false;
    }
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

   private:
    sc_core::sc_simcontext* outer_;
  };

 private:
  static inline bool is_used = false;
  sc_core::sc_simcontext context_;
};

}  // namespace linebounce
