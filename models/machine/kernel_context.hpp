// SystemC keeps one simulation, in a global context. A program that builds several gives each a KernelContext.
#pragma once

#include <stdexcept>
#include <systemc>

namespace linebounce {

class KernelContext {
 public:
  // Silences SystemC's message "stopped by user".
  KernelContext() { sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING); }

  // Errors: std::logic_error if a simulated program calls this: its stack is too small for another simulation.
  static void refuse_inside_a_program() {
    if (is_used) throw std::logic_error("a simulation cannot be made or run by a program of another one");
  }

  // Makes `context` SystemC's global context while this object lives.
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
