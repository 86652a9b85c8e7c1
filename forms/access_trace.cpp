#include "forms/access_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "forms/synthetic_thread.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

using trace::Kind;
constexpr int kBetweenPasses = 200;  // cycles, mean
constexpr int kBetweenFields = 20;   // cycles, mean
constexpr int kMostWords = 8;        // the most words of one field that a pass touches; they fill a line
constexpr std::int64_t kFewestPasses = 50;
// The least number of passes of a path over each object, so that fetching the object for the first time hardly matters.
constexpr std::int64_t kPassesOfObject = 20;

// A field as one path uses it.
struct TouchedField {
  PathUse use;
  bool atomic = false;
  std::vector<Place> words = {};
};

struct TracedPath {
  std::string name;
  int threads = 0;
  std::vector<TouchedField> fields;

  // The mean number of accesses in a pass.
  [[nodiscard]] double accesses() const {
    double sum = 0;
    for (const TouchedField& field : fields) {
      const double each = field.use.use == FieldUse::read_write && !field.atomic ? 2 : 1;
      sum += each * static_cast<double>(field.words.size()) / field.use.once_in;
    }
    return sum;
  }
};

// Splits a field into the words that a program loads and stores.
std::vector<Place> words_of_field(const workloads::Field& field) {
  std::vector<Place> words;
  for (int at = 0; at < field.size && words.size() < kMostWords;) {
    int bytes = 8;
    while (bytes > 1 && ((field.offset + at) % bytes != 0 || at + bytes > field.size)) bytes /= 2;
    words.push_back({static_cast<std::uint64_t>(field.offset + at), static_cast<std::uint64_t>(bytes)});
    at += bytes;
  }
  return words;
}

std::vector<TracedPath> paths_of(const AccessTable& table, const workloads::Layout& layout, std::set<std::string>& unknown) {
  std::vector<TracedPath> paths;
  for (std::size_t path = 0; path < table.paths.size(); ++path) {
    TracedPath traced{.name = table.paths[path], .fields = {}};
    for (const AccessRow& row : table.rows) {
      if (row.uses[path].use == FieldUse::none) continue;
      const workloads::Field* field = field_called(layout, row.name);
      if (field == nullptr) {
        unknown.insert(row.name);
      } else {
        traced.fields.push_back({row.uses[path], is_atomic_type(row.type), words_of_field(*field)});
      }
    }
    if (!traced.fields.empty()) paths.push_back(std::move(traced));
  }
  return paths;
}

void give_threads(std::vector<TracedPath>& paths, const AccessTable& table, int all) {
  int open = 0, left = all;
  for (TracedPath& path : paths) {
    const auto stated = table.threads.find(path.name);
    if (stated == table.threads.end()) {
      ++open;
    } else {
      path.threads = stated->second;
      left -= path.threads;
    }
  }
  for (TracedPath& path : paths) {
    if (path.threads == 0) path.threads = std::max(1, left / std::max(open, 1));
  }
}

class PathThread {
 public:
  PathThread(const TracedPath& path, int number, int in_path, const std::vector<std::uint32_t>& objects, std::uint32_t function,
             std::uint64_t seed, trace::Writer& out)
      : path_(&path), thread_(out, path.name, number, kBetweenPasses, seed), function_(function) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
      if (static_cast<int>(i) % path.threads == in_path % static_cast<int>(objects.size())) own_.push_back(objects[i]);
    }
    if (own_.empty()) own_.push_back(objects[static_cast<std::size_t>(in_path) % objects.size()]);
  }

  void pass() {
    thread_.compute();
    thread_.enter(function_);
    const std::uint32_t object = own_[thread_.random().below(own_.size())];
    std::vector<const TouchedField*> order;
    for (const TouchedField& field : path_->fields) {
      if (field.use.once_in == 1 || thread_.below(field.use.once_in) == 0) order.push_back(&field);
    }
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[thread_.random().below(i)]);
    for (const TouchedField* field : order) touch(*field, object);
    thread_.leave();
  }

 private:
  void touch(const TouchedField& field, std::uint32_t object) {
    thread_.between(kBetweenFields);
    for (const Place& word : field.words) {
      const bool changes = field.use.use == FieldUse::read_write;
      if (field.use.use == FieldUse::read || (changes && !field.atomic)) thread_.load(object, word);
      if (changes && field.atomic && word.bytes >= 4) {
        thread_.add(object, word);
      } else if (field.use.use != FieldUse::read) {
        thread_.store(object, word);
      }
    }
  }

  const TracedPath* path_;
  SyntheticThread thread_;
  std::uint32_t function_;
  std::vector<std::uint32_t> own_;  // the objects that this thread visits
};

