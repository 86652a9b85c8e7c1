// Records the spans of a part of the measured time, for timeline.csv.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "models/machine/machine.hpp"
#include "models/timeline.hpp"
#include "workloads/program/address_space.hpp"

namespace linebounce::sim {

using namespace workloads;

class TimelineRecorder final : public Timeline {
 public:
  // Records spans that overlap [from, to). Cuts them off at `end`, the end of the run, because a CPU's last operation may
  // last beyond it.
  TimelineRecorder(Tick from, Tick to, Tick end) : from_(from), to_(to), end_(end) {}

  void function(CpuId cpu, FunctionId function, Tick from, Tick to) override;
  void sleep(CpuId cpu, Tick from, Tick to) override;
  void miss(const Miss& miss) override;
  void lock(CpuId cpu, const std::string& lock, LockPhase phase, Tick from, Tick to) override;
  void bus(int bus, BusPhase phase, int client, const std::string& message, Address line, Tick from, Tick to) override;
  void link(int from_node, int to_node, Address line, bool carries_data, Tick from, Tick to) override;
  void grace_period(std::int64_t number, Tick from, Tick to) override;

  // The content of timeline.csv, sorted by time; the order of the reports has no influence. REQUIRES: the simulation is over.
  [[nodiscard]] std::string csv(const AddressSpace& memory, const Timebase& timebase, int line_bytes) const;

 private:
  enum class Kind : std::uint8_t { function, sleep, miss, lock_wait, lock_hold, bus_address, bus_data, link, grace_period };
  struct Span {
    Tick from = 0, to = 0;
    Kind kind{};
    std::uint8_t access = 0;    // for misses: AccessKind
    std::uint16_t to_node = 0;  // links
    std::int32_t track = 0;     // number of the CPU, bus or first node
    std::int64_t name = 0;      // the number of a function, a Source or a text; or a plain number
    Address address = 0;        // for misses, buses and links
  };

  void add(Span span);
  std::int64_t number_of(const std::string& text);
  [[nodiscard]] std::string name_of(const Span& span, const AddressSpace& memory) const;
  // The last four columns, and the end of the line.
  [[nodiscard]] static std::string place_columns(const Span& span, const AddressSpace& memory, int line_bytes);
  [[nodiscard]] bool before(const Span& a, const Span& b) const;

  Tick from_, to_, end_;
  std::vector<Span> spans_;
  std::map<std::string, std::int64_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace linebounce::sim
