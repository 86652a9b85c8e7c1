#include "commands/check_lock/weaken_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "sim/config/schema.hpp"
#include "sim/terminal/table.hpp"

namespace linebounce::sim {
namespace {

using nlohmann::ordered_json;

constexpr const char* kNotCovered =
    "Under sc, tso and ia64 loads run in the code's order, and read-modify-writes are full fences, so \"-\" stands\n"
    "for theirs. c11 leaves out loads that take effect after later stores.\n";

std::string ordered_place_text(const OrderedLock& lock, std::size_t place) {
  return lock.places()[place].chain.front();
}

const std::string& weaker_order_text(const OrderedLock& lock, std::size_t place, int order) {
  return lock.places()[place].orders[static_cast<std::size_t>(order)];
}

// What to add below the table about one memory model.
std::string weaken_remarks(const OrderedLock& lock, const WeakenedModel& model) {
  const std::string name = name_of_model(model.model);
  if (!model.broken.empty()) return fmt::format("{}: the lock is broken as it is: {}\n", name, model.broken);
  std::string text;
  if (!model.is_proved) text += fmt::format("{}: not all states of the lock were searched, so nothing is proved.\n", name);
  for (const auto& [a, b] : model.conflicts)
    text += fmt::format("{}: {} and {} are each weak enough, but not both at once.\n", name,
                        ordered_place_text(lock, static_cast<std::size_t>(a)),
                        ordered_place_text(lock, static_cast<std::size_t>(b)));
  if (model.together == model.weakest) return text;
  std::vector<std::string> orders;
  for (std::size_t i = 0; i < model.together.size(); ++i) orders.push_back(weaker_order_text(lock, i, model.together[i]));
  return text + fmt::format("{}: what holds together, from the first place on: {}.\n", name, fmt::join(orders, ", "));
}

}  // namespace

std::string weakening_text(const OrderedLock& lock, const Weakening& found, const Painter& paint) {
  std::string out =
      fmt::format("{}: the weakest orders with which every check holds\n{}\n", paint(Colour::bold, lock.file()), kNotCovered);
  if (!lock.unreached().empty())
    out += fmt::format("Never reached by two CPUs that take the lock once, so left as they are: {}.\n\n",
                       fmt::join(lock.unreached(), ", "));
  if (lock.places().empty())
    return out + std::string(lock.unreached().empty() ? "The lock has no fence and no ordered store.\n" : "");
  std::vector<Column> columns = {words("place"), words("order now", 0, 2)};
  for (const WeakenedModel& model : found.models) columns.push_back(words(name_of_model(model.model), 0, 2));
  for (const WeakenedOnMachine& on : found.machines) columns.push_back(figures("gain, " + on.machine, 0, 2));
  Table table(std::move(columns), paint);
  for (std::size_t i = 0; i < lock.places().size(); ++i) {
    std::vector<Cell> cells = {fmt::format("{}", fmt::join(lock.places()[i].chain, " > ")), weaker_order_text(lock, i, 0)};
    for (const WeakenedModel& model : found.models) {
      const bool same = model.weakest[i] == 0;
      const bool is_tried = model.broken.empty() && lock.places()[i].has_orders_under(model.model);
      cells.emplace_back(!is_tried ? "-"
                         : same    ? "needed"
                                   : weaker_order_text(lock, i, model.weakest[i]),
                         same ? Colour::bold : Colour::none);
    }
    for (const WeakenedOnMachine& on : found.machines) cells.emplace_back(fmt::format("{:+.1f} %", on.gain_pct[i]));
    table.add(std::move(cells));
  }
  if (!found.machines.empty() && lock.places().size() > 1) {
    std::vector<Cell> cells = {"all together", ""};
    for (std::size_t i = 0; i < found.models.size(); ++i) cells.emplace_back("");
    for (const WeakenedOnMachine& on : found.machines) cells.emplace_back(fmt::format("{:+.1f} %", on.together_pct));
    table.add(std::move(cells));
  }
  out += table.text();
  std::string below;
  for (const WeakenedModel& model : found.models) below += weaken_remarks(lock, model);
  return below.empty() ? out : out + "\n" + below;
}

ordered_json weakening_json(const OrderedLock& lock, const Weakening& found) {
  ordered_json json = {
      {"lock", lock.file()}, {"not_covered", kNotCovered}, {"unreached", lock.unreached()}, {"places", ordered_json::array()}};
  for (std::size_t i = 0; i < lock.places().size(); ++i) {
    ordered_json place = {
        {"line", lock.places()[i].line}, {"chain", lock.places()[i].chain}, {"order", weaker_order_text(lock, i, 0)}};
    for (const WeakenedModel& model : found.models) {
      if (model.broken.empty() && lock.places()[i].has_orders_under(model.model))
        place["weakest"][name_of_model(model.model)] = weaker_order_text(lock, i, model.weakest[i]);
    }
    for (const WeakenedOnMachine& on : found.machines) place["gain_pct"][on.machine] = on.gain_pct[i];
    json["places"].push_back(std::move(place));
  }
  for (const WeakenedModel& model : found.models) {
    ordered_json one = {{"model", name_of_model(model.model)}, {"proved", model.is_proved}};
    if (!model.broken.empty()) one["broken"] = model.broken;
    ordered_json together = ordered_json::array();
    for (std::size_t i = 0; i < model.together.size(); ++i) together.push_back(weaker_order_text(lock, i, model.together[i]));
    one["together"] = std::move(together);
    one["conflicts"] = model.conflicts;
    json["models"].push_back(std::move(one));
  }
  return json;
}

}  // namespace linebounce::sim
