// A machine as a SystemC module. A processor model, traffic generator or instruction-set simulator drives each CPU's caches
// through a TLM-2.0 socket. A model of memory may answer for each node:
//
//   linebounce::systemc::Machine machine("machine", "generic_2socket_32core");
//   generator.socket.bind(machine.cpus[0]);
//   machine.memories[1].bind(my_memory.socket);  // the other nodes keep the memory that the machine's file describes
//
// The machine's cores, caches, buses, directories and links take the time that its file states, exactly as in a run of the
// `linebounce` program. Between two events of other modules, no part of the machine runs ahead of anything that these modules
// could still change.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>

// The default `home` of machines. The CMake package sets it to the installed folder.
#ifndef LINEBOUNCE_HOME
#define LINEBOUNCE_HOME ""
#endif

namespace linebounce::systemc {

// A TLM extension that makes a transaction an atomic operation, whatever its command. The transaction's data becomes the word's
// old value.
struct Atomic : tlm::tlm_extension<Atomic> {
  enum class Operation { exchange, fetch_add, compare_exchange };
  Operation operation = Operation::fetch_add;
  std::uint64_t operand = 0;   // the value to store or add
  std::uint64_t expected = 0;  // of compare_exchange

  [[nodiscard]] tlm_extension_base* clone() const override { return new Atomic(*this); }
  void copy_from(const tlm_extension_base& other) override { *this = static_cast<const Atomic&>(other); }
};

class Machine final : public sc_core::sc_module {
 public:
  // Transactions may access addresses below this limit. All memory is initially zero.
  static constexpr std::uint64_t kMemoryBytes = std::uint64_t{1} << 36;

  // `machine`: the name of a shipped machine, or a TOML file. `home`: the folder that contains configs/ and models/protocols/.
  // Errors: std::runtime_error with file, line and legal values.
  explicit Machine(const sc_core::sc_module_name& name, const std::string& machine, const std::string& home = LINEBOUNCE_HOME);
  ~Machine() override;

  using CpuSocket = tlm_utils::simple_target_socket_tagged_optional<Machine, 64>;
  using MemorySocket = tlm_utils::simple_initiator_socket_tagged_optional<Machine, 64>;

  // One socket for each CPU. b_transport() loads or stores a naturally aligned word of 1, 2, 4 or 8 bytes, or with the
  // extension Atomic executes an atomic operation on it. Other transactions get an error response. The access begins at the
  // annotated time. On return, the annotated time is when the CPU may continue; after a store, when the store buffer has
  // accepted it. A CPU executes one transaction at a time; further ones wait. REQUIRES: called by an SC_THREAD.
  sc_core::sc_vector<CpuSocket> cpus;

  // One socket for each node's memory. A bound memory receives a transaction for each line that is read or written. The
  // annotated time on return is when the first data is ready. The machine keeps the data itself: a write carries the line's
  // bytes, and the data that a read returns is ignored. The memory must not call wait(), and must take at least
  // lookahead_ns(). Errors: a fatal report (SC_REPORT_ERROR) if it violates this.
  sc_core::sc_vector<MemorySocket> memories;

  [[nodiscard]] int line_bytes() const;
  // The shortest time in which one CPU's access can affect another CPU's caches, in nanoseconds.
  [[nodiscard]] double lookahead_ns() const;

  // Makes `node` the home of the memory from `begin` to the next call's `begin`. Memory below the first `begin` follows the
  // machine's policy. REQUIRES: calls are in ascending order of `begin`, before the simulation starts; the node exists.
  void place(std::uint64_t begin, int node);

  // Number of lines transferred so far, by source as in `lines.csv`: local_c2c, local_memory, remote_memory, remote_c2c, ...
  [[nodiscard]] std::map<std::string, std::int64_t> transfers() const;

 private:
  void end_of_elaboration() override;
  void serve(int cpu, tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay);
  void run_turns();

  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace linebounce::systemc
