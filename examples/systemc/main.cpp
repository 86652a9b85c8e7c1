// Two machines in one SystemC simulation. Traffic generators on four CPUs of each add to one counter and read an array. The
// first machine keeps the memory of its file; in the second, a model of memory answers for node 0.
#include <cstdio>
#include <linebounce/systemc.hpp>
#include <memory>
#include <string>
#include <vector>

#include "open_row_memory.hpp"

class Generator final : public sc_core::sc_module {
 public:
  tlm_utils::simple_initiator_socket<Generator, 64> socket;

  Generator(const sc_core::sc_module_name& name, std::uint64_t array) : sc_module(name), socket("socket"), array_(array) {
    SC_HAS_PROCESS(Generator);
    SC_THREAD(run);
  }

  [[nodiscard]] double ns_per_addition() const { return additions_.to_seconds() * 1e9 / kRounds; }
  [[nodiscard]] double ns_per_read() const { return reads_.to_seconds() * 1e9 / kRounds; }

 private:
  static constexpr int kRounds = 200;
  static constexpr std::uint64_t kCounter = 0x1000;

  void run() {
    linebounce::systemc::Atomic add;
    add.operand = 1;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      additions_ += access(kCounter, &add);
      reads_ += access(array_ + round * 256, nullptr);
    }
  }

  // Waits until the access is over, and returns how long it took.
  sc_core::sc_time access(std::uint64_t address, linebounce::systemc::Atomic* atomic) {
    std::uint64_t value = 0;
    tlm::tlm_generic_payload transaction;
    transaction.set_command(tlm::TLM_READ_COMMAND);
    transaction.set_address(address);
    transaction.set_data_ptr(reinterpret_cast<unsigned char*>(&value));
    transaction.set_data_length(sizeof value);
    transaction.set_streaming_width(sizeof value);
    if (atomic != nullptr) transaction.set_extension(atomic);
    const sc_core::sc_time begin = sc_core::sc_time_stamp();
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    socket->b_transport(transaction, delay);
    transaction.clear_extension(atomic);
    if (!transaction.is_response_ok()) SC_REPORT_ERROR("/generator", transaction.get_response_string().c_str());
    wait(delay);
    return sc_core::sc_time_stamp() - begin;
  }

  std::uint64_t array_;
  sc_core::sc_time additions_, reads_;
};

struct Workplace {
  Workplace(const std::string& name, const std::string& file) : machine(name.c_str(), file) {
    machine.place(0, 0);
    for (int cpu = 0; cpu < 4; ++cpu) {
      const std::uint64_t array = 0x102000 * static_cast<std::uint64_t>(cpu + 1);  // each CPU's data is in another bank
      generators.push_back(std::make_unique<Generator>((name + "_generator" + std::to_string(cpu)).c_str(), array));
      generators.back()->socket.bind(machine.cpus[static_cast<std::size_t>(cpu)]);
    }
  }
  void print() const {
    double addition = 0, read = 0;
    for (const auto& generator : generators) {
      addition += generator->ns_per_addition() / static_cast<double>(generators.size());
      read += generator->ns_per_read() / static_cast<double>(generators.size());
    }
    std::printf("%s: %.1f ns an addition, %.1f ns a read;", machine.name(), addition, read);
    for (const auto& [source, count] : machine.transfers())
      std::printf(" %s %lld", source.c_str(), static_cast<long long>(count));
    std::printf("\n");
  }

  linebounce::systemc::Machine machine;
  std::vector<std::unique_ptr<Generator>> generators;
};

int sc_main(int, char**) {
  const Workplace old("p3_xeon_4way", "p3_xeon_4way");
  Workplace present("generic_2socket_32core", "generic_2socket_32core");
  OpenRowMemory memory("memory");
  present.machine.memories[0].bind(memory.socket);
  sc_core::sc_start();
  old.print();
  present.print();
  std::printf("memory: %d of %d accesses found their row open\n", memory.open_rows(), memory.accesses());
  return 0;
}
