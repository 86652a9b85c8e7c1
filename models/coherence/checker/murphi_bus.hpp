// Writes the steps of the caches on one bus and of the memory side, as bus_order.hpp runs them. The memory side is memory or a
// node controller.
#pragma once

#include <functional>
#include <string>

#include "models/coherence/checker/murphi_writer.hpp"

namespace linebounce::checker {

class MurphiBus {
 public:
  // `memory`: the controller of the memory side, whose record also contains the caches. `more`: writes the actions that only
  // a node controller has.
  MurphiBus(MurphiWriter& out, const Protocol& bus, const Protocol& subject, MurphiController memory,
            std::function<void(int depth, Action action)> more = {});

  [[nodiscard]] const MurphiController& memory() const { return memory_; }
  // Cache `name` on the bus.
  [[nodiscard]] MurphiController cache(const std::string& name) const;
  [[nodiscard]] std::string request(std::size_t message) const {
    return murphi_name("R", bus_.messages[message].name, message);
  }
  [[nodiscard]] std::string order(std::size_t message) const { return "order_" + request(message); }

  void types();
  void procedures();
  // Writes how all caches but `c`, or all if `all`, react to a message.
  void snoop(int depth, MessageId message, bool all);
  void data_step_rule(int depth);

  // Returns conditions on cache `c`: `accounted` holds in every state, and `idle` if the cache waits for nothing.
  [[nodiscard]] std::string accounted() const;
  [[nodiscard]] std::string idle() const;

 private:
  void order_procedure(MessageId message);
  void order_at_once_procedure();
  void rows_of(int depth, const MurphiController& cache, std::size_t base_event);
  void memory_rows(int depth, std::size_t base_event);
  void memory_takes_data(int depth, std::string_view condition);
  void cache_action(int depth, Action action, const MurphiController& cache);
  void memory_action(int depth, Action action);
  void apply_word();
  void take_passing_data();
  void offer_procedure();
  void operate_procedure();
  [[nodiscard]] std::string wants_data(MessageId message) const;

  MurphiWriter& out_;
  const Protocol& bus_;
  const Protocol& subject_;
  const MurphiController memory_;
  const std::function<void(int depth, Action action)> more_;
  const bool operates_;       // memory runs accesses
  const bool passes_words_;   // rows take words that are stored elsewhere
  const bool takes_passing_;  // snoopers' rows take data that they have not requested
  // Variables that select the bus, each followed by a separator: "a: aid; " and "a, "
  const std::string parameters_, arguments_;
};

}  // namespace linebounce::checker
