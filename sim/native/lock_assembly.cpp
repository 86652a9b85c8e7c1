#include "sim/native/lock_assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "models/text/trimmed.hpp"

namespace linebounce::sim {
namespace {

// External functions that the code may call: those of workloads/native/runtime/runtime.c, and those for exception unwinding.
constexpr std::array<std::string_view, 16> kRuntime = {"memcpy",
                                                       "memmove",
                                                       "memset",
                                                       "abort",
                                                       "__assert_fail",
                                                       "__tls_get_addr",
                                                       "_Unwind_Resume",
                                                       "linebounce_cpu",
                                                       "linebounce_cpus",
                                                       "linebounce_node_of",
                                                       "linebounce_cache_of",
                                                       "linebounce_now_ns",
                                                       "linebounce_clock_ns",
                                                       "linebounce_of_cpu",
                                                       "linebounce_enter",
                                                       "__stack_chk_fail"};
// Instructions and functions that tell the host's time. They would say nothing of simulated time, and the checker could not
// choose what they say.
constexpr std::array<std::string_view, 3> kHostClocks = {"rdtsc", "rdtscp", "rdpmc"};
constexpr std::array<std::string_view, 7> kHostTimes = {"clock_gettime", "clock",        "time", "times",
                                                        "gettimeofday",  "timespec_get", "ftime"};
constexpr std::string_view kSimulatedTime = "; linebounce_now_ns() tells simulated time";
// Functions that print, some of them as GCC replaces others by them.
constexpr std::array<std::string_view, 10> kPrinting = {"printf", "puts",   "putchar",      "fprintf",       "fputs",
                                                        "fputc",  "fwrite", "__printf_chk", "__fprintf_chk", "perror"};
constexpr std::string_view kNoOutput =
    "; a lock prints nothing: `linebounce steps` shows each access, `linebounce check-lock` the order that breaks a lock";
// Others whose results would not be simulated. The last ones wait for a time of the host's.
constexpr std::array<std::string_view, 13> kNever = {"syscall", "sysenter", "int",    "rdrand", "rdseed",  "rdpid",   "cpuid",
                                                     "xbegin",  "xgetbv",   "umwait", "tpause", "monitor", "monitorx"};
// Prefixes of the registers that pass a call's arguments.
constexpr std::array<std::string_view, 15> kArguments = {"%rdi", "%edi", "%rsi", "%esi", "%sil", "%rdx", "%edx", "%dl",
                                                         "%rcx", "%ecx", "%cl",  "%r8",  "%r8d", "%r9",  "%r9d"};

bool is_one_of(std::string_view word, const auto& words) {
  return std::ranges::find(words, word) != words.end();
}

struct Instruction {
  std::string_view name, operands;
};

class Preparation {
 public:
  explicit Preparation(const std::string& text) : text_(text) {}

  PreparedAssembly prepare() {
    find_own_functions();
    for_each_line([this](std::string_view line) { take(line); });
    write_sites();
    return {std::move(out_), std::move(refusals_)};
  }

 private:
  template <class Take>
  void for_each_line(Take take) const {
    std::string_view rest = text_;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      take(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }

  // Drops what clang writes behind a label, as in `acquire:   # @acquire`.
  static std::string_view without_comment(std::string_view line) {
    const bool is_label = !line.empty() && line.front() != '\t' && line.front() != '#';
    return trimmed(is_label ? line.substr(0, line.find('#')) : line);
  }

  void find_own_functions() {
    for_each_line([this](std::string_view line) {
      const std::string_view label = without_comment(line);
      if (!label.empty() && label.front() != '.' && label.back() == ':')
        own_.insert(std::string(label.substr(0, label.size() - 1)));
    });
  }

  void take(std::string_view line) {
    const std::string_view code = without_comment(line);
    if (code == "#APP" || code == "#NO_APP") {
      in_assembler_ = code == "#APP";
      write(line);
    } else if (in_assembler_) {
      take_assembler(line, code);
    } else if (code.empty() || code.front() == '#') {
      write(line);
    } else if (code.back() == ':' || code.front() == '.') {
      take_directive(code);
      write(line);
      if (code.starts_with(".loc")) add_line();
    } else {
      take_instruction(line, code);
    }
  }

  // ---- the current position in the code ----

  void take_directive(std::string_view code) {
    if (code.starts_with(".loc")) {
      const std::vector<std::string_view> words = words_of(code);
      if (words.size() >= 3) file_ = number(words[1]), line_ = number(words[2]);
    } else if (code.starts_with(".file")) {
      take_file(code);
    } else if (code.back() == ':' && code.front() != '.') {
      instructions_ = 0;
    }
  }

  // Takes `.file 1 "lock.c"` or `.file 1 "folder" "lock.c"`.
  void take_file(std::string_view code) {
    const std::vector<std::string_view> words = words_of(code);
    if (words.size() < 3 || words[1].empty() || words[1].front() == '"') return;
    const std::size_t first = code.find('"'), end = code.rfind('"');
    const std::size_t begin = code.rfind('"', end - 1);
    if (first == std::string_view::npos || begin == std::string_view::npos) return;
    files_[number(words[1])] = std::string(code.substr(begin + 1, end - begin - 1));
  }

  static std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    for (std::size_t at = 0; (at = text.find_first_not_of(" \t", at)) != std::string_view::npos;) {
      const std::size_t end = std::min(text.find_first_of(" \t", at), text.size());
      words.push_back(text.substr(at, end - at));
      at = end;
    }
    return words;
  }

