// What parts of a machine, words and states are called, in documents and sentences.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/steps/recorded_steps.hpp"

namespace linebounce::sim {

// The textbook's word for a state, "Modified", or the table's own name where it has none: "IM_D".
std::string plain_state(const std::string& name);

// What messages are called: those of the bus's protocol, of the network's, and what else there is on a bus.
std::vector<std::string> message_names(const RecordedSteps& run);
// Whether a snoop shows the caches whether others have copies. Under MSI it shows newer data alone: then an answer that found
// neither does not say that no copy is left.
bool caches_learn_of_copies(const RecordedSteps& run);
// A message step's number among them.
std::size_t message_number(const RecordedSteps& run, const RunStep& step);

// All that send and receive messages in this machine, and their places in that list.
class Endpoints {
 public:
  struct Entry {
    Endpoint endpoint;
    int node = 0, bus = -1;      // -1: on none
    std::vector<int> cpus = {};  // of a cache
    std::string label;           // "CPU 1's cache", "bus 0", "memory", "directory 1"
  };
  explicit Endpoints(const MachineSpec& machine);
  explicit Endpoints(const RecordedSteps& run);
  [[nodiscard]] const std::vector<Entry>& all() const { return all_; }
  [[nodiscard]] std::size_t number(const Endpoint& endpoint) const;
  [[nodiscard]] const std::string& label(const Endpoint& endpoint) const { return all_[number(endpoint)].label; }
  [[nodiscard]] bool has(const Endpoint& endpoint) const {
    return numbers_.contains({static_cast<int>(endpoint.kind), endpoint.number});
  }
  [[nodiscard]] const std::string& label(Controller controller, int agent) const;
  // Whom a directory knows by this number.
  [[nodiscard]] Endpoint home_agent(int number) const { return home_agents_[number]; }

 private:
  void add(Endpoint endpoint, int node, int bus, std::string label, std::vector<int> cpus = {});

  std::vector<Entry> all_;
  std::vector<Endpoint> home_agents_;
  std::map<std::pair<int, int>, std::size_t> numbers_;
};

// The names of words, by address: "x", "pair.a"; of lines: their words, or their object; else the address.
class WordNames {
 public:
  explicit WordNames(const RecordedSteps& run);
  [[nodiscard]] std::string word(Address address) const;
  [[nodiscard]] std::string line(LineAddr line) const;
  // The words of this name: of an object, all of its words that were accessed. Empty: there are none.
  [[nodiscard]] std::vector<std::pair<Address, int>> called(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  [[nodiscard]] std::string whole_object(LineAddr line, const std::set<std::string>& names) const;

  const RecordedSteps* run_;
  std::map<Address, std::string> names_;
  std::map<std::uint64_t, std::set<std::string>> lines_;
};

}  // namespace linebounce::sim
