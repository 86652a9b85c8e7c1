// Records spans in a part of the measured time, for timeline.csv.
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
  // Records spans that overlap [from, to), and cuts them at `end`, the end of the run: a CPU's last operation may last longer.
  TimelineRecorder(Tick from, Tick to, Tick end) : from_(from), to_(to), end_(end) {}

  void function(CpuId cpu, FunctionId function, Tick from, Tick to) override;
  void sleep(CpuId cpu, Tick from, Tick to) override;
  void miss(const Miss& miss) override;
  void lock(CpuId cpu, const std::string& lock, LockPhase phase, Tick from, Tick to) override;
  void bus(int bus, BusPhase phase, int client, const std::string& message, Address line, Tick from, Tick to) override;
  void link(int from_node, int to_node, Address line, bool carries_data, Tick from, Tick to) override;
  void grace_period(std::int64_t number, Tick from, Tick to) override;

  // The content of timeline.csv, sorted by time, whatever the order of reports. REQUIRES: the simulation is over.
  [[nodiscard]] std::string csv(const AddressSpace& memory, const Timebase& timebase, int line_bytes) const;

 private:
  enum class Kind : std::uint8_t { function, sleep, miss, lock_wait, lock_hold, bus_address, bus_data, link, grace_period };
  struct Span {
    Tick from = 0, to = 0;
    Kind kind{};
    std::uint8_t access = 0;    // for misses: AccessKind
    std::uint16_t to_node = 0;  // links
    std::int32_t track = 0;     // number of the CPU or bus, or of a link's first node
    std::int64_t name = 0;      // number of a function, Source or text, or a plain number; depends on `kind`
    Address address = 0;        // only for misses, buses and links; otherwise 0
  };

  void add(Span span);
  std::int64_t number_of(const std::string& text);
  [[nodiscard]] std::string name_of(const Span& span, const AddressSpace& memory) const;
  // The row's last four columns and its line break.
  [[nodiscard]] static std::string place_columns(const Span& span, const AddressSpace& memory, int line_bytes);
  [[nodiscard]] bool before(const Span& a, const Span& b) const;

  Tick from_, to_, end_;
  std::vector<Span> spans_;
  std::map<std::string, std::int64_t> numbers_;
  std::vector<std::string> texts_;
};

}  // namespace linebounce::sim