  static int number(std::string_view word) {
    int value = 0;
    for (const char digit : word) {
      if (digit < '0' || digit > '9') break;
      value = 10 * value + (digit - '0');
    }
    return value;
  }

  // ---- instructions ----

  void take_instruction(std::string_view line, std::string_view code) {
    const Instruction instruction = split(code);
    if (is_pause(code)) {
      write("\tincl\tlinebounce_pauses(%rip)");
    } else if (instruction.name.starts_with("call") ||
               (instruction.name == "jmp" && instruction.operands.find("@PLT") != std::string_view::npos)) {
      take_call(line, instruction);
    } else {
      refuse_unseen(instruction);
      count(instruction);
      write(line);
    }
  }

  static Instruction split(std::string_view code) {
    const std::size_t end = std::min(code.find_first_of(" \t"), code.size());
    return {code.substr(0, end), trimmed(code.substr(end))};
  }

  static bool is_pause(std::string_view code) {
    return code == "pause" || code == "rep nop" || code == "rep; nop" || code == "rep;nop" || code == "rep ; nop";
  }

  // Counts an instruction, unless it sets up an argument of a runtime call: such a call stands for a single access.
  void count(const Instruction& instruction) {
    const std::size_t comma = instruction.operands.rfind(',');
    const std::string_view target =
        trimmed(comma == std::string_view::npos ? instruction.operands : instruction.operands.substr(comma + 1));
    const bool sets_argument = is_one_of(target, kArguments);
    if (sets_argument) {
      ++arguments_;
    } else {
      instructions_ += 1 + arguments_;
      arguments_ = 0;
    }
    if (instruction.name == "jmp" || instruction.name == "ret") instructions_ = arguments_ = 0;
  }

  static std::string_view hint_for_call(std::string_view name) {
    if (is_one_of(name, kHostTimes) || name.find("6chrono") != std::string_view::npos) return kSimulatedTime;
    return is_one_of(name, kPrinting) ? kNoOutput : "";
  }

  void take_call(std::string_view line, const Instruction& call) {
    std::string_view name = call.operands;
    name = name.substr(0, name.find('@'));
    write(line);
    if (name.empty() || name.front() == '*') return;  // a call through a function pointer
    const bool is_access = name.starts_with("__tsan_");
    if (name.starts_with("__tsan_atomic128")) refuse("has an atomic operation of 16 bytes; they may have 1, 2, 4 or 8");
    if (!is_access && !is_one_of(name, kRuntime) && !own_.contains(std::string(name))) {
      refuse(name.starts_with("__atomic_") || name.starts_with("__sync_")
                 ? fmt::format("calls {}: atomic operations have 1, 2, 4 or 8 bytes", name)
                 : fmt::format("calls {}, which is not in this file{}", name, hint_for_call(name)));
    }
    if (is_access) add_site(what_accesses(name));
    // A plain access is an instruction after its runtime call, which is not counted, so counting begins at -1. The runtime
    // call of an atomic operation makes the access itself.
    instructions_ = name.starts_with("__tsan_atomic") ? 0 : is_access ? -1 : instructions_;
    arguments_ = 0;
  }

  // Returns the value that workloads/native/lock_object.cpp reads as WrittenSite::what.
  static int what_accesses(std::string_view function) {
    if (function.starts_with("__tsan_atomic")) return 2;
    return function.starts_with("__tsan_volatile") ? 1 : 0;
  }

