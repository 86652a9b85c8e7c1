#include "record/collector/record_program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>

#include "models/text/shell_word.hpp"
#include "record/binary/announce.h"
#include "record/collector/background_writer.hpp"
#include "record/collector/event_order.hpp"
#include "record/collector/program_image.hpp"
#include "record/collector/read_back.hpp"
#include "record/collector/recorded_process.hpp"
#include "record/collector/recording.hpp"
#include "record/collector/sanitizers.hpp"
#include "record/collector/shared_channel.hpp"
#include "record/collector/unseen_atomics.hpp"
#include "trace/files.hpp"
#include "trace/losses.hpp"
#include "trace/reader.hpp"

namespace linebounce::record {
namespace {

// ---- a program that was not compiled for recording, in QEMU ----

namespace fs = std::filesystem;

constexpr const char* kEmulator = "qemu-x86_64";

// Looks a program up in PATH, as a shell does. Empty if there is none.
std::string find_program(const std::string& name) {
  if (name.find('/') != name.npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0 && !fs::is_directory(file)) return file;
  }
  return "";
}

struct OpenElf {
  explicit OpenElf(const std::string& path) : file(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    elf = elf_begin(file, ELF_C_READ, nullptr);
  }
  ~OpenElf() {
    elf_end(elf);
    if (file >= 0) ::close(file);
  }
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;
  int file;
  Elf* elf;
};

bool is_for_this_machine(const OpenElf& program) {
  GElf_Ehdr header;
  return program.elf != nullptr && gelf_getehdr(program.elf, &header) != nullptr && header.e_machine == EM_X86_64;
}

// Whether the program is linked dynamically: only a loader can preload our library.
bool has_loader(const OpenElf& program) {
  std::size_t count = 0;
  GElf_Phdr header;
  elf_getphdrnum(program.elf, &count);
  for (std::size_t i = 0; i < count; ++i) {
    if (gelf_getphdr(program.elf, static_cast<int>(i), &header) != nullptr && header.p_type == PT_INTERP) return true;
  }
  return false;
}

void require_recordable(const std::string& name, const std::string& path) {
  if (path.empty()) throw RecordError(fmt::format("cannot run {}: there is no such program", name));
  const OpenElf program(path);
  if (!is_for_this_machine(program)) {
    throw RecordError(fmt::format("{} is not an x86-64 program; for a script, record the program that it runs", path));
  }
  if (!has_loader(program)) {
    throw RecordError(path +
                      " is linked statically: --binary records programs that use the C library as a shared one. Link it "
                      "without -static; of Go, build it with CGO_ENABLED=1 and a package that imports \"C\"");
  }
  if (const std::string sanitizer = large_sanitizer_of(program.elf); !sanitizer.empty()) {
    throw RecordError(
        fmt::format("{} was compiled with -fsanitize={}, which does not run in QEMU: compile it without", path, sanitizer));
  }
}

// 0 if there is no trace of that name.
std::uint64_t operations_in(const std::string& file) try {
  return std::filesystem::is_regular_file(file) ? trace::Reader(file).operations() : 0;
} catch (const std::exception&) {
  return 0;
}

// The path of a file that was installed with linebounce-record. The path must not contain a comma, which ends a plugin's path
// for QEMU, nor a space or colon, which separate the loader's LD_PRELOAD entries.
std::string companion(const std::string& file) {
  const fs::path path = fs::read_symlink("/proc/self/exe").parent_path() / "record" / file;
  if (!fs::exists(path)) throw RecordError(path.string() + " is missing: build or install linebounce again");
  if (path.string().find_first_of(", :") != std::string::npos) {
    throw RecordError(path.string() + ": --binary cannot use files in a folder whose name has a comma, a space or a colon");
  }
  return path.string();
}

std::string with_those_of_user(const std::string& library) {
  const char* others = std::getenv("LD_PRELOAD");
  return others == nullptr || *others == '\0' ? library : library + ":" + others;
}

// The command that runs `command` in QEMU with the plugin and the preloaded library (record/binary). Errors: RecordError if
// QEMU is not installed, or if the program is not one that a loader starts.
std::vector<std::string> binary_command(const std::vector<std::string>& command) {
  const std::string emulator = find_program(kEmulator);
  if (emulator.empty()) {
    throw RecordError(fmt::format("--binary needs {}, which is not installed: it is in Debian's package qemu-user", kEmulator));
  }
  const std::string program = find_program(command[0]);
  require_recordable(command[0], program);
  std::vector<std::string> all = {emulator, "-cpu", "max", "-0", command[0], "-plugin", companion("libbinary_plugin.so")};
  all.insert(all.end(), {"-E", "LD_PRELOAD=" + with_those_of_user(companion(PRELOAD_FILE)), program});
  all.insert(all.end(), command.begin() + 1, command.end());
  return all;
}

constexpr std::chrono::microseconds kIdle{200};
// With --spread, waiting threads begin this long after the latest creation of a thread.
constexpr std::chrono::milliseconds kSpread{20};
constexpr std::uint32_t kRingWords = 65536;  // of each thread: 512 KiB
// Interval between flushes: at most this much of the recording is lost if this process is killed.
constexpr std::chrono::seconds kFlushEvery{1};

// Objects that exist once the program, compiled for recording, has opened the channel.
class Collector {
 public:
  Collector(SharedChannel& channel, const std::string& file, Window window, TraceOutput::Instructions instructions)
      : file_(file),
        channel_(&channel.channel()),
        image_(channel.program()),
        writer_(file),
        recording_(writer_, image_, std::move(window), instructions),
        order_(channel.channel(), [this](unsigned ring, const Event& event) { take(ring, event); }) {}

