// Every CPU sends packets to itself through the loopback device, as tbench's clients and servers do (Linux 2.6.13). A packet
// touches two counts that all CPUs share, each twice:
// - the route's (dst_entry.__refcnt): dst_clone() in ip_queue_xmit(), dst_release() when its buffer is freed;
// - the device's (net_device.refcnt): dev_hold() in netif_rx(), dev_put() in process_backlog().
// All connections to the loopback address use one route. The device's count has a line to itself; the route's lies among fields
// that every packet reads (dev, obsolete, metrics), so that it makes those reads miss, too: when tcp_sendmsg() begins and in
// ip_queue_xmit().
#include <optional>

#include "workloads/counters/counter_registry.hpp"
#include "workloads/counters/counter_trial.hpp"
#include "workloads/linux24/kernel/kernel_base.hpp"
#include "workloads/program/throughput.hpp"
#include "workloads/program/workload_entry.hpp"

namespace linebounce::workloads {
namespace {

constexpr int kPackets = 0;  // tally

// How a packet's time is divided, in percent; assumed. Before the route is read; until the packet is in the device's queue;
// until it is in the socket; until the reader frees it; and in the reader's own code.
constexpr std::int64_t kSend = 35;
constexpr std::int64_t kTransmit = 15;
constexpr std::int64_t kReceive = 25;
constexpr std::int64_t kReadCycles = 15;
constexpr std::int64_t kUser = 10;

// Fields of a route other than its count.
constexpr int kRouteDevice = 16;
constexpr int kObsolete = 24;
constexpr int kMtu = 28;

struct NetdevRefcountOptions {
  std::string device_count = "atomic";
  std::string route_count = "atomic";
  std::int64_t packet_cycles = 20000;
  RcuOptions rcu;

  void bind(ParameterBinder& parameters) {
    counter_parameter(parameters, "device_count", device_count, "how references of the device are counted",
                      {.references = true});
    counter_parameter(parameters, "route_count", route_count, "how references of the route are counted", {.events = true});
    parameters.number("packet_cycles", packet_cycles, 100, 1e9,
                      "mean computed for a packet beside its counts, from the sender's system call to the reader's");
    rcu.bind(parameters);
  }
};

class NetdevRefcount final : public Workload {
 public:
  explicit NetdevRefcount(const Parameters& parameters) : options_(read_options<NetdevRefcountOptions>(parameters)) {}

  void set_up(const WorkloadSetup& setting) override {
    seed_ = setting.seed;
    kernel_ = std::make_unique<KernelBase>(setting, options_.rcu, setting.memory.line_bytes());
    const int line = setting.memory.line_bytes();
    const Layout route{.name = "dst_entry",
                       .size = 2 * line,
                       .fields = {{"__refcnt", 0, kCounterBytes},
                                  {"dev", kRouteDevice},
                                  {"obsolete", kObsolete, 4},
                                  {"mtu", kMtu, 4},
                                  {"output", line}}};
    route_ = setting.memory.place(route, "route", line);
    output_ = route_ + static_cast<Address>(line);
    const CounterEntry& of_route = find_counter(options_.route_count, setting.counters);
    const CounterPlace route_place = kernel_->counter_place("route_count", route_);
    route_count_ = of_route.create_counter(route_place);
    const Layout device{.name = "net_device", .size = 2 * line, .fields = {{"features", 0}, {"refcnt", line, kCounterBytes}}};
    device_ = setting.memory.place(device, "loopback", line);
    const CounterEntry& of_device = find_counter(options_.device_count, setting.counters);
    const CounterPlace device_place = kernel_->counter_place("device_count", device_ + static_cast<Address>(line));
    device_count_ = of_device.create_reference_count(device_place);
    trials_.emplace(setting).add(of_route, route_place, false);
    trials_->add(of_device, device_place, true);
    sendmsg_ = setting.memory.function("tcp_sendmsg", Mode::kernel);
    queue_xmit_ = setting.memory.function("ip_queue_xmit", Mode::kernel);
    netif_rx_ = setting.memory.function("netif_rx", Mode::kernel);
    process_backlog_ = setting.memory.function("process_backlog", Mode::kernel);
    recvmsg_ = setting.memory.function("tcp_recvmsg", Mode::kernel);
  }

  void run(Cpu& cpu) override {
    kernel_->rcu().start(cpu);
    trials_->run(cpu);
    Random random(seed_, static_cast<std::uint64_t>(cpu.id().value), 0);
    for (;;) {
      send(cpu, random);
      transmit(cpu, random);
      receive(cpu, random);
      read(cpu, random);
      const std::int64_t user = KernelBase::around(random, options_.packet_cycles * kUser / 100);
      kernel_->compute_in_user_mode(cpu, user);
      kernel_->rcu().quiescent(cpu);  // waking the reader is a context switch
      cpu.tally(kPackets);
    }
  }

  void report(const RunFacts& facts, MetricSink& metrics) const override { report_throughput(facts, kPackets, metrics); }

 private:
  void compute(Cpu& cpu, Random& random, std::int64_t hundredths) const {
    const std::int64_t cycles = KernelBase::around(random, options_.packet_cycles * hundredths / 100);
    cpu.compute(cycles);
  }

  void send(Cpu& cpu, Random& random) {
    const FunctionScope scope(cpu, sendmsg_);
    cpu.load(route_ + kMtu, 4);  // tcp_current_mss(): reads the largest segment size
    compute(cpu, random, kSend);
  }
  void transmit(Cpu& cpu, Random& random) {
    const FunctionScope scope(cpu, queue_xmit_);
    cpu.load(route_ + kObsolete, 4);  // checks that the route is still valid
    route_count_->add(cpu, 1);        // the packet keeps this reference to the route
    cpu.load(route_ + kMtu, 4);       // does the packet fit?
    cpu.load(output_);
    cpu.load(route_ + kRouteDevice);
    compute(cpu, random, kTransmit);
    cpu.load(device_);
  }
  void receive(Cpu& cpu, Random& random) {
    {
      const FunctionScope scope(cpu, netif_rx_);
      device_count_->get(cpu);  // held until the packet leaves the CPU's queue
    }
    const FunctionScope scope(cpu, process_backlog_);
    compute(cpu, random, kReceive);
    device_count_->put(cpu);
  }
  void read(Cpu& cpu, Random& random) {
    const FunctionScope scope(cpu, recvmsg_);
    compute(cpu, random, kReadCycles);
    route_count_->add(cpu, -1);
  }

  NetdevRefcountOptions options_;
  std::uint64_t seed_ = 0;
  std::unique_ptr<KernelBase> kernel_;
  std::unique_ptr<Counter> route_count_;
  std::unique_ptr<ReferenceCount> device_count_;
  std::optional<CounterTrials> trials_;
  Address route_ = 0, output_ = 0, device_ = 0;
  FunctionId sendmsg_ = 0, queue_xmit_ = 0, netif_rx_ = 0, process_backlog_ = 0, recvmsg_ = 0;
};

}  // namespace

WorkloadEntry netdev_refcount_workload() {
  return {"netdev_refcount",
          "Packets through the loopback device, each touching the device's and the route's reference counts",
          declare<NetdevRefcountOptions>(),
          make_workload<NetdevRefcount>,
          {headlines::kOperations, headlines::kLatency}};
}

}  // namespace linebounce::workloads