  void refuse_unseen(const Instruction& instruction) {
    if (is_one_of(instruction.name, kHostClocks)) refuse(fmt::format("executes {}{}", instruction.name, kSimulatedTime));
    if (is_one_of(instruction.name, kNever)) refuse(fmt::format("executes {}", instruction.name));
    const bool locks = instruction.name == "lock" || instruction.name.starts_with("xchg");
    if (locks && instruction.operands.find('(') != std::string_view::npos)
      refuse("has an atomic operation that the compiler does not report");
  }

  // ---- inline assembler ----

  // Takes a line of inline assembler. gcc writes the source line first, as `# 12 "lock.c" 1`.
  void take_assembler(std::string_view line, std::string_view code) {
    if (code.empty()) return;
    if (code.front() == '#') {
      const std::vector<std::string_view> words = words_of(code);
      if (words.size() > 3 && words[2].front() == '"' && number(words[1]) > 0) {
        assembler_line_ = number(words[1]);
      }
      write(line);
      return;
    }
    if (code.starts_with(".loc") || code.starts_with(".L")) {  // clang's own
      take_directive(code);
      write(line);
    } else if (is_pause(code) || code == "yield") {
      write("\tincl\tlinebounce_pauses(%rip)");
    } else if (code == "nop") {
      write(line);
    } else {
      const bool tells_time = is_one_of(split(code).name, kHostClocks);
      refuse(fmt::format("has inline assembler that can't be simulated: {}{}", code, tells_time ? kSimulatedTime : ""),
             assembler_line_);
    }
  }

  // ---- results ----

  void refuse(const std::string& what, int line = 0) { refusals_.push_back({files_[file_], line > 0 ? line : line_, what}); }

  // The label isn't local to the assembler, so that the symbol table has the place's address.
  void add_site(int what) {
    const auto number = sites_.size();
    write(fmt::format("{}{}:", kSiteLabel, number));
    sites_.push_back({file_, line_, std::max(instructions_, 0), what});
  }

  // So that a place in the code can be told from an address that is no access.
  void add_line() {
    write(fmt::format(".Llinebounce_line_{}:", lines_.size()));
    lines_.emplace_back(file_, line_);
  }

  void write(std::string_view line) {
    out_ += line;
    out_ += '\n';
  }

  void write_sites() {
    write("\t.hidden\tlinebounce_pauses");
    write("\t.section\tlinebounce_sites,\"a\",@progbits");
    write("\t.p2align\t2");
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      write(fmt::format("\t.long\t{}{} - .", kSiteLabel, i));
      write(fmt::format("\t.long\t.Llinebounce_file_{} - .", sites_[i].file));
      write(fmt::format("\t.long\t{}, {}, {}", sites_[i].line, sites_[i].instructions, sites_[i].what));
    }
    write("\t.section\tlinebounce_lines,\"a\",@progbits");
    write("\t.p2align\t2");
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      write(fmt::format("\t.long\t.Llinebounce_line_{} - .", i));
      write(fmt::format("\t.long\t.Llinebounce_file_{} - .", lines_[i].first));
      write(fmt::format("\t.long\t{}", lines_[i].second));
    }
    write("\t.section\t.rodata");
    std::set<int> named;
    for (const auto& [file, line] : lines_) write_file_name(file, named);
    for (const Site& site : sites_) write_file_name(site.file, named);
  }

  void write_file_name(int file, std::set<int>& named) {
    if (!named.insert(file).second) return;
    write(fmt::format(".Llinebounce_file_{}:", file));
    write(fmt::format("\t.string\t\"{}\"", files_[file]));
  }

  struct Site {
    int file, line, instructions, what;
  };
  const std::string& text_;
  std::string out_;
  std::vector<Refusal> refusals_;
  std::set<std::string> own_;  // names of the functions and variables that the file defines
  std::map<int, std::string> files_;
  std::vector<Site> sites_;
  std::vector<std::pair<int, int>> lines_;  // file and line of each place at which a line begins
  int file_ = 1, line_ = 0, assembler_line_ = 0;
  // Numbers of instructions since the last call: counted ones, and those that may set up the next call's arguments.
  int instructions_ = 0, arguments_ = 0;
  bool in_assembler_ = false;
};

}  // namespace

PreparedAssembly prepare_assembly(const std::string& text) {
  return Preparation(text).prepare();
}

}  // namespace linebounce::sim
