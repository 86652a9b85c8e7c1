// The controller of a group of node controllers, or of smaller groups. Its members see it as a directory; its parent sees it as
// a cache. It runs a protocol's `group` table, and has the group's shared cache and snoop filter.
#pragma once

#include <systemc>
#include <vector>

#include "models/coherence/controller_step.hpp"
#include "models/coherence/transition_log.hpp"
#include "models/network/network.hpp"
#include "models/node/kept_data.hpp"
#include "models/node/line_places.hpp"

namespace linebounce {

class GroupController final : public sc_core::sc_module, public NetworkEndpoint {
 public:
  // `number`: the group's index in MachineLayout::groups.
  GroupController(sc_core::sc_module_name name, int number, const MachineContext& machine, const Protocol& protocol,
                  Network& network);

  void receive(PacketIndex packet, Tick at) override;

  [[nodiscard]] std::string describe_pending() const;

 private:
  // Where a line's data came from. The controller reports this to the next receiver of the data.
  struct Origin {
    bool shared = false;      // true if from a group's cache
    bool from_cache = false;  // true if from a group's or a member's cache
    int node = 0;
  };
  struct Line {
    ControllerEntry entry;
    Origin origin;
    std::uint32_t data = KeptData::kNone;
    Version version = 0;
  };
  struct Outbox;

  Line& line(Slot slot);
  [[nodiscard]] Side side_of(const Packet& packet) const;
  [[nodiscard]] bool process(PacketIndex packet, Tick at);
  void settle(Slot slot, Tick at);
  void keep_place(LinePlaces& places, Storage of, Slot slot, bool had, bool used, Tick at);
  StepResult step(Slot slot, std::size_t base, Side side, const Packet* packet, const std::byte* data, Tick at);
  [[noreturn]] void fail(const std::string& what, Slot slot) const;

  const int number_;
  const MachineLayout::Group& place_;
  const int endpoint_;
  const Protocol& protocol_;
  const ControllerRules rules_;
  LineStore& store_;
  TransitionLog& log_;
  Network& network_;
  Tick latency_;        // time of a pass through the controller
  Tick cache_latency_;  // time from look-up to first data
  LinePlaces cache_places_, filter_places_;

  std::vector<Line> lines_;  // indexed by slot
  KeptData data_;
  std::vector<PacketIndex> stalled_;  // messages in the order of arrival
};

}  // namespace linebounce