std::vector<std::uint32_t> define_objects(const AccessTable& table, const workloads::Layout& layout, trace::Writer& out) {
  trace::Structure structure{.name = layout.name,
                             .size = layout.size,
                             .alignment = layout.alignment,
                             .fields = {},
                             .base_offset = layout.base_offset,
                             .subsystem = layout.subsystem};
  for (const workloads::Field& field : layout.fields)
    structure.fields.push_back({field.name, field.offset, field.size, field.alignment});
  for (const workloads::Field& bytes : layout.unexplained) structure.unexplained.push_back({"?", bytes.offset, bytes.size});
  const std::uint32_t id = out.define(structure);
  std::vector<std::uint32_t> objects;
  for (int i = 0; i < table.objects; ++i) {
    trace::Object object;
    object.name = table.objects == 1 ? layout.name : fmt::format("{}[{}]", layout.name, i);
    object.structure = id;
    object.size = layout.size;
    objects.push_back(out.define(object));
  }
  return objects;
}

}  // namespace

Losses write_access_trace(const AccessTable& table, const workloads::Layout& layout, const AccessTraceOptions& options,
                          trace::Writer& out) {
  std::set<std::string> unknown;
  std::vector<TracedPath> paths = paths_of(table, layout, unknown);
  if (paths.empty()) throw trace::TraceError(fmt::format("{}: no path touches a field of {}", table.file, layout.name));
  give_threads(paths, table, options.threads);
  const std::vector<std::uint32_t> objects = define_objects(table, layout, out);
  double each_round = 0;
  for (const TracedPath& path : paths) each_round += path.threads * path.accesses();
  std::int64_t fewest = kFewestPasses;
  for (const TracedPath& path : paths) fewest = std::max(fewest, kPassesOfObject * table.objects / path.threads);
  const auto passes =
      std::max(fewest, static_cast<std::int64_t>(static_cast<double>(options.accesses) / std::max(each_round, 1.0)));
  std::vector<PathThread> threads;
  int number = 0;
  for (const TracedPath& path : paths) {
    const std::uint32_t function = out.define(trace::Function{path.name, false});
    for (int i = 0; i < path.threads; ++i) threads.emplace_back(path, number++, i, objects, function, options.seed, out);
  }
  for (std::int64_t pass = 0; pass < passes; ++pass) {
    for (PathThread& thread : threads) thread.pass();
  }
  Losses losses;
  losses.add(Loss::reconstruction, "the table");
  losses.add_count(Loss::fields_unknown, layout.name, static_cast<std::int64_t>(unknown.size()));
  return losses;
}

AccessTable table_of_c2c(const C2cReport& report, const workloads::Layout& layout, std::uint64_t address) {
  constexpr double kMostPasses = 1'000'000;
  AccessTable table{.file = "perf c2c", .structure = layout.name, .paths = {}, .rows = {}, .threads = {}};
  struct Samples {
    double loads = 0, stores = 0;
  };
  std::map<std::string, std::map<std::string, Samples>> by_path;  // path, field
  std::map<std::string, std::set<int>> cpus;
  double most = 0;
  for (const C2cLine& line : report.lines) {
    for (const C2cUse& use : line.uses) {
      const std::uint64_t at = line.address + use.offset;
      if (at < address || at >= address + static_cast<std::uint64_t>(layout.size)) continue;
      const auto offset = static_cast<int>(at - address);
      const auto field = std::ranges::find_if(
          layout.fields, [offset](const workloads::Field& it) { return offset >= it.offset && offset < it.offset + it.size; });
      if (field == layout.fields.end()) continue;
      const std::string path = use.function.empty() ? "program" : use.function;
      Samples& samples = by_path[path][field->name];
      samples.loads += use.remote_hitm + use.local_hitm;
      samples.stores += use.stores;
      most = std::max({most, samples.loads, samples.stores});
      cpus[path].insert(use.cpus.begin(), use.cpus.end());
    }
  }
  if (most == 0)
    throw trace::TraceError(
        fmt::format("the report has no samples of a {} at {:#x}: --at is the address of the object, as in "
                    "the report's table of lines",
                    layout.name, address));
  for (const auto& [path, fields] : by_path) {
    table.paths.push_back(path);
    table.threads[path] = std::max<int>(1, static_cast<int>(cpus[path].size()));
  }
  for (std::size_t path = 0; path < table.paths.size(); ++path) {
    for (const auto& [field, samples] : by_path.at(table.paths[path])) {
      AccessRow row{.type = "u64", .name = field, .uses = std::vector<PathUse>(table.paths.size())};
      const double all = std::max(samples.loads, samples.stores);
      row.uses[path] = {samples.stores == 0  ? FieldUse::read
                        : samples.loads == 0 ? FieldUse::write
                                             : FieldUse::read_write,
                        static_cast<int>(std::lround(std::clamp(most / std::max(all, 1.0), 1.0, kMostPasses)))};
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace linebounce::sim
