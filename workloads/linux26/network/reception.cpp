#include "workloads/linux26/network/reception.hpp"

#include <algorithm>

namespace linebounce::workloads {
namespace {

constexpr std::int64_t kDescriptorBytes = 16;
constexpr std::int64_t kPacketBytes = 256;  // a packet of 60 bytes with the kernel's data for it
constexpr double kReceiveCpi = 1.0;
constexpr std::uint64_t kFlowStream = 7;  // the stream of random numbers
constexpr Value kNetwork = Value{5} << 24;

}  // namespace

void ReceptionOptions::bind(ParameterBinder& parameters) {
  parameters.text("reception", reception, "how packets get from the interface to the softirq", {"netif_rx", "napi"});
  parameters.number("packets_per_s", packets_per_s, 1, 1e7, "that come in, one after the other at equal distances");
  parameters.number("packets", packets, 1, 1e9, "then no more come");
  parameters.number("flows", flows, 1, 1e6, "under way at once");
  parameters.number("flow_length", flow_length, 1, 1e6, "packets to a destination before the flow draws a new one");
  parameters.number("ring", ring, 1, 4096, "packets that the interface has room for");
  parameters.number("backlog", backlog, 1, 1e6, "packets that a CPU's queue has room for, without NAPI (netdev_max_backlog)");
  parameters.number("budget", budget, 1, 1e6, "packets of a softirq before others have their turn");
  parameters.number("weight", weight, 1, 1e6, "packets before the next device has its turn");
  parameters.number("interrupts_per_s", interrupts_per_s, 1, 1e7, "at most, by the interface's own doing");
  parameters.number("interrupt_instructions", interrupt_instructions, 0, 1e6, "of an interrupt, beside its packets");
  parameters.number("packet_instructions", packet_instructions, 0, 1e6, "of the driver, for each packet");
}

PacketSource::PacketSource(std::uint64_t seed, const ReceptionOptions& options)
    : random_(seed, 0, kFlowStream), flow_length_(options.flow_length), flows_(options.flows) {}

Value PacketSource::next_destination() {
  Flow& flow = flows_[random_.below(flows_.size())];
  if (flow.sent == 0 || flow.sent >= flow_length_) {
    flow.destination = kNetwork | random_.below(Value{1} << 24);
    flow.sent = 0;
  }
  ++flow.sent;
  return flow.destination;
}

Reception::Reception(const WorkloadSetup& setting, Interrupts& interrupts, const ReceptionOptions& options, Input input)
    : options_(options),
      napi_(options.reception == "napi"),
      input_(std::move(input)),
      interrupts_(&interrupts),
      pace_(kReceiveCpi, setting.machine),
      source_(setting.seed, options),
      vector_(interrupts.add_handler([this](Cpu& cpu, FunctionId) { interrupt(cpu); })),
      softirq_(interrupts.add_softirq([this](Cpu& cpu) { receive(cpu); })),
      packet_ns_(1e9 / static_cast<double>(options.packets_per_s)),
      descriptors_(setting.memory.place_array("rx_ring", options.ring * kDescriptorBytes)),
      queue_(setting.memory.place_array("softnet_data", options.backlog * 8)),
      buffers_(setting.memory.place_array("skbuff_data", (options.ring + options.backlog) * kPacketBytes)),
      interrupt_function_(setting.memory.function("e1000_intr", Mode::kernel)),
      netif_rx_(setting.memory.function("netif_rx", Mode::kernel)),
      net_rx_action_(setting.memory.function("net_rx_action", Mode::kernel)),
      poll_function_(setting.memory.function("e1000_clean", Mode::kernel)),
      waiting_(options.backlog) {}

void Reception::start(Cpu& cpu) {
  first_ns_ = cpu.now_ns() + packet_ns_;
  cpu.set_timer(packet_ns_, vector_);
}

std::int64_t Reception::arrived(double now_ns) const {
  if (now_ns < first_ns_) return 0;
  return std::min(options_.packets, static_cast<std::int64_t>((now_ns - first_ns_) / packet_ns_) + 1);
}

// The number of packets in the ring now. Packets that arrive while it is full are lost.
std::int64_t Reception::in_ring(Cpu& cpu) {
  const std::int64_t all = arrived(cpu.now_ns());
  const std::int64_t lost = std::max<std::int64_t>(0, all - taken_ - options_.ring);
  for (std::int64_t i = 0; i < lost; ++i) source_.next_destination();
  taken_ += lost;
  if (cpu.measures(cpu.local_time())) figures_.lost_in_ring += lost;
  return all - taken_;
}

// Takes the next packet: reads its descriptor, which the interface wrote, and its header.
void Reception::take_from_ring(Cpu& cpu) {
  const auto place = static_cast<Address>(taken_ % options_.ring);
  cpu.load(descriptors_ + place * kDescriptorBytes);
  cpu.store(descriptors_ + place * kDescriptorBytes, 0);
  const auto buffer = static_cast<Address>(taken_ % (options_.ring + options_.backlog));
  cpu.load(buffers_ + buffer * kPacketBytes);
  pace_.pass(cpu, options_.packet_instructions);
  ++taken_;
}

// Sets the time of the next interrupt: when the next packet arrives, but not before the minimum interval since the previous
// interrupt has passed.
void Reception::next_interrupt(Cpu& cpu) {
  if (taken_ >= options_.packets) return;
  const double now_ns = cpu.now_ns();
  const double next_packet_ns = first_ns_ + static_cast<double>(taken_) * packet_ns_;
  const double at_ns = std::max({next_packet_ns, may_interrupt_ns_, now_ns});
  cpu.set_timer(at_ns - now_ns, vector_);
}

void Reception::interrupt(Cpu& cpu) {
  const FunctionScope scope(cpu, interrupt_function_);
  may_interrupt_ns_ = cpu.now_ns() + 1e9 / options_.interrupts_per_s;
  if (cpu.measures(cpu.local_time())) ++figures_.interrupts;
  pace_.pass(cpu, options_.interrupt_instructions);
  if (napi_) {
    interrupts_->raise(cpu, softirq_);
    return;
  }
  for (std::int64_t packets = in_ring(cpu); packets > 0; --packets) {
    take_from_ring(cpu);
    const Value destination = source_.next_destination();
    const FunctionScope queueing(cpu, netif_rx_);
    if (queued_ - dequeued_ >= options_.backlog) {
      if (cpu.measures(cpu.local_time())) ++figures_.lost_in_backlog;
      continue;
    }
    const std::size_t place = queued_ % options_.backlog;
    cpu.store(queue_ + place * 8, destination);
    waiting_[place] = destination;
    ++queued_;
  }
  interrupts_->raise(cpu, softirq_);
  next_interrupt(cpu);
}

// net_rx_action(): handles packets until none is left, the budget is used up, or a jiffy has passed.
void Reception::receive(Cpu& cpu) {
  const FunctionScope scope(cpu, net_rx_action_);
  const double began_ns = cpu.now_ns();
  std::int64_t budget = options_.budget;
  for (;;) {
    const std::int64_t most = std::min(budget, options_.weight);
    const std::int64_t done = napi_ ? poll(cpu, most) : process_backlog(cpu, most);
    budget -= done;
    if (done < most) {
      if (napi_) next_interrupt(cpu);
      return;
    }
    if (budget <= 0 || cpu.now_ns() - began_ns > 1e6) break;
  }
  interrupts_->raise(cpu, softirq_);
}

std::int64_t Reception::poll(Cpu& cpu, std::int64_t most) {
  const FunctionScope scope(cpu, poll_function_);
  std::int64_t done = 0;
  for (std::int64_t packets = std::min(most, in_ring(cpu)); done < packets; ++done) {
    take_from_ring(cpu);
    pass_on(cpu, source_.next_destination());
  }
  return done;
}

// Takes packets off the backlog, each with interrupts disabled.
std::int64_t Reception::process_backlog(Cpu& cpu, std::int64_t most) {
  std::int64_t done = 0;
  for (; done < most; ++done) {
    cpu.disable_interrupts();
    const bool empty = queued_ == dequeued_;
    const std::size_t place = dequeued_ % options_.backlog;
    if (!empty) {
      cpu.load(queue_ + place * 8);
      ++dequeued_;
    }
    const Value destination = waiting_[place];
    cpu.enable_interrupts();
    if (empty) break;
    pass_on(cpu, destination);
  }
  return done;
}

void Reception::pass_on(Cpu& cpu, Value destination) {
  const bool passed = input_(cpu, destination);
  if (!cpu.measures(cpu.local_time())) return;
  ++(passed ? figures_.passed_on : figures_.without_route);
}

void Reception::Figures::report(const RunFacts& facts, MetricSink& metrics) const {
  metrics.count("packets.passed_on", "", kHigher, "packets that were routed", passed_on);
  metrics.count("packets.without_route", "", kLower, "packets that were dropped, for there was no memory for a route",
                without_route);
  metrics.count("packets.lost_in_ring", "", kLower, "packets that came when the interface's ring was full", lost_in_ring);
  metrics.count("packets.lost_in_backlog", "", kLower, "packets that found the CPU's queue full", lost_in_backlog);
  metrics.value("packets.interrupts_per_s", "1/s", kNeither, "of the interface",
                static_cast<double>(interrupts) / facts.measured_ns * 1e9, kDetail);
}

}  // namespace linebounce::workloads