  bool take_all() {
    const bool anything = order_.take_all();
    const auto now = std::chrono::steady_clock::now();
    if (!has_failed_ && now - flushed_ > kFlushEvery) {
      flushed_ = now;
      unless_it_fails([this] { writer_.flush(); });
    }
    return anything;
  }

  // `tells_pointers`: the program marks pointers, as Recording::describe_readers() requires. Errors: RecordError, also for
  // errors that occurred while the program ran.
  void finish(bool tells_pointers) {
    order_.finish();
    if (has_failed_)
      throw RecordError(file_ + " is cut off: what it has is read with --recover, as by linebounce trace info --recover");
    window_was_over_ = recording_.output().state() == TraceOutput::State::closed;
    recording_.finish();
    if (tells_pointers) recording_.describe_readers();
  }

  [[nodiscard]] const Recording& recording() const { return recording_; }
  // Whether the recorded window ended before the program did. REQUIRES: finish() was called.
  [[nodiscard]] bool window_was_over() const { return window_was_over_; }
  [[nodiscard]] const ProgramImage& image() const { return image_; }
  BackgroundWriter& writer() { return writer_; }

 private:
  void take(unsigned ring, const Event& event) {
    if (!has_failed_) unless_it_fails([&] { recording_.event(ring, event); });
    // The program waits for this count, so the library is still loaded while it is examined.
    if (event.kind == kLibraryLoaded) __atomic_fetch_add(&channel_->libraries_seen, 1, __ATOMIC_RELEASE);
  }

  // After an error, such as a full disk, the program still runs to its end; its events are taken and discarded.
  template <class Work>
  void unless_it_fails(Work work) try {
    work();
  } catch (const std::exception& error) {
    std::cerr << "linebounce-record: " << error.what() << "; the program goes on, unrecorded\n";
    has_failed_ = true;
  }

  std::string file_;
  Channel* channel_;
  ProgramImage image_;
  BackgroundWriter writer_;
  Recording recording_;
  EventOrder order_;
  bool has_failed_ = false;
  bool window_was_over_ = false;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
};

// The file that a recording is written to while the program runs. If no file has the recording's name yet, the recorder writes
// there, so that the user finds it even if the recorder is killed. Otherwise the recorder writes to a second name, and replaces
// the earlier file once the recording is complete.
class GrowingFile {
 public:
  // Errors: RecordError if something other than a file has the name beside it; trace::WriteError if another process writes it.
  GrowingFile(const std::string& file, const trace::WriteLock& lock) : path_(file) {
    const auto place = trace::replaceable(file);
    if (!place || lock.is_new()) return;
    path_ = fs::path(*place).replace_filename("." + place->filename().string()).string();
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path_, error);
    if (fs::exists(status) && (!fs::is_regular_file(status) || fs::hard_link_count(path_, error) > 1))
      throw RecordError(path_ + ": is in the way; move it, or choose another file");
    place_ = *place;
    lock_.emplace(path_, file);
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  // Gives the complete recording its name, in place of an earlier one. Errors: RecordError.
  void finish() const {
    if (!place_.empty()) give_name(path_, place_);
  }
  // Moves the earlier recording to the first free name NAME.1, NAME.2 and so on, and returns this. REQUIRES: there is one.
  // Errors: RecordError.
  [[nodiscard]] std::string set_aside_earlier() const {
    for (int number = 1;; ++number) {
      const fs::path kept = fs::path(place_).concat(fmt::format(".{}", number));
      std::error_code error;
      if (fs::exists(fs::symlink_status(kept, error))) continue;
      give_name(place_, kept);
      return kept.string();
    }
  }
  // Leaves the earlier recording in place, and deletes this one. REQUIRES: there is an earlier one.
  void drop() const {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

 private:
  static void give_name(const fs::path& from, const fs::path& to) {
    std::error_code error;
    fs::rename(from, to, error);
    if (error) throw RecordError(fmt::format("{}: cannot be written: {}", to.string(), error.message()));
  }

  std::string path_;
  fs::path place_;  // empty: the recording grows there
  std::optional<trace::WriteLock> lock_;
};

std::string default_file(const std::string& program) {
  return std::filesystem::path(program).filename().string() + ".lbt";
}

// The recorded program may outlive the command, which may be a script that runs it.
bool is_gone(pid_t process) {
  return process == 0 || (::kill(process, 0) != 0 && errno == ESRCH);
}

using trace::Loss;
using trace::Losses;

constexpr std::string_view kRecorder = "linebounce-record";

Losses losses_of_compiled(const Recording& recording, const ProgramImage& image, bool is_untimed) {
  // Losses are listed from the most misleading to the least.
  Losses losses = unseen_atomics(image, [&recording](const std::string& function) { return recording.has_run(function); });
  losses.add(Loss::libraries_not_compiled, kRecorder);
  if (recording.has_code_of_llvm()) losses.add(Loss::sizes_left_out, kRecorder);
  if (is_untimed) {
    losses.add(Loss::instructions_assumed, kRecorder);
    return losses;
  }
  losses.add(Loss::instructions_measured, kRecorder, fmt::format("{}", trace::kCyclesOfInstruction));
  if (const std::string part = recording.disturbances(); !part.empty()) losses.add(Loss::disturbances, kRecorder, part);
  return losses;
}

Losses losses_of_binary() {
  Losses losses;
  for (const Loss loss : {Loss::inside_c_library, Loss::plain_atomics, Loss::jumped_functions, Loss::foreign_threads})
    losses.add(loss, kRecorder);
  return losses;
}

// "`queue`", "`queue`, `table` and 3 more".
std::string in_short(const std::vector<std::string>& names) {
  constexpr std::size_t kMostNames = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMostNames, names.size()); ++i)
    text += fmt::format("{}`{}`", i == 0 ? "" : i + 1 == names.size() ? " and " : ", ", names[i]);
  return names.size() > kMostNames ? text + fmt::format(" and {} more", names.size() - kMostNames) : text;
}

