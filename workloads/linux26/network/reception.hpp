// Reception of packets, as in Linux 2.6.0. A network interface with a ring of descriptors interrupts one CPU, and a softirq of
// that CPU processes the packets. Without NAPI, each interrupt moves the ring's packets to the CPU's backlog. With NAPI, an
// interrupt only schedules polling, and no further interrupt comes until polling finds the ring empty.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "workloads/program/interrupts.hpp"
#include "workloads/program/parameter_binder.hpp"
#include "workloads/program/random.hpp"
#include "workloads/program/times.hpp"
#include "workloads/program/workload.hpp"

namespace linebounce::workloads {

struct ReceptionOptions {
  std::string reception = "netif_rx";
  std::int64_t packets_per_s = 100000;
  std::int64_t packets = 10'000'000;
  std::int64_t flows = 32768;
  std::int64_t flow_length = 10;
  std::int64_t ring = 256;
  std::int64_t backlog = 300;
  std::int64_t budget = 300;
  std::int64_t weight = 64;
  double interrupts_per_s = 8000;
  std::int64_t interrupt_instructions = 1500;
  std::int64_t packet_instructions = 700;

  void bind(ParameterBinder& parameters);
};

// pktgen's packets: several flows, interleaved at random. Each flow has a given number of packets to one destination in
// 5.0.0.0/8.
class PacketSource {
 public:
  PacketSource(std::uint64_t seed, const ReceptionOptions& options);
  Value next_destination();

 private:
  struct Flow {
    std::int64_t sent = 0;
    Value destination = 0;
  };
  Random random_;
  std::int64_t flow_length_;
  std::vector<Flow> flows_;
};

class Reception {
 public:
  // `input` is called in the softirq for each packet; it returns false if it had to drop the packet.
  using Input = std::function<bool(Cpu&, Value destination)>;
  Reception(const WorkloadSetup& setting, Interrupts& interrupts, const ReceptionOptions& options, Input input);

  // Starts the interface, before the first packet. REQUIRES: the caller is the CPU that it interrupts.
  void start(Cpu& cpu);
  [[nodiscard]] int softirq() const { return softirq_; }

  struct Figures {  // figures of the measured time
    std::int64_t passed_on = 0, without_route = 0, lost_in_ring = 0, lost_in_backlog = 0, interrupts = 0;
    void report(const RunFacts& facts, MetricSink& metrics) const;
  };
  [[nodiscard]] const Figures& figures() const { return figures_; }

 private:
  [[nodiscard]] std::int64_t arrived(double now_ns) const;
  void interrupt(Cpu& cpu);
  void receive(Cpu& cpu);
  std::int64_t poll(Cpu& cpu, std::int64_t most);
  std::int64_t process_backlog(Cpu& cpu, std::int64_t most);
  void next_interrupt(Cpu& cpu);
  std::int64_t in_ring(Cpu& cpu);
  void take_from_ring(Cpu& cpu);
  void pass_on(Cpu& cpu, Value destination);

  ReceptionOptions options_;
  bool napi_;
  Input input_;
  Interrupts* interrupts_;
  Pace pace_;
  PacketSource source_;
  int vector_;
  int softirq_;
  double packet_ns_;
  Address descriptors_, queue_, buffers_;
  FunctionId interrupt_function_, netif_rx_, net_rx_action_, poll_function_;

  // State of the interface and of the CPU that it interrupts.
  std::int64_t taken_ = 0;   // packets taken from the ring, and packets lost because it was full
  std::int64_t queued_ = 0;  // packets put into the backlog so far
  std::int64_t dequeued_ = 0;
  std::vector<Value> waiting_;  // destinations of the packets in the backlog, by slot
  double first_ns_ = 0;         // arrival time of the first packet
  double may_interrupt_ns_ = 0;
  Figures figures_;
};

}  // namespace linebounce::workloads
