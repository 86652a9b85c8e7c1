// A memory with banks that each keep one row open: a line of the open row comes sooner.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>

class OpenRowMemory final : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<OpenRowMemory, 64> socket;

  explicit OpenRowMemory(const sc_core::sc_module_name& name) : sc_module(name), socket("socket") {
    socket.register_b_transport(this, &OpenRowMemory::access);
  }

  [[nodiscard]] int accesses() const { return accesses_; }
  [[nodiscard]] int open_rows() const { return open_rows_; }

 private:
  struct Bank {
    std::uint64_t row = ~std::uint64_t{0};
    sc_core::sc_time free;
  };
  static constexpr std::uint64_t kRowBytes = 8192;

  void access(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
    const std::uint64_t row = transaction.get_address() / kRowBytes;
    Bank& bank = banks_[row % banks_.size()];
    const bool is_open = bank.row == row;
    const sc_core::sc_time now = sc_core::sc_time_stamp();
    const sc_core::sc_time begin = std::max(now + delay, bank.free);
    const sc_core::sc_time end = begin + sc_core::sc_time(is_open ? 60 : 110, sc_core::SC_NS);
    ++accesses_;
    open_rows_ += is_open ? 1 : 0;
    bank = {row, end};
    delay = end - now;
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  std::array<Bank, 8> banks_;
  int accesses_ = 0;
  int open_rows_ = 0;
};
