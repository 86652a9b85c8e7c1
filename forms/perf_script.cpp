// Reads the output of `perf script`: samples with data addresses, "COMM PID/TID [CPU] TIME: PERIOD EVENT: ADDRESS ...". Most
// parts are optional (perf-script(1), -F). After the address comes the processor's description of the access, a number and
// its meaning: "10268100142 |OP LOAD|LVL L1 hit| ... |LCK Yes|". An instruction's address and its function end the line, or
// stand on lines of their own: the call chain.
//
// `perf mem report -D` dumps the same samples under the titles "# PID, TID, IP, ADDR, LOCAL WEIGHT, DSRC, SYMBOL", with the
// description as a number alone. With --phys-data and --data-page-size there are further columns.
#include "forms/perf_script.hpp"

#include <algorithm>
#include <map>
#include <optional>

#include "forms/address_objects.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr std::uint64_t kSampleBytes = 8;  // samples have no sizes

struct Sample {
  std::string thread;  // "lbzip2/4711"
  std::string time;    // "3678.072400:"; may be empty
  int cpu = -1;
  std::string event;
  std::uint64_t address = 0;
  std::string access;    // "|OP LOAD|..." and what follows; may be empty
  std::string function;  // the instruction's function; empty: not stated
};

constexpr std::string_view kDumpTitles = "# PID, TID, IP, ADDR, ";

// The access's description as perf script prints it, from its number: perf_event.h, perf_mem_data_src.
std::string access_of_source(std::uint64_t source) {
  constexpr std::uint64_t kLoadBit = 2, kStoreBit = 4, kLockedBit = std::uint64_t{2} << 24;
  std::string access = (source & kStoreBit) != 0 ? "|OP STORE|" : (source & kLoadBit) != 0 ? "|OP LOAD|" : "|";
  return (source & kLockedBit) != 0 ? access + "LCK Yes|" : access;
}

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

