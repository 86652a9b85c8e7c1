// Compares one counter for all CPUs with a counter for each CPU, to show what the bouncing line costs.
#include <cstdio>
#include <exception>
#include <linebounce/linebounce.hpp>
#include <vector>

namespace lb = linebounce::library;

namespace {

constexpr int kAdditions = 100;

// Each CPU adds to one of `lines`, in turn. Then the CPU that finishes first waits for the others, and reads the sums.
lb::Statistics count(const char* machine, bool shared) {
  lb::Simulation simulation(machine);
  const int cpus = simulation.cpus();
  const lb::Address counters =
      simulation.place("counter", shared ? 8 : static_cast<std::int64_t>(cpus) * simulation.line_bytes());
  const lb::Address finished = simulation.place("finished", 8);
  lb::Value sum = 0;
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const lb::Address mine = counters + static_cast<lb::Address>(shared ? 0 : cpu * simulation.line_bytes());
    simulation.program(cpu, [&, mine](lb::Cpu& self) {
      for (int addition = 0; addition < kAdditions; ++addition) {
        self.fetch_add(mine, 1);
        self.compute(100);
      }
      self.fetch_add(finished, 1);
      if (self.number() != 0) return;
      self.spin_until(finished, [=](lb::Value value) { return value == static_cast<lb::Value>(cpus); });
      const int lines = shared ? 1 : cpus;
      for (int line = 0; line < lines; ++line) {
        sum += self.load(counters + static_cast<lb::Address>(line * simulation.line_bytes()));
      }
    });
  }
  lb::Statistics statistics = simulation.run();
  std::printf("%-8s %6.0f ns, sum %llu", shared ? "shared" : "by CPU", statistics.time_ns,
              static_cast<unsigned long long>(sum));
  for (const auto& [kind, number] : statistics.transfers.count)
    std::printf(", %s %lld", kind.c_str(), static_cast<long long>(number));
  const lb::LineCost& worst = statistics.lines.front();
  std::printf("; worst: %s line %lld, %.0f ns\n", worst.object.c_str(), static_cast<long long>(worst.line),
              worst.transfers.total_latency_ns);
  return statistics;
}

}  // namespace

int main(int argc, char** argv) try {
  const char* machine = argc > 1 ? argv[1] : "p3_xeon_4way";
  const lb::Statistics shared = count(machine, true);
  const lb::Statistics own = count(machine, false);
  return shared.time_ns > own.time_ns ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
