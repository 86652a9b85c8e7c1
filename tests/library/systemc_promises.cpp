// Tests the promises of systemc.hpp in a program that sees no other header.
//   systemc_promises latencies MACHINE CPU CPU   adds to one word and reads an array on both CPUs; prints what each kind took
//   systemc_promises refusals                    prints each promise about errors that does not hold
//   systemc_promises memory NS                   reads lines from a memory that answers after NS
#include <cstdio>
#include <cstring>
#include <linebounce/systemc.hpp>
#include <memory>
#include <string>
#include <vector>

namespace ls = linebounce::systemc;

namespace {

class Caller final : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Caller, 64> socket;

  Caller(const sc_core::sc_module_name& name, std::function<void(Caller&)> calls)
      : sc_module(name), socket("socket"), calls_(std::move(calls)) {
    SC_HAS_PROCESS(Caller);
    SC_THREAD(run);
  }

  // Returns the response; the value read is in `value`.
  tlm::tlm_response_status access(tlm::tlm_command command, std::uint64_t address, std::uint64_t& value, unsigned bytes = 8,
                                  ls::Atomic* atomic = nullptr) {
    tlm::tlm_generic_payload transaction;
    transaction.set_command(command);
    transaction.set_address(address);
    transaction.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    transaction.set_data_length(bytes);
    transaction.set_streaming_width(bytes);
    if (atomic != nullptr) transaction.set_extension(atomic);
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(transaction, delay);
    transaction.clear_extension(atomic);
    wait(delay);
    return transaction.get_response_status();
  }
  std::uint64_t add(std::uint64_t address, std::uint64_t addend) {
    ls::Atomic atomic;
    atomic.operand = addend;
    std::uint64_t value = 0;
    access(tlm::TLM_IGNORE_COMMAND, address, value, 8, &atomic);
    return value;
  }

 private:
  void run() { calls_(*this); }
  std::function<void(Caller&)> calls_;
};

constexpr std::uint64_t kWord = 0x10000;
constexpr int kRounds = 20;

struct Took {
  sc_core::sc_time add, load, store;
};

// The same as LATENCIES in test_systemc.py.
void add_load_and_store(Caller& caller, std::uint64_t array, Took& took) {
  const auto timed = [](sc_core::sc_time& sum, const auto& call) {
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    call();
    sum += sc_core::sc_time_stamp() - begin;
  };
  std::uint64_t value = 0;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    timed(took.add, [&] { caller.add(kWord, 1); });
    timed(took.load, [&] { caller.access(tlm::TLM_READ_COMMAND, array + 256 * round, value); });
    timed(took.store, [&] { caller.access(tlm::TLM_WRITE_COMMAND, kWord + 8, value); });
  }
}

int latencies(const std::string& file, const std::vector<int>& cpus) {
  ls::Machine machine("machine", file);
  std::vector<Took> took(cpus.size());
  std::vector<std::unique_ptr<Caller>> callers;
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    const std::uint64_t array = kWord * (i + 2);
    const auto calls = [&took, array, i](Caller& caller) { add_load_and_store(caller, array, took[i]); };
    callers.push_back(std::make_unique<Caller>(("caller" + std::to_string(i)).c_str(), calls));
    callers.back()->socket.bind(machine.cpus[static_cast<std::size_t>(cpus[i])]);
  }
  machine.place(0, 0);
  sc_core::sc_start();
  for (const Took& of : took) {
    const double ps = 1e12;
    std::printf("%.0f %.0f %.0f\n", of.add.to_seconds() * ps, of.load.to_seconds() * ps, of.store.to_seconds() * ps);
  }
  return 0;
}

int refusals() {
  int failures = 0;
  const auto expect = [&failures](bool holds, const char* what) {
    if (holds) return;
    std::printf("%s\n", what);
    ++failures;
  };
  ls::Machine machine("machine", "p3_xeon_4way");
  Caller caller("caller", [&](Caller& self) {
    std::uint64_t value = 7;
    const auto refused = [&](unsigned bytes, std::uint64_t address) {
      return self.access(tlm::TLM_READ_COMMAND, address, value, bytes);
    };
    expect(refused(3, 0x100) == tlm::TLM_BURST_ERROR_RESPONSE, "no word has 3 bytes");
    expect(refused(16, 0x100) == tlm::TLM_BURST_ERROR_RESPONSE, "nor 16");
    expect(refused(8, 0x104) == tlm::TLM_ADDRESS_ERROR_RESPONSE, "a word lies at a multiple of its size");
    expect(refused(8, ls::Machine::kMemoryBytes) == tlm::TLM_ADDRESS_ERROR_RESPONSE, "memory has an end");
    expect(self.access(tlm::TLM_IGNORE_COMMAND, 0x100, value) == tlm::TLM_COMMAND_ERROR_RESPONSE, "a command is not ignored");
    expect(sc_core::sc_time_stamp() == sc_core::SC_ZERO_TIME, "a refused transaction takes no time");
    expect(self.access(tlm::TLM_WRITE_COMMAND, 0x100, value) == tlm::TLM_OK_RESPONSE, "a store is accepted");
    value = 0;
    expect(self.access(tlm::TLM_READ_COMMAND, 0x100, value, 4) == tlm::TLM_OK_RESPONSE && value == 7, "and a load sees it");
    expect(self.add(0x100, 5) == 7 && self.add(0x100, 0) == 12, "an addition returns the old value");
    ls::Atomic swap;
    swap.operation = ls::Atomic::Operation::compare_exchange;
    swap.expected = 12;
    swap.operand = 1;
    self.access(tlm::TLM_IGNORE_COMMAND, 0x100, value, 8, &swap);
    expect(value == 12 && self.add(0x100, 0) == 1, "a compare-and-exchange exchanges what it expects");
  });
  caller.socket.bind(machine.cpus[0]);
  sc_core::sc_start();
  expect(machine.transfers().at("local_memory") == 1, "one line was fetched");
  return failures == 0 ? 0 : 1;
}

class SlowMemory final : public sc_core::sc_module {
 public:
  tlm_utils::simple_target_socket<SlowMemory, 64> socket;
  int reads = 0;

  SlowMemory(const sc_core::sc_module_name& name, double ns) : sc_module(name), socket("socket"), ns_(ns) {
    socket.register_b_transport(this, &SlowMemory::access);
  }

 private:
  void access(tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
    reads += transaction.is_read() ? 1 : 0;
    delay += sc_core::sc_time(ns_, sc_core::SC_NS);
    transaction.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  double ns_;
};

int read_memory(double ns) {
  ls::Machine machine("machine", "p3_xeon_4way");
  SlowMemory memory("memory", ns);
  machine.memories[0].bind(memory.socket);
  sc_core::sc_time took;
  Caller caller("caller", [&took](Caller& self) {
    std::uint64_t value = 0;
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    self.access(tlm::TLM_READ_COMMAND, 0x100, value);
    took = sc_core::sc_time_stamp() - begin;
  });
  caller.socket.bind(machine.cpus[0]);
  try {
    sc_core::sc_start();
  } catch (const sc_core::sc_report& report) {
    std::printf("%s\n", report.get_msg());
    return 1;
  }
  std::printf("%d read, %.3f ns\n", memory.reads, took.to_seconds() * 1e9);
  return 0;
}

}  // namespace

int sc_main(int count, char** arguments) {
  const std::vector<std::string> words(arguments + 1, arguments + count);
  if (words.at(0) == "latencies") return latencies(words.at(1), {std::stoi(words.at(2)), std::stoi(words.at(3))});
  if (words.at(0) == "memory") return read_memory(std::stod(words.at(1)));
  return refusals();
}
