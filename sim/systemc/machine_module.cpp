// Implements the public SystemC module with Machine.
//
// The machine executes tick T one SystemC time unit after T, when all modules have finished their work at T. Whatever a module
// does later reaches caches only after a lookahead, so cores run ahead up to there and no further.
#include <fmt/format.h>

#include <array>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "models/machine/machine.hpp"
#include "models/ordinal.hpp"
#include "sim/config/machine_files.hpp"
#include "sim/statistics/source_names.hpp"
#include "sim/systemc/clock.hpp"
#include "sim/systemc/outside_memory.hpp"
#include "sim/systemc/systemc.hpp"

namespace linebounce::systemc {
namespace {

constexpr const char* kReports = "/linebounce/machine";

class Counts final : public Observer {
 public:
  void miss(const Miss& miss) override { ++counts_[ordinal(miss.source)]; }
  [[nodiscard]] std::map<std::string, std::int64_t> by_name() const {
    std::map<std::string, std::int64_t> named;
    for (std::size_t source = 0; source < counts_.size(); ++source) {
      if (counts_[source] > 0) named[sim::kSourceNames[source]] = counts_[source];
    }
    return named;
  }

 private:
  std::array<std::int64_t, kSources> counts_{};
};

struct Request {
  Address address = 0;
  int bytes = 0;
  tlm::tlm_command command = tlm::TLM_READ_COMMAND;
  const Atomic* atomic = nullptr;
  Value value = 0;  // in: the value to store; out: the result
  Tick ended = 0;
};

// The error response if the CPU can't execute the transaction; none if it can.
std::optional<tlm::tlm_response_status> refusal(const tlm::tlm_generic_payload& transaction) {
  const unsigned bytes = transaction.get_data_length();
  const bool is_word = bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
  if (transaction.get_byte_enable_ptr() != nullptr) return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  if (!is_word || transaction.get_streaming_width() < bytes) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (transaction.get_address() >= Machine::kMemoryBytes || transaction.get_address() % bytes != 0)
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (transaction.get_extension<Atomic>() == nullptr && transaction.get_command() == tlm::TLM_IGNORE_COMMAND)
    return tlm::TLM_COMMAND_ERROR_RESPONSE;
  return std::nullopt;
}

}  // namespace

class Machine::Implementation {
 public:
  explicit Implementation(const sim::MachineFiles& files)
      : machine_(files.spec, files.protocols, EngineSpec{.line_history = true}, 0, 0, counts_), clock_(machine_.timebase()) {
    for (int cpu = 0; cpu < machine_.cpus(); ++cpu) {
      Server& server = *servers_.emplace_back(std::make_unique<Server>());
      machine_.set_program(cpu, [&server](linebounce::Cpu& self) {
        for (;;) {
          self.sleep();  // until serve() has set a request for this CPU
          server.answer(self);
        }
      });
    }
    machine_.set_functions(1);
    machine_.expect_requests();
  }
  ~Implementation() { machine_.unwind_programs(); }
  Implementation(const Implementation&) = delete;
  Implementation& operator=(const Implementation&) = delete;

  [[nodiscard]] linebounce::Machine& machine() { return machine_; }
  [[nodiscard]] const Counts& counts() const { return counts_; }

  void bind_memory(int node, MemorySocket& socket) {
    const auto transport = [&socket](tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
      socket->b_transport(transaction, delay);
    };
    memories_.push_back(std::make_unique<sim::OutsideMemory>(socket.name(), transport, machine_));
    machine_.set_memory(node, *memories_.back());
  }

  // Runs a request on the CPU, beginning `delay` after now. Sets `delay` to the time until its end.
  void serve(int cpu, Request& request, sc_core::sc_time& delay) {
    Server& server = *servers_[static_cast<std::size_t>(cpu)];
    const sc_core::sc_time begin = sc_core::sc_time_stamp() + delay;
    server.busy.lock();
    server.request = &request;
    const Tick at = std::max(clock_.nearest_tick(begin), machine_.now());
    machine_.wake(cpu, at);
    due_.notify(until(at));
    sc_core::wait(server.answered);
    server.busy.unlock();
    const sc_core::sc_time ended = clock_.time(request.ended);
    const sc_core::sc_time& now = sc_core::sc_time_stamp();
    delay = ended > now ? ended - now : sc_core::SC_ZERO_TIME;
  }

