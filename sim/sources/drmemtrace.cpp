// Reads the output of the view tool of DynamoRIO's drmemtrace (formerly drcachesim). A line is a record: "RECORD INSTRUCTION:
// THREAD read 8 byte(s) @ 0xADDRESS by PC 0xPC", likewise "write", "ifetch", "pref-r" and others, or "<marker: ...>". Before
// 2022, lines began with "RECORD: TTHREAD". In a trace of several workloads, the thread is written "W0.T17". An ifetch with
// many bytes continues on the next line. Ruled lines and the tool's own results may stand between records.
#include <fmt/format.h>

#include <map>
#include <optional>

#include "sim/sources/address_objects.hpp"
#include "sim/sources/forms.hpp"
#include "sim/sources/line_file.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

constexpr std::uint64_t kLargestViewed = 4096;  // in bytes, as in lackey.cpp: x86's xsave writes that much

struct ViewedAccess {
  std::uint64_t bytes, address;
};

class DrMemtrace {
 public:
  DrMemtrace(const std::filesystem::path& file, trace::Writer& out) : in_(file), out_(&out), objects_(out) {}

  Losses convert() {
    while (const auto line = in_.next()) {
      const std::string_view text = stripped(*line);
      if (text.starts_with("View tool results")) {
        complete_ = true;
        break;
      }
      if (!text.empty() && !text.starts_with("Output format:") && !text.starts_with('<') && !text.starts_with("---"))
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
    const std::size_t colon = line.find(": ");
    std::string_view prefix = line.substr(0, colon);
    if (colon == std::string_view::npos || !decimal(take_word(prefix)) || (!prefix.empty() && !decimal(prefix)))
      in_.refuse("expected RECORD INSTRUCTION: THREAD and what it does, as the view tool prints it");
    std::string_view rest = line.substr(colon + 1);
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
  bool complete_ = false;
};

Losses convert_drmemtrace(const std::vector<std::filesystem::path>& files, trace::Writer& out) {
  return DrMemtrace(files.front(), out).convert();
}

}  // namespace

Form drmemtrace_form() {
  return {.name = "drmemtrace",
          .what = "DynamoRIO's drmemtrace (drcachesim), as its view tool prints it",
          .marks = "\"Output format:\" and a line for each record",
          .likeness =
              [](const Excerpt& excerpt) {
                const bool named = !excerpt.lines.empty() && excerpt.lines.front().text.starts_with("Output format:");
                return certain_if(named, "it begins with the output format of the view tool");
              },
          .convert = convert_drmemtrace};
}

}  // namespace linebounce::sim