// Removes the command's name and the thread's number, and returns the thread. The name may contain blanks, or be missing. It
// ends before a number that is followed by a CPU or a time.
std::optional<std::string> take_thread(std::string_view& text) {
  std::string command;
  while (!text.empty()) {
    const std::string_view word = take_word(text);
    const auto id = thread_id(word);
    std::string_view ahead = text;
    const std::string_view next = take_word(ahead);
    const bool is_last = next.starts_with('[') || is_time(next);
    if (id && is_last && !command.empty()) return command + "/" + std::string(*id);
    if (id && is_last && word.find('/') != word.npos) return std::string(*id);
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

// Removes the time and returns it; empty if there is none.
std::string take_time(std::string_view& text) {
  std::string_view ahead = text;
  const std::string_view word = take_word(ahead);
  if (!is_time(word)) return {};
  text = ahead;
  return std::string(word);
}

// Removes the event, "cpu/mem-loads,ldlat=30/P:", and a period before it, and returns the event; empty if there is none.
std::string take_event(std::string_view& text) {
  std::string_view ahead = text;
  std::string_view word = take_word(ahead);
  if (decimal(word)) word = take_word(ahead);
  if (word.size() < 2 || !word.ends_with(':')) return {};
  text = ahead;
  return std::string(word.substr(0, word.size() - 1));
}

// Removes the data address and returns it. Returns none if the only number is another's: the access's description begins with
// one, and the instruction's address is one before a symbol. Only for page faults does perf name what the data address is in.
std::optional<std::uint64_t> take_address(std::string_view& text, std::string_view event) {
  std::string_view ahead = text;
  const auto address = hexadecimal(take_word(ahead));
  std::string_view behind = ahead;
  const bool is_only_number = !ahead.empty() && !hexadecimal(take_word(behind));
  if (!address || (is_only_number && event.find("fault") == event.npos)) return std::nullopt;
  text = ahead;
  return address;
}

// True for a line of a call chain: "ffffffff81234567 futex_wait+0x17 ([kernel.kallsyms])".
bool is_of_chain(std::string_view line) {
  if (!line.starts_with(' ') && !line.starts_with('\t')) return false;
  return hexadecimal(take_word(line)) && !line.empty() && !line.starts_with('[');
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
  return name == "[unknown]" || name.starts_with('|') ? std::string() : std::string(name);
}

// True if the line is a sample with a number that may be a data address, and with a CPU and an event or with a time.
bool is_sample(std::string_view line) {
  if (!take_thread(line)) return false;
  const bool has_cpu = line.starts_with('[');
  take_cpu(line);
  const bool has_time = !take_time(line).empty(), has_event = !take_event(line).empty();
  return (has_time || (has_cpu && has_event)) && hexadecimal(take_word(line));
}

class PerfScript {
 public:
  PerfScript(const std::filesystem::path& file, trace::Writer& out)
      : in_(file), out_(&out), objects_(out, AddressObjects::Addresses::of_virtual_pages) {}

  Losses convert() {
    while (const auto line = in_.next()) {
      const bool is_empty = stripped(*line).empty();
      if (!is_empty && dump_columns_ == 0 && !line->starts_with('#') && is_of_chain(*line) && !is_sample(*line)) {
        if (pending_ && pending_->function.empty()) pending_->function = function_of(stripped(*line));
        continue;
      }
      add_pending();
      if (line->starts_with(kDumpTitles)) dump_titles(*line);
      if (!is_empty && !line->starts_with('#')) pending_ = dump_columns_ > 0 ? read_dump(*line) : read(*line);
    }
    add_pending();
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
    sample.time = take_time(line);
    sample.event = take_event(line);
    const auto address = take_address(line, sample.event);
    if (!address) in_.refuse("this sample has no data address; perf script -F +addr prints it");
    sample.address = *address;
    if (const std::size_t bar = line.find('|'); bar != std::string_view::npos) sample.access = line.substr(bar);
    sample.function = function_of(stripped(line));
    return sample;
  }

  void dump_titles(std::string_view line) { dump_columns_ = static_cast<std::size_t>(std::ranges::count(line, ',')) + 1; }

  // Reads "20134 20135 0x401000 0x7ffd0010 225 0x26a100142 /usr/bin/prog:worker". -x replaces the blanks.
  Sample read_dump(std::string_view line) const {
    std::string row(line);
    const std::size_t behind = std::min(row.find_first_not_of("0123456789 "), row.size());
    const bool has_blanks = row.find_first_of(" \t") < behind;
    if (const char separator = behind < row.size() ? row[behind] : ' '; !has_blanks) std::ranges::replace(row, separator, ' ');
    const std::vector<std::string_view> words = words_of(row);
    const auto process = words.size() >= dump_columns_ ? decimal(words[0]) : std::nullopt;
    const auto thread = process ? decimal(words[1]) : std::nullopt;
    // A version of perf prints "0x016" where it means the format of an address with 16 digits.
    constexpr std::string_view kSlip = "0x016";
    const auto address =
        !thread ? std::nullopt : hexadecimal(words[3].starts_with(kSlip) ? words[3].substr(kSlip.size()) : words[3]);
    const auto source = address ? hexadecimal(words[dump_columns_ - 2]) : std::nullopt;
    if (!source) in_.refuse("expected PID TID IP ADDR ... DSRC SYMBOL, as the titles say");
    Sample sample{.thread = std::string(words[1]),
                  .time = {},
                  .event = {},
                  .address = *address,
                  .access = access_of_source(*source),
                  .function = std::string(words[dump_columns_ - 1])};
    for (std::size_t i = dump_columns_; i < words.size(); ++i) sample.function += " " + std::string(words[i]);
    sample.function.erase(0, sample.function.find(':') + 1);  // behind the object's path
    if (sample.function.starts_with("???")) sample.function.clear();
    return sample;
  }

  // Adds the last sample. A call chain may have named its function.
  void add_pending() {
    if (!pending_) return;
    if (is_repeated(*pending_)) {
      ++repeated_;
    } else {
      add(*pending_);
    }
    last_ = std::move(*pending_);
    pending_.reset();
  }

  // Arm's SPE makes several events of one access: l1d-access, tlb-access, memory, ...
  [[nodiscard]] bool is_repeated(const Sample& sample) const {
    return !sample.time.empty() && sample.time == last_.time && sample.thread == last_.thread && sample.cpu == last_.cpu &&
           sample.address == last_.address && sample.access == last_.access && sample.event != last_.event;
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
    losses.add(Loss::frames_unknown, kSource);
    losses.add_count(Loss::samples_without_kind, kSource, of_no_kind_);
    losses.add_count(Loss::samples_repeated, kSource, repeated_);
    losses.add_count(Loss::quotes_removed, kSource, in_.quoted());
    return losses;
  }

  LineFile in_;
  trace::Writer* out_;
  AddressObjects objects_;
  std::map<std::string, Thread> threads_;
  std::map<std::string, std::uint32_t> functions_;
  std::size_t dump_columns_ = 0;  // of perf mem report -D; 0: the file is perf script's
  std::int64_t of_no_kind_ = 0, repeated_ = 0;
  std::optional<Sample> pending_;
  Sample last_;
};

// Does not require the comments that perf script prints with --header.
Likeness perf_script_likeness(const Excerpt& excerpt) {
  const auto is_dump = [](const Excerpt::Line& line) { return line.text.starts_with(kDumpTitles); };
  if (std::ranges::any_of(excerpt.lines, is_dump)) return {Likeness::Sure::certain, "it has the titles of perf mem report -D"};
  std::int64_t samples = 0;
  Likeness likeness = likeness_of_lines(excerpt, [&](std::string_view text) {
    const bool sample = is_sample(text);
    if (sample) ++samples;
    // Lines between samples belong to call chains if they have an address and a name. The excerpt's lines have no blanks in
    // front.
    return sample || text.starts_with('#') || (samples > 0 && is_of_chain(" " + std::string(text)));
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
          .what = "perf script of perf mem samples, or perf mem report -D",
          .marks = "COMMAND PID [CPU] TIME: EVENT: ADDRESS; # PID, TID, IP, ADDR, ...",
          .likeness = perf_script_likeness,
          .convert = convert_perf_script};
}

}  // namespace linebounce::sim
