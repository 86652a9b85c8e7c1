#include "models/coherence/checker/murphi_writer.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace linebounce::checker {
namespace {

std::string joined(const MurphiVariables& variables, std::string_view separator, bool types) {
  std::string text;
  for (const MurphiVariable& variable : variables) {
    text +=
        fmt::format("{}{}{}{}", text.empty() ? "" : separator, variable.name, types ? ": " : "", types ? variable.type : "");
  }
  return text;
}

// True if the line begins a procedure. Only lines of the outermost level are not indented.
bool begins_procedure(std::string_view line) {
  return line.starts_with("procedure ");
}

bool begins_rule(std::string_view line) {
  constexpr std::array<std::string_view, 5> kRules = {"startstate", "ruleset", "rule", "invariant", "liveness"};
  return std::any_of(kRules.begin(), kRules.end(), [line](std::string_view word) { return line.starts_with(word); });
}

}  // namespace

std::string procedures_before_rules(std::string_view model) {
  std::string declarations, procedures, rules;
  std::string* part = &declarations;
  while (!model.empty()) {
    const std::size_t end = std::min(model.find('\n'), model.size() - 1) + 1;
    const std::string_view line = model.substr(0, end);
    model.remove_prefix(end);
    if (begins_procedure(line)) part = &procedures;
    if (part != &procedures && begins_rule(line)) part = &rules;
    *part += line;
    const bool ends = line == "end;\n" || (begins_procedure(line) && line.ends_with(" end;\n"));
    if (part == &procedures && ends) part = &rules;
  }
  return declarations + procedures + "\n" + rules;
}

