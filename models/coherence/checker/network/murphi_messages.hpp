// Writes the messages of a network. In the model, the record `messages` counts equal messages: for each message and way, it has
// an array with one index for each part of the message that the receiver reads. Forwards to agents and members wait in the
// receiver's queue instead.
#pragma once

#include <string>

#include "models/coherence/checker/murphi_writer.hpp"
#include "models/coherence/checker/network/system.hpp"

namespace linebounce::checker {

// Murphi expressions for the parts of a message.
struct MurphiMessage {
  std::string receiver = {};  // the receiver's number among the agents or members; empty for the home or the group itself
  std::string source = "0", requestor = "0", acks = "0", data = "0";
};

class MurphiMessages {
 public:
  MurphiMessages(const CheckedSystem& system, MurphiWriter& out) : system_(system), out_(out) {}

  // True if the receiver's table lists the message.
  [[nodiscard]] bool goes(Way way, std::size_t message) const;
  // Calls visit(way, message) for all messages and the ways that they go.
  template <class Visit>
  void for_each(Visit visit) const {
    for (std::size_t m = 0; m < system_.network.messages.size(); ++m) {
      for (const Way way : {Way::to_home, Way::to_agent, Way::to_group, Way::to_member}) {
        if (goes(way, m)) visit(way, m);
      }
    }
  }
  [[nodiscard]] static bool is_inside(Way way) { return way == Way::to_group || way == Way::to_member; }
  // "agent3_Fwd_GetS", the message's name in the model.
  [[nodiscard]] std::string name(Way way, std::size_t message) const;
  // The variables that select the receiver, and these and the parts of the message that the receiver reads: `s` is the source,
  // `r` the requestor, `k` the number of acknowledgements, and `v` the data.
  [[nodiscard]] static MurphiVariables receiver(Way way);
  [[nodiscard]] MurphiVariables parts(Way way, std::size_t message) const;

  void types();
  void variable();
  void procedures();
  // Writes the call that sends a message from or to agent `a` or one of its members.
  void send(int depth, Way way, std::size_t message, const MurphiMessage& sent);
  // Writes the assertion that `number`, a saved number of an agent or member, is not 0, which stands for nobody. Writes
  // nothing for a number that can't be 0.
  void check_known(int depth, const std::string& number);
  // Writes the rule for a message's arrival, which calls procedure `take_NAME`. With `writes`, the step can be a store.
  void arrival_rule(Way way, std::size_t message, bool writes);
  // Appends to a condition: no message that the record `messages` counts is under way.
  void none_under_way();

 private:
  [[nodiscard]] bool queued(Way way, std::size_t message) const {
    return (way == Way::to_agent || way == Way::to_member) && system_.is_forward(static_cast<MessageId>(message));
  }
  [[nodiscard]] bool carries(Way way, std::size_t message) const {
    return system_.use(way, message).data && system_.network.messages[message].carries_data;
  }
  [[nodiscard]] std::string counter(Way way, std::size_t message) const {
    return "messages." + name(way, message) + indexes(parts(way, message));
  }
  [[nodiscard]] static std::string queue(Way way);

  const CheckedSystem& system_;
  MurphiWriter& out_;
};

}  // namespace linebounce::checker
