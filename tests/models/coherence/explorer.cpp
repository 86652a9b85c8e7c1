#include "tests/models/coherence/explorer.hpp"

#include <fmt/format.h>

#include <fstream>
#include <sstream>

namespace linebounce::test {
namespace {

struct Violation {
  std::string text;
};

// The Copies that the functions of bus_order.hpp act on: a World and what may go wrong with it.
class WorldCopies {
 public:
  WorldCopies(const Protocol& protocol, World& world, int caches, bool skip_absent, Exploration& found)
      : protocol_(protocol), world_(world), caches_(caches), skip_absent_(skip_absent), found_(found) {}

  const std::vector<int>& snoopers(MessageId message) {
    const bool skip = skip_absent_ && protocol_.messages[message].absent_ignores;
    snoopers_.clear();
    for (int cache = 0; cache < caches_; ++cache) {
      if (!skip || world_.caches[cache].state != 0) snoopers_.push_back(cache);
    }
    return snoopers_;
  }
  StateId state(int cache) { return world_.caches[cache].state; }
  StateId memory_state() { return world_.memory_state; }
  void set_state(int cache, StateId state) { world_.caches[cache].state = state; }
  void set_memory_state(StateId state) { world_.memory_state = state; }
  void copy_to_bus(int cache) { world_.bus_data = world_.caches[cache].data; }
  void memory_to_bus() { world_.bus_data = world_.memory_data; }
  void bus_to_copy(int cache) { world_.caches[cache].data = world_.bus_data; }
  void bus_to_memory() { world_.memory_data = world_.bus_data; }
  void issue(int cache, MessageId message) {
    if (world_.caches[cache].request != 0) throw Violation{fmt::format("cache {} has two requests", cache)};
    world_.caches[cache].request = static_cast<std::uint8_t>(message + 1);
  }
  void free(int cache) { world_.caches[cache].data = 0; }
  void on_transition(Controller controller, int, StateId state, EventId event) {
    auto& run = controller == Controller::cache ? found_.cache_rows_run : found_.memory_rows_run;
    const ControllerTable& table = controller == Controller::cache ? protocol_.cache : protocol_.memory;
    run[state * table.events.size() + event] = true;
  }
  void complete(int cache) {
    World::Cache& copy = world_.caches[cache];
    if (copy.access == 0) throw Violation{fmt::format("cache {} completes an access that it doesn't have", cache)};
    const bool store = copy.access == 2;
    copy.access = 0;
    access(cache, store ? kStore : kLoad);
    if (!done_) throw Violation{fmt::format("cache {}: the access that waited doesn't hit at 'complete'", cache)};
  }

  // An access by the processor: runs its row, and on a hit reads or writes.
  void access(int cache, CacheEvent event) {
    World::Cache& copy = world_.caches[cache];
    const bool stable = protocol_.cache.states[copy.state].stable;
    const AccessResult result = access_step(protocol_, *this, cache, event);
    done_ = result == AccessResult::hit;
    if (result == AccessResult::stalled && stable) throw Violation{fmt::format("cache {} stalls in a stable state", cache)};
    if (result == AccessResult::issued && event != kEvict) {
      if (copy.access != 0) throw Violation{fmt::format("cache {} has two accesses that wait", cache)};
      copy.access = event == kStore ? 2 : 1;
    }
    if (!done_) return;
    // A store writes only some of a line's bytes, so the others must be right before it.
    if (copy.data != world_.latest) throw Violation{fmt::format("cache {} reads or writes a stale copy", cache)};
    if (event == kStore) copy.data = world_.latest = write_value;
  }

  std::uint8_t write_value = 0;  // what a store of this step writes

 private:
  const Protocol& protocol_;
  World& world_;
  const int caches_;
  const bool skip_absent_;
  Exploration& found_;
  std::vector<int> snoopers_;
  bool done_ = false;
};

class Explorer {
 public:
  Explorer(const Protocol& protocol, int caches, bool skip_absent)
      : protocol_(protocol), caches_(caches), skip_absent_(skip_absent) {
    found_.cache_rows_run.resize(protocol.cache.rows.size());
    found_.memory_rows_run.resize(protocol.memory.rows.size());
  }

