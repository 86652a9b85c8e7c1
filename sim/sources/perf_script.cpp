// Reads the output of `perf script`: samples with data addresses, "COMM PID/TID [CPU] TIME: PERIOD EVENT: ADDRESS ...". Most
// parts are optional (perf-script(1), -F). After the address comes the processor's description of the access: "|OP LOAD|LVL
// L1 hit| ... |LCK Yes|". Lines that begin with a tab belong to call chains.
#include "sim/sources/perf_script.hpp"

#include <map>
#include <optional>

#include "sim/sources/address_objects.hpp"
#include "sim/sources/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr std::uint64_t kSampleBytes = 8;  // samples have no sizes

struct Sample {
  std::string thread;  // "lbzip2/4711"
  int cpu = -1;
  std::string event;
  std::uint64_t address = 0;
  std::string access;    // "|OP LOAD|..." and what follows; may be empty
  std::string function;  // the instruction's function; empty: not stated
};

bool holds(const std::string& text, std::string_view what) {
  return text.find(what) != std::string::npos;
}

// Reads "4711/4712" and "4712".
std::optional<std::string_view> thread_id(std::string_view word) {
  const std::size_t slash = word.find('/');
  if (slash != std::string_view::npos && !decimal(word.substr(0, slash))) return std::nullopt;
  const std::string_view id = word.substr(slash == std::string_view::npos ? 0 : slash + 1);
  return decimal(id) ? std::optional(id) : std::nullopt;
}

bool is_time(std::string_view word) {
  return word.ends_with(':') && word.find('.') != std::string_view::npos && word.find_first_not_of("0123456789.:") == word.npos;
}

// Removes the command's name and the thread's number, and returns the thread. The name may contain blanks. It ends before a
// number that is followed by a CPU or a time.
std::optional<std::string> take_thread(std::string_view& text) {
  std::string command;
  while (!text.empty()) {
    const std::string_view word = take_word(text);
    const auto id = thread_id(word);
    std::string_view ahead = text;
    const std::string_view next = take_word(ahead);
    if (id && !command.empty() && (next.starts_with('[') || is_time(next))) return command + "/" + std::string(*id);
    command += (command.empty() ? "" : " ") + std::string(word);
  }
  return std::nullopt;
}

int take_cpu(std::string_view& text) {
  if (!text.starts_with('[')) return -1;
  std::string_view word = take_word(text);
  word.remove_prefix(1);
  word = word.substr(0, word.find(']'));
  const auto cpu = decimal(word);
  return cpu && *cpu < 65536 ? static_cast<int>(*cpu) : -1;
}

// Removes the event, "cpu/mem-loads,ldlat=30/P:", and a period before it, and returns the event.
std::optional<std::string> take_event(std::string_view& text) {
  std::string_view word = take_word(text);
  if (decimal(word)) word = take_word(text);
  if (word.size() < 2 || !word.ends_with(':')) return std::nullopt;
  return std::string(word.substr(0, word.size() - 1));
}

// Returns the function that follows the instruction's address, the last address of the line: "copy_page+0x7
// ([kernel.kallsyms])". The name may contain blanks.
std::string function_of(std::string_view text) {
  constexpr std::size_t kShortestAddress = 6;  // in digits; other numbers in front of the address have fewer
  if (text.ends_with(')')) text = text.substr(0, text.rfind(" ("));
  std::string_view name;
  while (!text.empty()) {
    const std::string_view word = take_word(text);
    if (word.size() >= kShortestAddress && hexadecimal(word)) name = text;
  }
  name = name.substr(0, name.rfind("+0x"));
  return name == "[unknown]" ? std::string() : std::string(name);
}

class PerfScript {
 public:
  PerfScript(const std::filesystem::path& file, trace::Writer& out) : in_(file), out_(&out), objects_(out) {}

  Losses convert() {
    while (const auto line = in_.next()) {
      if (line->starts_with('\t') || line->starts_with('#') || stripped(*line).empty()) continue;
      add(read(*line));
    }
    for (const auto& [thread, state] : threads_) leave(state);
    return losses();
  }

 private:
  struct Thread {
    std::uint32_t stream = 0;
    std::string function;  // the instruction's function
  };

