// A machine as a SystemC module. A processor model, traffic generator or instruction-set simulator drives each CPU's caches
// through a TLM-2.0 socket, and a model of memory may answer for each node:
//
//   linebounce::systemc::Machine machine("machine", "generic_2socket_32core");
//   generator.socket.bind(machine.cpus[0]);
//   machine.memories[1].bind(my_memory.socket);  // the other nodes keep the memory that the machine's file describes
//
// Its cores, caches, buses, directories and links take the time that the machine's file states, exactly as in a run of the
// `linebounce` program. Between two modules' events nothing of the machine runs ahead that they could still change.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>

// The home of machines that name none. The CMake package defines it: the folder that was installed with it.
#ifndef LINEBOUNCE_HOME
#define LINEBOUNCE_HOME ""
#endif

namespace linebounce::systemc {

// Makes a transaction an atomic operation, whatever its command. Its data is the word's value before the operation.
struct Atomic : tlm::tlm_extension<Atomic> {
  enum class Operation { exchange, fetch_add, compare_exchange };
  Operation operation = Operation::fetch_add;
  std::uint64_t operand = 0;   // what is stored or added
  std::uint64_t expected = 0;  // of compare_exchange

  [[nodiscard]] tlm_extension_base* clone() const override { return new Atomic(*this); }
  void copy_from(const tlm_extension_base& other) override { *this = static_cast<const Atomic&>(other); }
};

class Machine final : public sc_core::sc_module {
 public:
  // Transactions may access the addresses below this. All memory is zero at first.
  static constexpr std::uint64_t kMemoryBytes = std::uint64_t{1} << 36;

  // `machine`: a machine that ships, or a TOML file. `home`: the folder with configs/ and models/protocols/ whose machines and
  // protocols have names. Errors: std::runtime_error with file, line and legal values.
  explicit Machine(const sc_core::sc_module_name& name, const std::string& machine, const std::string& home = LINEBOUNCE_HOME);
  ~Machine() override;

  using CpuSocket = tlm_utils::simple_target_socket_tagged_optional<Machine, 64>;
  using MemorySocket = tlm_utils::simple_initiator_socket_tagged_optional<Machine, 64>;

  // One for each CPU. b_transport() loads, stores or, with the Atomic extension, operates on a word of 1, 2, 4 or 8 bytes at a
  // multiple of its size; anything else gets an error response. The access begins at the annotated time, and the annotated time
  // on return is when the CPU may go on: for a store, when the store buffer has taken it. A CPU runs one transaction at a time;
  // others wait. REQUIRES: called by an SC_THREAD.
  sc_core::sc_vector<CpuSocket> cpus;

  // One for each node's memory. A bound memory is told each line that is read or written, and the annotated time on return is
  // when the first data is ready. The machine keeps the data itself: what is written has the line's bytes, and what a read
  // returns is ignored. The memory must not wait(), and takes at least lookahead_ns(). Errors: a fatal report (SC_REPORT_ERROR)
  // if it does otherwise.
  sc_core::sc_vector<MemorySocket> memories;

  [[nodiscard]] int line_bytes() const;
  // The shortest time after which one CPU's access can reach another CPU's caches.
  [[nodiscard]] double lookahead_ns() const;

  // Makes `node` the home of the memory from `begin` on, up to the next call's `begin`; other memory follows the machine's
  // policy. REQUIRES: called in the order of addresses, before the simulation starts; the node exists.
  void place(std::uint64_t begin, int node);

  // The lines that were moved so far, by the names of `lines.csv`: local_c2c, local_memory, remote_memory, remote_c2c, ...
  [[nodiscard]] std::map<std::string, std::int64_t> transfers() const;

 private:
  void end_of_elaboration() override;
  void serve(int cpu, tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  void run_turns();

  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace linebounce::systemc