  Exploration run() {
    try {
      visit(World{});
      while (!queue_.empty()) {
        const World world = queue_.back();
        queue_.pop_back();
        expand(world);
      }
    } catch (const Violation& violation) {
      found_.violation = violation.text;
    } catch (const ProtocolFault& fault) {
      found_.violation = fault.what();
    }
    found_.states = seen_.size();
    return found_;
  }

 private:
  void visit(const World& world) {
    if (!seen_.insert(world.key()).second) return;
    check(world);
    queue_.push_back(world);
  }

  template <class Do>
  void step(const World& from, std::uint8_t value, Do act) {
    World to = from;
    WorldCopies copies(protocol_, to, caches_, skip_absent_, found_);
    copies.write_value = value;
    act(to, copies);
    visit(to);
  }

  void expand(const World& world) {
    for (int cache = 0; cache < caches_; ++cache) {
      const World::Cache& copy = world.caches[cache];
      step(world, 0, [&](World&, WorldCopies& copies) { copies.access(cache, kLoad); });
      if (copy.state != 0) step(world, 0, [&](World&, WorldCopies& copies) { copies.access(cache, kEvict); });
      for (std::uint8_t value = 0; value < 2; ++value) {
        step(world, value, [&](World&, WorldCopies& copies) { copies.access(cache, kStore); });
        if (copy.request != 0 && world.data_due == 0)
          step(world, value, [&](World& to, WorldCopies& c) { order(to, c, cache); });
        if (world.data_due == cache + 1) step(world, value, [&](World& to, WorldCopies& c) { data(to, c, cache); });
      }
    }
  }

  void order(World& world, WorldCopies& copies, int cache) {
    const auto message = static_cast<MessageId>(world.caches[cache].request - 1);
    world.caches[cache].request = 0;
    world.data_due = order_step(protocol_, copies, message, cache).needs_data_step ? static_cast<std::uint8_t>(cache + 1) : 0;
    if (world.data_due == 0) world.bus_data = 0;  // dead, and so no part of the state
  }

  void data(World& world, WorldCopies& copies, int cache) {
    data_step(protocol_, copies, cache);
    world.data_due = 0;
    world.bus_data = 0;
  }

  void check(const World& world) const {
    for (int i = 0; i < caches_; ++i) {
      const World::Cache& copy = world.caches[i];
      const StateInfo& info = protocol_.cache.states[copy.state];
      if (info.readable && copy.data != world.latest)
        throw Violation{fmt::format("cache {}: a stale copy in {}", i, info.name)};
      for (int j = 0; j < caches_; ++j) {
        if (i != j && info.writable && protocol_.cache.states[world.caches[j].state].readable) {
          throw Violation{fmt::format("cache {} can write and cache {} can read", i, j)};
        }
      }
      const bool waits = copy.access != 0 || !info.stable;
      if (waits && copy.request == 0 && world.data_due != i + 1) {
        throw Violation{fmt::format("cache {} waits in {} for nothing", i, info.name)};
      }
      if (copy.access != 0 && info.stable) throw Violation{fmt::format("cache {} forgot its access in {}", i, info.name)};
      if (copy.request != 0 && info.stable) throw Violation{fmt::format("cache {} forgot its request in {}", i, info.name)};
    }
  }

  const Protocol& protocol_;
  const int caches_;
  const bool skip_absent_;
  Exploration found_;
  std::vector<World> queue_;
  std::unordered_set<std::uint64_t> seen_;
};

}  // namespace

std::uint64_t World::key() const {
  std::uint64_t key = 0;
  const auto append = [&key](std::uint64_t value, int bits) { key = key << bits | value; };
  for (const Cache& cache : caches) {
    append(cache.state, 5);
    append(cache.data, 1);
    append(cache.access, 2);
    append(cache.request, 3);
  }
  append(memory_state, 3);
  append(memory_data, 1);
  append(bus_data, 1);
  append(latest, 1);
  append(data_due, 2);
  return key;
}

Exploration explore(const Protocol& protocol, int caches, bool skip_absent) {
  return Explorer(protocol, caches, skip_absent).run();
}

std::string protocol_text(const std::string& name) {
  const std::ifstream file(std::string(LINEBOUNCE_SOURCE_DIR) + "/models/protocols/" + name + ".md");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Protocol shipped_protocol(const std::string& name) {
  return parse_protocol(protocol_text(name), name + ".md");
}

}  // namespace linebounce::test
