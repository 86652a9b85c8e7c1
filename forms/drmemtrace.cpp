// Reads the output of the view tool of DynamoRIO's drmemtrace (formerly drcachesim). A line is a record: "RECORD INSTRUCTION:
// THREAD read 8 byte(s) @ 0xADDRESS by PC 0xPC", likewise "write", "ifetch", "pref-r" and others, or "<marker: ...>". Before
// 2022, lines began with "RECORD: TTHREAD", and before that with "TTHREAD". In a trace of several workloads, the thread is
// written "W0.T17". An ifetch with many bytes continues on the next line. The traced program's own output may precede the
// records; ruled lines and the tool's own results may stand between them.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "forms/address_objects.hpp"
#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

constexpr std::uint64_t kLargestViewed = 4096;  // in bytes, as in lackey.cpp: x86's xsave writes that much

constexpr std::string_view kViewHead = "Output format:", kViewResults = "View tool results";

struct ViewedAccess {
  std::uint64_t bytes, address;
};

// True for "T17" and "W0.T17".
bool is_thread_name(std::string_view word) {
  const std::size_t letter = word.find('T');
  if (letter == word.npos || !decimal(word.substr(letter + 1))) return false;
  const std::string_view workload = word.substr(0, letter);
  return workload.empty() || (workload.starts_with('W') && workload.ends_with('.'));
}

// Returns what follows the numbers of a record and an instruction: "THREAD read 8 byte(s) @ ..."; none for other lines.
std::optional<std::string_view> behind_numbers(std::string_view line) {
  std::string_view ahead = line;
  if (is_thread_name(take_word(ahead)) && !ahead.empty()) return line;
  const std::size_t colon = line.find(": ");
  std::string_view prefix = line.substr(0, colon);
  if (colon == line.npos || !decimal(take_word(prefix)) || (!prefix.empty() && !decimal(prefix))) return std::nullopt;
  return line.substr(colon + 1);
}

// True if the line is certainly a record: "1 1: 17 read 8 byte(s) @ 0x...", or "1 0: 17 <marker: version 6>".
bool is_viewed_record(std::string_view line) {
  const auto rest = behind_numbers(line);
  return rest && (rest->find(" byte(s) @ 0x") != rest->npos || rest->find(" <marker: ") != rest->npos);
}

class DrMemtrace {
 public:
  DrMemtrace(const std::filesystem::path& file, trace::Writer& out)
      : in_(file), out_(&out), objects_(out, AddressObjects::Addresses::of_virtual_pages) {}

  Losses convert() {
    while (const auto line = in_.next()) {
      const std::string_view text = stripped(*line);
      if (text.starts_with(kViewResults)) {
        complete_ = true;
        break;
      }
      began_ = began_ || text.starts_with(kViewHead) || is_viewed_record(text);
      if (began_ && !text.empty() && !text.starts_with(kViewHead) && !text.starts_with('<') && !text.starts_with("---"))
        record(text);
    }
    for (auto& [name, thread] : threads_) {
      if (thread.fetched) thread.fetched->finish();
    }
    return losses();
  }

 private:
  // A traced thread. Its stream is defined at its first operation, because markers before it may tell its CPU.
  struct Thread {
    int cpu = -1;
    std::uint32_t stream = 0;
    std::optional<FetchedInstructions> fetched{};
  };

  void record(std::string_view line) {
    const auto behind = behind_numbers(line);
    if (!behind) in_.refuse("expected RECORD INSTRUCTION: THREAD and what it does, as the view tool prints it");
    std::string_view rest = *behind;
    const std::string_view name = take_word(rest);
    if (rest.starts_with('<')) {
      marker(name, rest);
      return;
    }
    const std::string_view kind = take_word(rest);
    if (is_data(kind)) {
      data(name, kind, read(rest));
    } else if (kind == "ifetch") {
      read(rest);
      thread(name).fetched->fetch();
    } else if (!hexadecimal(kind)) {  // a hexadecimal word is another byte of the previous instruction
      in_.refuse("expected ifetch, read, write, iflush, dflush, pref... or <marker: ...>");
    }
  }

