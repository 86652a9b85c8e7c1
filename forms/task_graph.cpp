// Reads Contech's task graphs, version 4315, which CADSS takes as traces: a head, what is known of basic blocks, tasks packed
// with zlib, and an index of their places. A task is a piece of one context, which is a thread. As in CADSS, a context's tasks
// of basic blocks follow each other by number, and contexts have no order between them. All numbers are little endian.
#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "forms/address_lines.hpp"
#include "forms/line_file.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

constexpr std::uint64_t kTaskGraphVersion = 4315;
constexpr std::string_view kTaskGraphMark{"\xdb\x10\0\0", 4};
constexpr int kContextBits = 32;
constexpr std::uint64_t kMostContext = 65535;

// The kinds of tasks and actions that are used.
constexpr std::uint64_t kTaskOfBlocks = 0;
constexpr std::uint64_t kActionReads = 1, kActionWrites = 2, kActionSize = 5, kActionBlock = 6;

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[i]);
  return number;
}

class TaskGraph {
 public:
  explicit TaskGraph(const std::filesystem::path& file) : name_(file.string()), stream_(open_input(file)) {
    stream_.seekg(0, std::ios::end);
    size_ = static_cast<std::uint64_t>(stream_.tellg());
    stream_.seekg(0);
    if (number(4) != kTaskGraphVersion) refuse(fmt::format("no task graph of version {}", kTaskGraphVersion));
    read_index(number(8));
  }

  std::optional<AddressLine> next() {
    for (;;) {
      while (action_ < actions_.size()) {
        if (const auto line = access_of(take(actions_, action_, 8))) return line;
      }
      if (task_ == index_.size()) return std::nullopt;
      read_task(index_[task_++]);
    }
  }

  [[nodiscard]] std::int64_t other_tasks() const { return other_tasks_; }
  [[nodiscard]] std::int64_t other_actions() const { return other_actions_; }

 private:
  struct Place {
    std::uint64_t id, at;
  };

  [[noreturn]] void refuse(const std::string& text) const { throw trace::TraceError(fmt::format("{}: {}", name_, text)); }

  std::string bytes(std::uint64_t count) {
    const auto at = static_cast<std::uint64_t>(stream_.tellg());
    if (count > size_ - std::min(at, size_)) refuse(fmt::format("byte {}: {} bytes are missing: it was cut off", at, count));
    std::string read(count, '\0');
    stream_.read(read.data(), static_cast<std::streamsize>(count));
    refuse_unreadable(stream_, name_);
    return read;
  }
  std::uint64_t number(std::uint64_t count) { return little_endian(bytes(count)); }

  void go_to(std::uint64_t at) {
    if (at >= size_) refuse(fmt::format("byte {} is behind its end: it was cut off", at));
    stream_.seekg(static_cast<std::streamoff>(at));
  }

  void read_index(std::uint64_t at) {
    constexpr std::uint64_t kRow = 16;
    go_to(at);
    const std::uint64_t tasks = number(8);
    if (tasks > size_ / kRow) refuse(fmt::format("its index has {} tasks, more than it can hold", tasks));
    for (std::uint64_t i = 0; i < tasks; ++i) {
      const std::uint64_t id = number(8);
      if (id >> kContextBits > kMostContext)
        refuse(fmt::format("context {}; legal: 0 to {}", id >> kContextBits, kMostContext));
      index_.push_back({id, number(8)});
    }
    std::ranges::sort(index_, {}, &Place::id);
  }

  std::uint64_t take(std::string_view task, std::size_t& at, std::size_t count) const {
    if (count > task.size() - at) refuse(fmt::format("task {} is shorter than its lists", task_));
    const std::uint64_t value = little_endian(task.substr(at, count));
    at += count;
    return value;
  }

  void read_task(const Place& place) {
    constexpr std::uint64_t kMostTask = std::uint64_t{1} << 31, kMostShrunk = 1100;  // the writer's limit; deflate's
    go_to(place.at);
    const std::uint64_t unpacked = number(8), packed = number(8);
    const std::string piece = bytes(packed);
    if (unpacked > kMostTask || unpacked / kMostShrunk > packed)
      refuse(fmt::format("byte {}: a task of {} bytes, more than {} packed ones can hold", place.at, unpacked, packed));
    split_task(unpacked_task(piece, unpacked, place), place);
  }