std::string murphi_name(std::string_view kind, std::string_view name, std::size_t number) {
  std::string plain(name);
  std::replace_if(
      plain.begin(), plain.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
  return fmt::format("{}{}_{}", kind, number, plain);
}

std::string declared(const MurphiVariables& variables) {
  return joined(variables, "; ", true);
}
std::string listed(const MurphiVariables& variables) {
  return joined(variables, ", ", false);
}
std::string indexes(const MurphiVariables& variables) {
  return variables.empty() ? "" : "[" + joined(variables, "][", false) + "]";
}
std::string for_all(const MurphiVariables& variables, std::string condition) {
  for (auto variable = variables.rbegin(); variable != variables.rend(); ++variable) {
    condition = fmt::format("forall {}: {} do {} end", variable->name, variable->type, condition);
  }
  return condition;
}

std::vector<std::size_t> accesses(std::size_t atomic) {
  std::vector<std::size_t> found = {kLoad, kStore, kEvict};
  if (atomic != kStore) found.push_back(atomic);
  return found;
}

std::string MurphiController::states() const {
  std::vector<std::string> names;
  for (std::size_t s = 0; s < table->states.size(); ++s) names.push_back(state(s));
  return fmt::format("{}", fmt::join(names, ", "));
}

void MurphiWriter::rule(int depth, std::string_view title, std::string_view condition, std::string_view call) {
  line(depth, "rule \"{}\" {} ==> begin {}; {}end;", title, condition, call, after_step_);
}

void MurphiWriter::by_guard(int depth, const std::vector<std::string>& words, GuardGroup group, const MurphiController& of) {
  const bool alike = std::equal(words.begin() + 1, words.end(), words.begin());
  for (std::size_t word = 0; word < (alike ? 1 : words.size()); ++word) {
    if (!alike && word + 1 == words.size()) line(depth, "else");
    if (!alike && word + 1 < words.size()) {
      line(depth, "{} {} then", word == 0 ? "if" : "elsif", guard(group, static_cast<int>(word), of));
    }
    text_ += words[word];
  }
  if (!alike) line(depth, "end;");
}

std::string MurphiWriter::guard(GuardGroup group, int word, const MurphiController& of) {
  const auto unless = [word](const std::string& condition) { return word == 0 ? condition : fmt::format("!({})", condition); };
  switch (group) {
    case GuardGroup::shared_alone: return unless("t.shared");
    case GuardGroup::owned_clean: return unless("t.owned");
    case GuardGroup::owned_kept_clean: return word == 0 ? "t.owned" : word == 1 ? "!t.owned & t.kept" : "!t.owned & !t.kept";
    case GuardGroup::owned_shared_alone:
      return word == 0 ? "t.owned" : word == 1 ? "!t.owned & t.shared" : "!t.owned & !t.shared";
    case GuardGroup::written_back_served: return unless("t.written_back");
    case GuardGroup::no_acks_acks: return unless(fmt::format("{}.acks + k = 0", of.at));
    case GuardGroup::last_ack_more_acks: return unless(of.at + ".acks = 1");
    case GuardGroup::from_owner_from_other: return unless(of.at + ".owner = s");
    case GuardGroup::last_sharer_more_sharers:
      return unless(fmt::format("!exists i: {} do i != s & {}.sharers[i] end", of.members, of.at));
    case GuardGroup::sharers_no_sharers: return unless(fmt::format("exists i: {} do {}.sharers[i] end", of.members, of.at));
    case GuardGroup::none: break;
  }
  return "true";
}

// Writes the procedure that reads or writes a copy.
void MurphiWriter::use_procedure(const Protocol& subject, const MurphiController& cache) {
  line(0, "procedure use({}; store: boolean; w: val); begin", declared(cache.selected_by));
  if (subject.invariant_data_value) line(1, "assert {}.data = latest \"stale copy\";", cache.at);
  line(1, "if store then {}.data := w; latest := w; end;", cache.at);
  line(0, "end;\n");
}

void MurphiWriter::complete_procedure(const MurphiController& cache, std::size_t atomic, bool may_issue) {
  line(0, "procedure complete_access({}; w: val); var waited: waiting; begin", declared(cache.selected_by));
  line(1, "waited := {0}.access; {0}.access := W_none;", cache.at);
  line(1, "assert waited != W_none \"completes without an access\";");
  for (const std::size_t event : accesses(atomic)) {
    if (event == kEvict) continue;
    const BaseEvent& base = cache.table->base_events[event];
    const std::string hits = cache.is([&](std::size_t state) {
      const Row& row = cache.table->row(static_cast<StateId>(state), base.first);
      const AccessResult result = access_result(row);
      return result == AccessResult::hit || (may_issue && result == AccessResult::issued);
    });
    line(1, "if waited = W_{} then", base.name);
    line(2, "assert {} \"completes an access that does not hit\"; do_{}({}, w);", hits, base.name, listed(cache.selected_by));
    line(1, "end;");
  }
  line(0, "end;\n");
}

void MurphiWriter::access_rules(const MurphiController& cache, std::size_t atomic, std::string_view then) {
  line(0, "ruleset {} do", declared(cache.selected_by));
  for (const std::size_t event : accesses(atomic)) {
    const std::string& name = cache.table->base_events[event].name;
    const bool writes = event != kLoad && event != kEvict;
    const char* value = writes ? "w" : "0";
    if (writes) line(1, "ruleset w: val do");
    rule(writes ? 2 : 1, name, event == kEvict ? fmt::format("{}.state != {}", cache.at, cache.state(0)) : "true",
         fmt::format("do_{0}({1}, {2}){3}", name, listed(cache.selected_by), value,
                     then.empty() ? "" : fmt::format("; {}({}, {})", then, listed(cache.selected_by), value)));
    if (writes) line(1, "end;");
  }
  line(0, "end;\n");
}

void MurphiWriter::cache_invariants(const Protocol& subject, const MurphiController& one, const MurphiController& other,
                                    const std::string& accounted) {
  if (subject.invariant_swmr) {
    std::vector<std::string> same;
    for (std::size_t i = 0; i < one.selected_by.size(); ++i) {
      same.push_back(fmt::format("{} = {}", one.selected_by[i].name, other.selected_by[i].name));
    }
    const std::string alone =
        for_all(other.selected_by, fmt::format("({}) | !{}", fmt::join(same, " & "), other.is(&StateInfo::readable)));
    line(0, "invariant \"single writer or many readers\"");
    line(1, "{};", for_all(one.selected_by, fmt::format("{} -> {}", one.is(&StateInfo::writable), alone)));
  }
  if (subject.invariant_data_value) {
    line(0, "invariant \"data value\"");
    line(1, "{};", for_all(one.selected_by, fmt::format("{} -> {}.data = latest", one.is(&StateInfo::readable), one.at)));
  }
  line(0, "invariant \"every access and request is accounted for\"");
  line(1, "{};", for_all(one.selected_by, accounted));
}

}  // namespace linebounce::checker