  static bool is_data(std::string_view kind) {
    return kind == "read" || kind == "write" || kind == "dflush" || kind == "iflush" || kind.starts_with("pref");
  }

  // Parses the rest of an access: "8 byte(s) @ 0x00007fdf64e2adc8 by PC 0x0000000000404a7e".
  ViewedAccess read(std::string_view text) const {
    const auto bytes = decimal(take_word(text));
    const bool worded = take_word(text) == "byte(s)" && take_word(text) == "@";
    const auto address = hexadecimal(take_word(text));
    if (!bytes || !worded || !address || *bytes > kLargestViewed) in_.refuse("expected SIZE byte(s) @ 0xADDRESS");
    return {*bytes, *address};
  }

  void data(std::string_view name, std::string_view kind, const ViewedAccess& access) {
    Thread& it = thread(name);
    const bool reads = kind == "read", writes = kind == "write";
    if (!reads && !writes) {
      if (kind == "dflush" || kind == "iflush") ++flushes_;
      // Skips prefetches of instructions, and those that the hardware made without a request of the program.
      if (!kind.starts_with("pref") || kind.starts_with("pref-i") || kind == "pref-HW") return;
      objects_.prefetch(it.stream, access.address, kind.starts_with("pref-w") ? trace::kForWrite : std::uint16_t{0});
      return;
    }
    it.fetched->access();
    objects_.access(it.stream, reads ? trace::Kind::load : trace::Kind::store, access.address, access.bytes);
  }

  // Parses "<marker: tid 2765542 on core 3>".
  void marker(std::string_view name, std::string_view text) {
    constexpr std::string_view kOnCore = " on core ";
    const std::size_t on = text.find(kOnCore);
    if (on == std::string_view::npos || !text.ends_with('>')) return;
    const auto cpu = decimal(text.substr(on + kOnCore.size(), text.size() - 1 - on - kOnCore.size()));
    if (cpu && *cpu < 65536) threads_[std::string(name)].cpu = static_cast<int>(*cpu);
  }

  Thread& thread(std::string_view name) {
    Thread& it = threads_[std::string(name)];
    if (it.fetched) return it;
    it.stream = out_->define(trace::Stream{"thread/" + std::string(name), it.cpu, -1, false});
    it.fetched.emplace(*out_, it.stream);
    return it;
  }

  [[nodiscard]] Losses losses() const {
    constexpr const char* kSource = "drmemtrace";
    Losses losses;
    losses.add(Loss::no_atomics, kSource);
    losses.add(Loss::no_locks, kSource);
    losses.add(Loss::no_order, kSource);
    losses.add(Loss::no_names, kSource);
    losses.add(Loss::frames_unknown, kSource);
    losses.add_count(Loss::flushes_dropped, kSource, flushes_);
    if (!complete_) losses.add(Loss::cut_off, kSource, "the view tool's results");
    losses.add_count(Loss::quotes_removed, kSource, in_.quoted());
    return losses;
  }

  LineFile in_;
  trace::Writer* out_;
  AddressObjects objects_;
  std::map<std::string, Thread> threads_;
  std::int64_t flushes_ = 0;
  bool began_ = false, complete_ = false;
};

Losses convert_drmemtrace(const std::vector<std::filesystem::path>& files, trace::Writer& out) {
  return DrMemtrace(files.front(), out).convert();
}

}  // namespace

Form drmemtrace_form() {
  return {.name = "drmemtrace",
          .what = "DynamoRIO's drmemtrace (drcachesim), as its view tool prints it",
          .marks = "\"Output format:\", or a line such as 1 1: THREAD read 8 byte(s) @ 0xADDRESS for each record",
          .likeness =
              [](const Excerpt& excerpt) {
                const bool named = std::ranges::any_of(excerpt.lines, [](const Excerpt::Line& line) {
                  return line.text.starts_with(kViewHead) || is_viewed_record(line.text);
                });
                return certain_if(named, "it has the view tool's head or records");
              },
          .convert = convert_drmemtrace};
}

}  // namespace linebounce::sim