  Sample read(std::string_view line) const {
    Sample sample;
    const auto thread = take_thread(line);
    if (!thread) in_.refuse("expected COMMAND PID [CPU] TIME: EVENT: ADDRESS");
    sample.thread = *thread;
    sample.cpu = take_cpu(line);
    take_word(line);  // the time
    const auto event = take_event(line);
    if (!event) in_.refuse("expected an event after the time");
    sample.event = *event;
    const auto address = hexadecimal(take_word(line));
    if (!address) in_.refuse("expected an address after the event; perf script -F +addr prints it");
    sample.address = *address;
    if (const std::size_t bar = line.find('|'); bar != std::string_view::npos) sample.access = line.substr(bar);
    sample.function = function_of(stripped(line));
    return sample;
  }

  void add(const Sample& sample) {
    Thread& thread = thread_of(sample);
    if (sample.function != thread.function) {
      leave(thread);
      thread.function = sample.function;
      if (!thread.function.empty()) append(thread, trace::Kind::enter, function(thread.function));
    }
    objects_.access(thread.stream, kind_of(sample), sample.address - sample.address % kSampleBytes, kSampleBytes);
  }

  trace::Kind kind_of(const Sample& sample) {
    const bool writes = holds(sample.access, "OP STORE") || holds(sample.event, "mem-stores");
    const bool reads = holds(sample.access, "OP LOAD") || holds(sample.event, "mem-loads");
    if (!writes && !reads) ++of_no_kind_;
    if (holds(sample.access, "LCK Yes")) return trace::Kind::fetch_add;
    return writes ? trace::Kind::store : trace::Kind::load;
  }

  Thread& thread_of(const Sample& sample) {
    const auto [found, is_new] = threads_.try_emplace(sample.thread);
    if (is_new) found->second.stream = out_->define(trace::Stream{sample.thread, sample.cpu, -1, false});
    return found->second;
  }

  std::uint32_t function(const std::string& name) {
    const auto [found, is_new] = functions_.try_emplace(name, 0);
    if (is_new) found->second = out_->define(trace::Function{name, false});
    return found->second;
  }

  void leave(const Thread& thread) {
    if (!thread.function.empty()) append(thread, trace::Kind::leave, 0);
  }

  void append(const Thread& thread, trace::Kind kind, std::uint32_t id) {
    trace::Operation operation;
    operation.kind = kind;
    operation.id = id;
    out_->append(thread.stream, operation);
  }

  [[nodiscard]] Losses losses() const {
    constexpr const char* kSource = "perf";
    Losses losses;
    losses.add(Loss::samples, kSource);
    losses.add(Loss::samples_alone, kSource);
    losses.add(Loss::no_sizes, kSource, std::to_string(kSampleBytes));
    losses.add(Loss::samples_functions, kSource);
    losses.add_count(Loss::samples_without_kind, kSource, of_no_kind_);
    losses.add_count(Loss::quotes_removed, kSource, in_.quoted());
    return losses;
  }

  LineFile in_;
  trace::Writer* out_;
  AddressObjects objects_;
  std::map<std::string, Thread> threads_;
  std::map<std::string, std::uint32_t> functions_;
  std::int64_t of_no_kind_ = 0;
};

// True if the line is a sample with a data address.
bool is_sample(std::string_view line) {
  if (!take_thread(line)) return false;
  take_cpu(line);
  if (!is_time(take_word(line))) return false;
  return take_event(line) && hexadecimal(take_word(line));
}

// Does not require the comments that perf script prints with --header.
Likeness perf_script_likeness(const Excerpt& excerpt) {
  std::int64_t samples = 0;
  Likeness likeness = likeness_of_lines(excerpt, [&](std::string_view text) {
    const bool sample = is_sample(text);
    if (sample) ++samples;
    // Lines between samples belong to call chains if they have an address and a name.
    std::string_view ahead = text;
    return sample || text.starts_with('#') || (samples > 0 && hexadecimal(take_word(ahead)) && !ahead.empty());
  });
  if (samples == 0) likeness.sure = Likeness::Sure::no;
  if (likeness.fits()) likeness.sure = Likeness::Sure::certain;
  return likeness;
}

}  // namespace

Losses convert_perf_script(const std::vector<std::filesystem::path>& files, trace::Writer& out) {
  return PerfScript(files.front(), out).convert();
}

Form perf_script_form() {
  return {.name = "perf-script",
          .what = "perf script of perf mem samples",
          .marks = "COMMAND PID [CPU] TIME: EVENT: ADDRESS",
          .likeness = perf_script_likeness,
          .convert = convert_perf_script};
}

}  // namespace linebounce::sim
