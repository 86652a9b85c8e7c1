#include "commands/steps/sentences.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "commands/steps/names.hpp"

namespace linebounce::sim {
namespace {

std::string capital(std::string text) {
  if (!text.empty()) text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// "a, b and c".
std::string listed(const std::vector<std::string>& parts) {
  if (parts.empty()) return "";
  std::string text = parts.front();
  for (std::size_t i = 1; i < parts.size(); ++i) text += (i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

const BaseEvent& base_event(const ControllerTable& table, EventId event) {
  return *std::ranges::find_if(table.base_events, [event](const BaseEvent& base) {
    return !base.absent && event >= base.first && event < base.first + base.count;
  });
}

// The bracketed qualifier of an event's name, such as "shared"; empty if it has none.
std::string qualifier(const std::string& event) {
  const std::size_t open = event.find('[');
  return open == std::string::npos ? "" : event.substr(open + 1, event.size() - open - 2);
}

const char* qualifier_phrase(const std::string& qualifier) {
  static const std::map<std::string, const char*> kPhrases = {{"shared", "another cache keeps a copy"},
                                                              {"alone", "no other cache has a copy"},
                                                              {"owned", "a cache has newer data"},
                                                              {"kept", "the requester needs no data"},
                                                              {"clean", "no cache has newer data"},
                                                              {"written_back", "it brings data"},
                                                              {"served", "a cache has served another"},
                                                              {"no_acks", "no acknowledgement is missing"},
                                                              {"acks", "acknowledgements are still to come"},
                                                              {"last_ack", "it is the last one"},
                                                              {"more_acks", "more are to come"},
                                                              {"from_owner", "from the owner"},
                                                              {"from_other", "from somebody who is not the owner"},
                                                              {"last_sharer", "from the last sharer"},
                                                              {"more_sharers", "other sharers are left"},
                                                              {"sharers", "there are sharers"},
                                                              {"no_sharers", "there are no sharers"}};
  const auto found = kPhrases.find(qualifier);
  return found == kPhrases.end() ? "" : found->second;
}

class Sentences {
 public:
  explicit Sentences(const RecordedSteps& run) : run_(run), endpoints_(run), words_(run), messages_(message_names(run)) {
    for (const RunStep& step : run.steps) {
      const auto what = static_cast<SentMessage::What>(step.what);
      if (step.kind == RunStepKind::message && (what == SentMessage::What::request || what == SentMessage::What::again))
        ordered_[{step.to.number, step.where, step.arrives}] = &step;
    }
  }

  [[nodiscard]] std::string of(const RunStep& step) const {
    switch (step.kind) {
      case RunStepKind::row: return of_row(step);
      case RunStepKind::access: return of_access(step);
      case RunStepKind::message: return of_message(step);
      case RunStepKind::operation: return of_operation(step);
      case RunStepKind::buffer: return of_buffer(step);
      case RunStepKind::directory: return of_directory(step);
      case RunStepKind::data:
        return fmt::format("{} now holds {} in {}.", capital(endpoints_.label(step.from)), step.fresh, words_.word(step.where));
    }
    return "";
  }

 private:
  [[nodiscard]] std::string line(const RunStep& step) const { return words_.line(LineAddr(step.where)); }

  // ---- rows ----

  [[nodiscard]] std::string of_row(const RunStep& step) const {
    const auto controller = static_cast<Controller>(step.what);
    const ControllerTable& table = run_.table(controller);
    const std::string who = endpoints_.label(controller, step.agent);
    const std::string cause = cause_of(step, controller, table);
    if (controller == Controller::memory && table.states.size() == 1) return fmt::format("{}: {}.", capital(who), cause);
    const std::string& before = table.states[step.state].name;
    const std::string after = state_phrase(table.states[step.next]);
    if (step.state == step.next)
      return fmt::format("{} leaves {} in {}: {}.", capital(who), line(step), plain_state(before), cause);
    return fmt::format("{} takes {} from {} to {}: {}.", capital(who), line(step), plain_state(before), after, cause);
  }

  // The textbook's word for a state. Without one, the table's name and the first part of its meaning.
  static std::string state_phrase(const StateInfo& state) {
    const std::string plain = plain_state(state.name);
    if (plain != state.name || state.meaning.empty()) return plain;
    return fmt::format("{} ({})", state.name, state.meaning.substr(0, state.meaning.find(';')));
  }

  [[nodiscard]] std::string cause_of(const RunStep& step, Controller controller, const ControllerTable& table) const {
    const BaseEvent& event = base_event(table, step.event);
    std::string cause;
    switch (controller) {
      case Controller::cache: cause = cause_at_cache(step, table, event); break;
      case Controller::memory: cause = fmt::format("{}", ordered_phrase(step, event.name)); break;
      case Controller::directory: cause = arrival_phrase(event.name, "its place is needed for another line"); break;
      case Controller::node: cause = cause_at_node(event.name); break;
      case Controller::group: cause = cause_at_group(event.name); break;
    }
    const std::string guard = qualifier_phrase(qualifier(table.events[step.event]));
    if (!guard.empty()) cause += ", and " + guard;
    const Row& row = table.row(step.state, step.event);
    if (row.stalls()) return cause + "; it has to wait";
    const std::string deeds = deeds_of(controller, row);
    return deeds.empty() ? cause : cause + "; it " + deeds;
  }

  [[nodiscard]] std::string cause_at_cache(const RunStep& step, const ControllerTable& table, const BaseEvent& event) const {
    const StateInfo& before = table.states[step.state];
    if (event.name == "Load") return before.readable ? "a CPU of it reads" : "its CPU reads, and there is no copy to read";
    if (event.name == "Store") {
      if (before.writable) return "its CPU writes, and nobody else need know";
      return before.readable ? "its CPU writes, and a copy to read is not enough" : "its CPU writes, and there is no copy";
    }
    if (event.name == "Atomic") {
      return before.writable ? "its CPU runs an atomic operation, and nobody else need know"
                             : "its CPU wants an atomic operation, and has no right to write";
    }
    if (event.name == "Evict") return "its place is needed for another line";
    if (event.name == "Data") return "the data has come";
    if (event.name.compare(0, 4, "Own_") == 0)
      return fmt::format("its {} has its place in the bus's order", event.name.substr(4));
    if (event.name.compare(0, 6, "Other_") == 0) return ordered_phrase(step, event.name.substr(6));
    return event.meaning;
  }

  // Names the sender of the message that a bus is ordering.
  [[nodiscard]] std::string ordered_phrase(const RunStep& step, const std::string& message) const {
    const auto controller = static_cast<Controller>(step.what);
    if (controller == Controller::memory && message == "Data") return "a cache has put the line's data on the bus";
    const int bus = controller == Controller::cache ? bus_of(step.agent) : step.agent;
    const auto found = ordered_.find({bus, step.where, step.time});
    if (found == ordered_.end()) return fmt::format("a {} is ordered on the bus", message);
    return fmt::format("the {} of {} is ordered on the bus", message, endpoints_.label(found->second->from));
  }

  static std::string arrival_phrase(const std::string& event, const char* evicted) {
    if (event == "Evict") return evicted;
    if (event.compare(0, 4, "Data") == 0) return event + " has come";
    return fmt::format("{} {} has come", event.compare(0, 3, "Inv") == 0 ? "an" : "a", event);
  }

  static std::string cause_at_node(const std::string& event) {
    if (event.compare(0, 4, "Ask_") == 0) return fmt::format("a {} on its bus asks for permission", event.substr(4));
    if (event.compare(0, 4, "Own_") == 0) return fmt::format("its own {} has its place in the bus's order", event.substr(4));
    if (event == "Bus_Data") return "a cache has put the line's data on the bus";
    return arrival_phrase(event, "its place is needed for another line");
  }

  static std::string cause_at_group(const std::string& event) {
    if (event.compare(0, 7, "Member_") == 0) return fmt::format("a member's {} has come", event.substr(7));
    return arrival_phrase(event, "its place is needed for another line");
  }

  // The actions of a row that other parts of the machine can notice.
  [[nodiscard]] std::string deeds_of(Controller controller, const Row& row) const {
    std::vector<std::string> deeds;
    for (const Action action : row.steps()) {
      std::string deed = deed_of(controller, action);
      if (!deed.empty()) deeds.push_back(std::move(deed));
    }
    return listed(deeds);
  }

  [[nodiscard]] std::string deed_of(Controller controller, Action action) const {
    const auto message = [&] {
      const MachineProtocols& protocols = run_.input.protocols;
      const bool on_bus = controller == Controller::cache || controller == Controller::memory || action.verb == Verb::recall;
      const std::vector<Message>& messages = on_bus                                ? protocols.bus.messages
                                             : controller == Controller::directory ? protocols.directory.messages
                                             : controller == Controller::node      ? protocols.node.messages
                                                                                   : protocols.group.messages;
      const bool known = action.argument < messages.size();
      return known ? messages[action.argument].name : std::string("a message");
    };
    switch (action.verb) {
      case Verb::issue: return fmt::format("asks with {}", message());
      case Verb::assert_shared: return "says that it keeps a copy";
      case Verb::assert_owned: return "says that it has newer data than memory";
      case Verb::send_data:
        if (controller != Controller::cache) return "offers its data";
        return action.argument == to_memory                 ? "sends the data to memory"
               : (action.argument & to_memory) == to_memory ? "sends the data to the requester and to memory"
                                                            : "sends the data to the requester";
      case Verb::offer_data: return "offers its data to the requester";
      case Verb::complete: return "lets its CPU go on";
      case Verb::send_word: return "sends the word that its CPU writes";
      case Verb::apply_word: return "takes the word that is on the bus";
      case Verb::operate: return "runs the atomic operation of the requester's CPU";
      case Verb::take_data: return controller == Controller::cache ? "" : "keeps the data";
      case Verb::update_memory: return "writes the data to memory";
      case Verb::defer: return "puts it off";
      case Verb::run: return "lets the deferred request run on the bus";
      case Verb::recall: return fmt::format("takes the line back from its caches with {}", message());
      case Verb::send_home: return fmt::format("sends {} to the home", message());
      case Verb::send_requestor: return fmt::format("sends {} to the requester", message());
      case Verb::send_owner: return fmt::format("sends {} to the owner", message());
      case Verb::send_sharers: return fmt::format("sends {} to every other sharer", message());
      case Verb::send_others: return fmt::format("sends {} to everybody else", message());
      case Verb::count_ack: return "counts the acknowledgement";
      case Verb::send_member: return fmt::format("sends {} to its member", message());
      case Verb::recall_owner: return fmt::format("sends {} to the member that owns the line", message());
      case Verb::recall_sharers: return fmt::format("sends {} to its members with copies", message());
      default: return "";
    }
  }

  [[nodiscard]] int bus_of(int agent) const { return endpoints_.all()[endpoints_.number({Endpoint::Kind::cache, agent})].bus; }

  // ---- the others ----

  [[nodiscard]] std::string of_access(const RunStep& step) const {
    const std::string word = words_.word(step.where);
    switch (static_cast<AccessKind>(step.what)) {
      case AccessKind::load:
        return fmt::format("CPU {} reads {} from {}{}.", step.cpu, step.old, word, step.flag ? " in its cache" : "");
      case AccessKind::store:
        return fmt::format("CPU {} writes {} to {}, which held {}.", step.cpu, step.fresh, word, step.old);
      case AccessKind::atomic: break;
    }
    const char* where = step.far ? ", outside its cache" : "";
    if (step.old == step.fresh)
      return fmt::format("CPU {} finds {} in {} and leaves it, in one indivisible step{}.", step.cpu, step.old, word, where);
    return fmt::format("CPU {} changes {} from {} to {} in one indivisible step{}.", step.cpu, word, step.old, step.fresh,
                       where);
  }

  [[nodiscard]] std::string of_message(const RunStep& step) const {
    const std::string& name = messages_[message_number(run_, step)];
    const std::string& from = endpoints_.label(step.from);
    const std::string& to = endpoints_.label(step.to);
    using What = SentMessage::What;
    switch (static_cast<What>(step.what)) {
      case What::request: return fmt::format("{} puts {} for {} on {}.", capital(from), name, line(step), to);
      case What::again: return fmt::format("The {} of {} for {} is on {} again, with permission.", name, from, line(step), to);
      case What::shared: return fmt::format("The snoop tells {}: another cache has a copy of {}.", to, line(step));
      case What::owned:
        return fmt::format("The snoop tells {}: another cache has newer data of {} than memory.", to, line(step));
      case What::alone:
        if (caches_learn_of_copies(run_)) return fmt::format("The snoop tells {}: no other cache has {}.", to, line(step));
        return fmt::format("The snoop tells {}: no other cache has newer data of {} than memory.", to, line(step));
      case What::deferred:
        return fmt::format("{} defers the request of {} for {}: it needs permission first.", capital(from), to, line(step));
      case What::data: return fmt::format("{} sends the data of {} to {}.", capital(from), line(step), to);
      case What::word:
        if (step.from.kind != Endpoint::Kind::cache)
          return fmt::format("{} sends what the atomic operation found, in {}, to {}.", capital(from), line(step), to);
        return fmt::format("{} sends the word that it has written, of {}, to the other copies.", capital(from), line(step));
      case What::packet: break;
    }
    return fmt::format("{} sends {} for {} to {}{}.", capital(from), name, line(step), to,
                       step.flag && name.compare(0, 4, "Data") != 0 ? ", with the line's data" : "");
  }

  [[nodiscard]] std::string of_operation(const RunStep& step) const {
    if (static_cast<StepOperation>(step.what) == StepOperation::end) return fmt::format("CPU {}'s program is over.", step.cpu);
    const std::string at = step.source_line > 0 ? fmt::format(" comes to line {} and is to", step.source_line) : " is to";
    return fmt::format("CPU {}{} {}.", step.cpu, at, deed_of_program(step));
  }

  [[nodiscard]] std::string deed_of_program(const RunStep& step) const {
    const std::string word = words_.word(step.where);
    switch (static_cast<StepOperation>(step.what)) {
      case StepOperation::load: return fmt::format("load {}", word);
      case StepOperation::store: return fmt::format("store {} in {}", step.fresh, word);
      case StepOperation::store_release: return fmt::format("store {} in {}, behind all it has done before", step.fresh, word);
      case StepOperation::exchange: return fmt::format("put {} into {} and take out what is there", step.fresh, word);
      case StepOperation::fetch_add: return fmt::format("add {} to {}", static_cast<std::int64_t>(step.fresh), word);
      case StepOperation::compare_exchange: return fmt::format("put {} into {} if {} is there", step.fresh, word, step.old);
      case StepOperation::prefetch: return fmt::format("ask for {} beforehand", word);
      case StepOperation::fence: return "wait until all its stores are in the cache";
      case StepOperation::compute: return "compute without memory";
      case StepOperation::spin: return fmt::format("look at {} until it is as it should be", word);
      case StepOperation::sleep: return "go on after its sleep";
      case StepOperation::wake: return fmt::format("wake CPU {}", step.fresh);
      case StepOperation::timer: return "set a timer";
      case StepOperation::interrupt: return fmt::format("interrupt CPU {}", step.fresh);
      case StepOperation::handler: return "handle an interrupt";
      case StepOperation::end: break;
    }
    return "";
  }

  [[nodiscard]] std::string of_buffer(const RunStep& step) const {
    const std::string word = words_.word(step.where);
    switch (static_cast<BufferMove>(step.what)) {
      case BufferMove::in:
        return fmt::format("CPU {}'s store of {} to {} goes into its store buffer.", step.cpu, step.fresh, word);
      case BufferMove::out:
        return fmt::format("CPU {}'s store of {} to {} leaves its store buffer.", step.cpu, step.fresh, word);
      case BufferMove::read: break;
    }
    return fmt::format("CPU {} reads {} from {} in its own store buffer.", step.cpu, step.fresh, word);
  }

  [[nodiscard]] std::string of_directory(const RunStep& step) const {
    const std::string who = capital(endpoints_.label(Controller::directory, step.agent));
    std::vector<std::string> sharers;
    for (int agent = 0; agent < 64; ++agent) {
      if ((step.fresh >> agent & 1) != 0) sharers.push_back(endpoints_.label(endpoints_.home_agent(agent)));
    }
    if (step.cpu < 0 && sharers.empty()) return fmt::format("{} notes that nobody has {}.", who, line(step));
    std::string text = fmt::format("{} notes of {}: ", who, line(step));
    if (step.cpu >= 0) text += endpoints_.label(endpoints_.home_agent(step.cpu)) + " owns it";
    if (step.cpu >= 0 && !sharers.empty()) text += ", and ";
    if (!sharers.empty()) text += listed(sharers) + (sharers.size() == 1 ? " has a copy" : " have copies");
    return text + ".";
  }

  const RecordedSteps& run_;
  const Endpoints endpoints_;
  const WordNames words_;
  const std::vector<std::string> messages_;
  // requests by bus, line and time of their order step
  std::map<std::tuple<int, std::uint64_t, Tick>, const RunStep*> ordered_;
};

}  // namespace

std::vector<std::string> sentences(const RecordedSteps& run) {
  const Sentences all(run);
  std::vector<std::string> texts;
  texts.reserve(run.steps.size());
  for (const RunStep& step : run.steps) texts.push_back(all.of(step));
  return texts;
}

}  // namespace linebounce::sim
