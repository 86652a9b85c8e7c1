// Names of a machine's parts, words and states, for documents and sentences.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commands/steps/recorded_steps.hpp"

namespace linebounce::sim {

// A state's name for readers: the textbook's ("Modified") if it has one, else the table's ("IM_D").
std::string plain_state(const std::string& name);

// Names of all messages: first the bus protocol's, then the network's, then other messages on a bus.
std::vector<std::string> message_names(const RecordedSteps& run);
// True if a snoop response tells caches whether others have copies. Under MSI it only tells of newer data, so a response
// without data does not mean that no other copy exists.
bool caches_learn_of_copies(const RecordedSteps& run);
// The index of a message step in message_names().
std::size_t message_number(const RecordedSteps& run, const RunStep& step);

// All senders and receivers of messages in this machine, in a fixed order.
class Endpoints {
 public:
  struct Entry {
    Endpoint endpoint;
    int node = 0, bus = -1;      // -1: on no bus
    std::vector<int> cpus = {};  // for a cache
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
  // The endpoint whose directory entry has this number.
  [[nodiscard]] Endpoint home_agent(int number) const { return home_agents_[number]; }

 private:
  void add(Endpoint endpoint, int node, int bus, std::string label, std::vector<int> cpus = {});

  std::vector<Entry> all_;
  std::vector<Endpoint> home_agents_;
  std::map<std::pair<int, int>, std::size_t> numbers_;
};

// Names words by address: "x", "pair.a". A line is named by its accessed words, else by its object, else by its address.
class WordNames {
 public:
  explicit WordNames(const RecordedSteps& run);
  [[nodiscard]] std::string word(Address address) const;
  [[nodiscard]] std::string line(LineAddr line) const;
  // The words with this name. For an object's name, all its accessed words. Empty if there are none.
  [[nodiscard]] std::vector<std::pair<Address, int>> called(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  [[nodiscard]] std::string whole_object(LineAddr line, const std::set<std::string>& names) const;

  const RecordedSteps* run_;
  std::map<Address, std::string> names_;
  std::map<std::uint64_t, std::set<std::string>> lines_;
};

}  // namespace linebounce::sim