std::vector<std::string> what_is_missing(const Channel& channel, const Recording& recording, Losses losses) {
  if (recording.had_atomics()) losses.add(Loss::own_locks, kRecorder);
  if (const auto apart = recording.output().threads_apart(); apart.threads > 0)
    losses.add(Loss::threads_apart, kRecorder, fmt::format("{} of {}", apart.threads, apart.of));
  const auto count = [&losses](std::uint64_t number, Loss loss) {
    losses.add_count(loss, kRecorder, static_cast<std::int64_t>(number));
  };
  if (const std::string why = recording.why_types_are_missing(); !why.empty()) losses.add(Loss::types_missing, kRecorder, why);
  const std::vector<std::string> shared = recording.shared_with_children();
  if (channel.forks > 0 && !shared.empty()) losses.add(Loss::shared_memory, kRecorder, in_short(shared));
  count(channel.clones, Loss::cloned);
  count(channel.forks, Loss::forks);
  count(channel.others, Loss::later_programs);
  count(channel.without_ring, Loss::threads_without_ring);
  count(channel.given_up, Loss::threads_given_up);
  count(channel.unknown_joins, Loss::unknown_joins);
  count(channel.nested_teams, Loss::nested_teams);
  count(channel.unknown_outcomes, Loss::unknown_outcomes);
  count(recording.foreign_releases(), Loss::foreign_releases);
  count(recording.foreign_rounds(), Loss::foreign_rounds);
  return losses.sentences();
}

std::string why_nothing_was_recorded(const RecordOptions& options) {
  const std::string ran = options.command[0] + " ran, but nothing was recorded: ";
  if (options.is_binary) return ran + "QEMU or the program's loader did not take what linebounce-record gave them";
  return ran +
         "it was not compiled by linebounce-cc or linebounce-c++. Compile it by them, all of it, as with: make clean && make "
         "CC=linebounce-cc CXX=linebounce-c++, or record it as it is: --binary";
}

TraceOutput::Instructions instructions_of(const RecordOptions& options) {
  using enum TraceOutput::Instructions;
  if (options.is_binary) return counted;
  return options.is_untimed ? assumed : measured;
}

std::unique_ptr<Collector> collect(SharedChannel& channel, RecordedProcess& process, const RecordOptions& options,
                                   const std::string& file) {
  std::unique_ptr<Collector> collector;
  for (;;) {
    // tested before the rings are emptied: if true, nothing can be added to them afterwards
    const bool is_over = process.has_ended() && is_gone(channel.program());
    if (collector == nullptr && channel.program() != 0 && !is_over) {
      collector = std::make_unique<Collector>(channel, file, options.window, instructions_of(options));
      channel.let_program_go_on();
    }
    const bool anything = collector != nullptr && collector->take_all();
    if (is_over) return collector;
    process.pause(anything ? std::chrono::microseconds(0) : kIdle);
  }
}