  void run_turns() {
    if (sc_core::sc_time_stamp() > sc_core::SC_ZERO_TIME) machine_.run_turns(clock_.first_tick(sc_core::sc_time_stamp()));
    if (machine_.next_turn() != kNever) due_.notify(until(machine_.next_turn()));
  }
  [[nodiscard]] const sc_core::sc_event& due() const { return due_; }

 private:
  struct Server {
    sc_core::sc_mutex busy;
    sc_core::sc_event answered;
    Request* request = nullptr;

    void answer(linebounce::Cpu& self) {
      Request& it = *std::exchange(request, nullptr);
      if (it.atomic != nullptr) {
        it.value = operate(self, it);
      } else if (it.command == tlm::TLM_READ_COMMAND) {
        it.value = self.load(it.address, it.bytes);
      } else {
        self.store(it.address, it.value, it.bytes);
      }
      it.ended = self.now();
      answered.notify(sc_core::SC_ZERO_TIME);
    }
    static Value operate(linebounce::Cpu& self, const Request& it) {
      switch (it.atomic->operation) {
        case Atomic::Operation::exchange: return self.exchange(it.address, it.atomic->operand, it.bytes);
        case Atomic::Operation::fetch_add: return self.fetch_add(it.address, it.atomic->operand, it.bytes);
        case Atomic::Operation::compare_exchange: break;
      }
      return self.compare_exchange(it.address, it.atomic->expected, it.atomic->operand, it.bytes);
    }
  };

  // Time from now until the machine may execute this tick: one unit after the tick.
  [[nodiscard]] sc_core::sc_time until(Tick tick) const {
    return clock_.time(tick) + sc_core::sc_get_time_resolution() - sc_core::sc_time_stamp();
  }

  Counts counts_;
  linebounce::Machine machine_;
  sim::Clock clock_;
  std::vector<std::unique_ptr<Server>> servers_;  // by CPU
  std::vector<std::unique_ptr<sim::OutsideMemory>> memories_;
  sc_core::sc_event due_;
};

Machine::Machine(const sc_core::sc_module_name& name, const std::string& machine, const std::string& home)
    : sc_module(name), cpus("cpus"), memories("memories") {
  implementation_ = std::make_unique<Implementation>(sim::read_machine_files(machine, home));
  cpus.init(static_cast<std::size_t>(implementation_->machine().cpus()));
  memories.init(static_cast<std::size_t>(implementation_->machine().layout().nodes()));
  for (int cpu = 0; cpu < static_cast<int>(cpus.size()); ++cpu)
    cpus[static_cast<std::size_t>(cpu)].register_b_transport(this, &Machine::serve, cpu);
  SC_HAS_PROCESS(Machine);
  SC_METHOD(run_turns);
  sensitive << implementation_->due();
}

Machine::~Machine() = default;

void Machine::end_of_elaboration() {
  for (std::size_t node = 0; node < memories.size(); ++node) {
    if (memories[node].size() > 0) implementation_->bind_memory(static_cast<int>(node), memories[node]);
  }
}

int Machine::line_bytes() const {
  return implementation_->machine().store().line_bytes();
}

double Machine::lookahead_ns() const {
  return implementation_->machine().timebase().to_ns(implementation_->machine().lookahead());
}

void Machine::place(std::uint64_t begin, int node) {
  implementation_->machine().homes().place(begin, Home::on(node));
}

std::map<std::string, std::int64_t> Machine::transfers() const {
  return implementation_->counts().by_name();
}

void Machine::serve(int cpu, tlm::tlm_generic_payload& transaction, sc_core::sc_time& delay) {
  if (const auto refused = refusal(transaction)) {
    transaction.set_response_status(*refused);
    return;
  }
  Request request{.address = transaction.get_address(),
                  .bytes = static_cast<int>(transaction.get_data_length()),
                  .command = transaction.get_command(),
                  .atomic = transaction.get_extension<Atomic>(),
                  .value = 0,
                  .ended = 0};
  std::memcpy(&request.value, transaction.get_data_ptr(), transaction.get_data_length());
  const bool gives_value = request.atomic != nullptr || request.command == tlm::TLM_READ_COMMAND;
  implementation_->serve(cpu, request, delay);
  if (gives_value) std::memcpy(transaction.get_data_ptr(), &request.value, transaction.get_data_length());
  transaction.set_response_status(tlm::TLM_OK_RESPONSE);
}

void Machine::run_turns() {
  try {
    implementation_->run_turns();
  } catch (const std::exception& error) {
    SC_REPORT_ERROR(kReports, error.what());
  }
}

}  // namespace linebounce::systemc