  [[nodiscard]] std::string unpacked_task(const std::string& piece, std::uint64_t size, const Place& place) const {
    std::string task(size, '\0');
    uLongf held = size, used = piece.size();
    const int code =
        uncompress2(reinterpret_cast<Bytef*>(task.data()), &held, reinterpret_cast<const Bytef*>(piece.data()), &used);
    if (code != Z_OK) refuse(fmt::format("byte {}: a task that zlib can't unpack: {}", place.at, zError(code)));
    if (held != size || used != piece.size())
      refuse(fmt::format("byte {}: a task of {} bytes, packed in {}; {} and {} are stated", place.at, held, used, size,
                         piece.size()));
    return task;
  }

  // Of a task: its number and two times, the lists of actions, tasks behind and tasks before it, its kind and that of its lock.
  void split_task(const std::string& task, const Place& place) {
    std::size_t at = 0;
    if (take(task, at, 8) != place.id) refuse(fmt::format("byte {}: another task than its index says", place.at));
    at = 24;
    const std::uint64_t actions = take(task, at, 4);
    const std::size_t begin = at;
    if (actions > (task.size() - begin) / 8) refuse(fmt::format("task {} is shorter than its list of actions", task_));
    at += actions * 8;
    for (int list = 0; list < 2; ++list) {
      const std::uint64_t ids = take(task, at, 4);
      if (ids > (task.size() - at) / 8) refuse(fmt::format("task {} is shorter than its lists", task_));
      at += ids * 8;
    }
    const bool is_work = take(task, at, 4) == kTaskOfBlocks;
    other_tasks_ += is_work ? 0 : 1;
    cpu_ = static_cast<int>(place.id >> kContextBits);
    actions_ = is_work ? task.substr(begin, actions * 8) : "";
    action_ = 0;
  }

  std::optional<AddressLine> access_of(std::uint64_t action) {
    constexpr int kAddressBits = 48, kSizeAt = 58, kKindAt = 61;
    const std::uint64_t kind = action >> kKindAt;
    if (kind != kActionReads && kind != kActionWrites) {
      other_actions_ += kind == kActionBlock || kind == kActionSize ? 0 : 1;
      return std::nullopt;
    }
    return AddressLine{.what = kind == kActionReads ? What::load : What::store,
                       .address = action & ((std::uint64_t{1} << kAddressBits) - 1),
                       .bytes = std::uint64_t{1} << (action >> kSizeAt & 7),
                       .cpu = cpu_};
  }

  std::string name_;
  std::ifstream stream_;
  std::uint64_t size_ = 0;
  std::vector<Place> index_;
  std::size_t task_ = 0;  // the next one's place in index_
  std::string actions_;   // of the current task
  std::size_t action_ = 0;
  int cpu_ = 0;
  std::int64_t other_tasks_ = 0, other_actions_ = 0;
};

constexpr AddressGrammar kTaskGraph{
    .source = "Contech", .has_sizes = true, .has_cpus = true, .keeps_order = false, .is_virtual = true};

Losses convert_task_graph(const std::vector<std::filesystem::path>& files, trace::Writer& out) {
  if (files.size() > 1)
    throw trace::TraceError(fmt::format("{}: a task graph has all threads: give one file", files[1].string()));
  TaskGraph graph(files.front());
  Losses losses = convert_accesses(kTaskGraph, out, [&graph] { return graph.next(); });
  losses.add_count(Loss::tasks_dropped, kTaskGraph.source, graph.other_tasks());
  losses.add_count(Loss::calls_dropped, kTaskGraph.source, graph.other_actions());
  return losses;
}

}  // namespace

Form task_graph_form() {
  return {.name = "taskgraph",
          .what = "Contech's task graphs, for CADSS",
          .marks = "version 4315 in its first four bytes",
          .likeness =
              [](const Excerpt& excerpt) {
                return certain_if(!excerpt.is_text && excerpt.bytes.starts_with(kTaskGraphMark),
                                  "it begins with a task graph's version, 4315");
              },
          .convert = convert_task_graph};
}

}  // namespace linebounce::sim