// The options that chose a part of the run, as the user would type them again; empty: the whole run.
std::string window_text(const Window& window) {
  std::string text;
  if (window.count != UINT64_MAX) text += fmt::format(" --window {}:{}", window.skip, window.count);
  if (!window.from.empty()) text += " --from " + shell_word(window.from);
  if (!window.until.empty()) text += " --until " + shell_word(window.until);
  if (window.after_s > 0) text += fmt::format(" --after {}", window.after_s);
  if (std::isfinite(window.for_s)) text += fmt::format(" --for {}", window.for_s);
  return text;
}

// The recorder's command with its options. Without the trace's name.
std::string recorder_text(const RecordOptions& options) {
  return fmt::format("{}{}{}{}{}", trace::kProgramRecorder, options.is_binary ? " --binary" : "",
                     options.is_untimed ? trace::kUntimed : "", options.spreads ? " --spread" : "",
                     window_text(options.window));
}

// How the program was killed; empty if it ended by itself. The recorded program may be another process's child, whose end
// nobody tells us; if it dies, it does not note its exit in the channel.
std::string end_of(const RecordedProcess& process, const Channel& channel) {
  if (const std::string killed = process.killed_by(); !killed.empty()) return killed;
  const bool is_other = static_cast<pid_t>(channel.program) != process.id();
  return is_other && channel.exited == 0 ? "ended without an exit, as one that is killed does" : "";
}

// Gives the recording its name. A longer earlier one is worth more than one of a window that was missed, or than one that no
// command reads.
void put_in_place(const GrowingFile& growing, Recorded& recorded) {
  recorded.earlier = growing.path() == recorded.file ? 0 : operations_in(recorded.file);
  if (recorded.earlier > 0 && recorded.operations == 0) {
    growing.drop();
    recorded.kept = recorded.file;
    return;
  }
  if (recorded.earlier > recorded.operations || (recorded.earlier > 0 && !recorded.unread.empty()))
    recorded.kept = growing.set_aside_earlier();
  growing.finish();
}

void require_other_file(const std::string& file, const std::string& program) {
  std::error_code error;
  if (fs::equivalent(file, find_program(program), error))
    throw RecordError(fmt::format("{}: is the program that is to be recorded; name another file with -o", file));
}

}  // namespace

Recorded record_program(const RecordOptions& options) {
  const std::string file = options.file.empty() ? default_file(options.command[0]) : options.file;
  require_other_file(file, options.command[0]);
  survive_failed_writes();
  // Taken before the program starts: a run whose trace is locked by another process would be in vain.
  const trace::WriteLock lock(file, file);
  const GrowingFile growing(file, lock);
  SharedChannel channel(kRingWords);
  channel.channel().measures_time = instructions_of(options) == TraceOutput::Instructions::measured ? 1 : 0;
  if (options.spreads) channel.channel().spread_ns = std::chrono::nanoseconds(kSpread).count();
  const std::vector<std::string> command = options.is_binary ? binary_command(options.command) : options.command;
  RecordedProcess process(command, CHANNEL_VARIABLE, channel.path());
  const auto collector = collect(channel, process, options, growing.path());
  if (collector == nullptr) throw RecordError(why_nothing_was_recorded(options));
  collector->finish(!options.is_binary);
  Recorded recorded;
  recorded.file = file;
  recorded.operations = collector->recording().output().operations();
  recorded.threads = collector->writer().symbols().streams.size();
  recorded.apart = collector->recording().output().threads_apart();
  recorded.missing =
      what_is_missing(channel.channel(), collector->recording(),
                      options.is_binary ? losses_of_binary()
                                        : losses_of_compiled(collector->recording(), collector->image(), options.is_untimed));
  recorded.killed_by = end_of(process, channel.channel());
  recorded.exit_status = process.exit_status();
  if (!recorded.killed_by.empty() && !collector->window_was_over())
    recorded.missing.push_back(trace::facts_text(Loss::killed, kRecorder, recorded.killed_by));
  if (const std::string part = window_text(options.window); !part.empty())
    recorded.missing.push_back(trace::facts_text(Loss::part_of_run, kRecorder, part.substr(1)));
  trace::Summary summary;
  summary.program = shell_line(options.command);
  summary.recorder = recorder_text(options);
  summary.missing = recorded.missing;
  collector->writer().finish(summary);
  if (!lock.is_in_place()) throw RecordError(file + ": was deleted or replaced while it was written: this trace is lost");
  process.take_signals();
  recorded.unread = read_back(growing.path(), file, recorded.operations, [&process] { return process.take_signals(); });
  put_in_place(growing, recorded);
  return recorded;
}

}  // namespace linebounce::record
