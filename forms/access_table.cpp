#include "forms/access_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "forms/access_trace.hpp"
#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "trace/error.hpp"
#include "workloads/program/layout_set.hpp"

namespace linebounce::sim {
namespace {

constexpr int kMostPathThreads = 256;
constexpr int kMostObjects = 100'000;
constexpr int kMostElements = 1 << 16;
constexpr int kPointerBytes = 8;

struct TableColumn {
  std::size_t begin = 0;
  std::string title;
};

// Splits a line into words, each with the column where it begins.
std::vector<TableColumn> placed_words(std::string_view line) {
  std::vector<TableColumn> words;
  for (std::size_t at = line.find_first_not_of(" \t"); at != line.npos; at = line.find_first_not_of(" \t", at)) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    words.push_back({at, std::string(line.substr(at, end - at))});
    at = end;
  }
  return words;
}

constexpr std::string_view kAccess = "_access", kFastPath = "fastpath_";

bool is_path_title(const std::string& title) {
  return title.size() > kAccess.size() && title.ends_with(kAccess);
}

// True for the table's head: "Type  Name  fastpath_tx_access  fastpath_rx_access  Comments".
bool is_head(const std::vector<TableColumn>& words) {
  return words.size() > 2 && words[0].title == "Type" && words[1].title == "Name" && is_path_title(words[2].title);
}

std::string path_of_title(std::string title) {
  title.resize(title.size() - kAccess.size());
  return title.starts_with(kFastPath) ? title.substr(kFastPath.size()) : title;
}

// "read_mostly", "read_write/16".
std::optional<PathUse> use_of(std::string_view word) {
  constexpr std::array<std::pair<std::string_view, FieldUse>, 6> kUses = {{{"-", FieldUse::none},
                                                                           {"read_mostly", FieldUse::read},
                                                                           {"read", FieldUse::read},
                                                                           {"read_write", FieldUse::read_write},
                                                                           {"write_mostly", FieldUse::write},
                                                                           {"write", FieldUse::write}}};
  const std::size_t slash = word.find('/');
  const auto found = std::ranges::find(kUses, word.substr(0, slash), &std::pair<std::string_view, FieldUse>::first);
  if (found == kUses.end()) return std::nullopt;
  PathUse use{.use = found->second};
  if (slash == word.npos) return use;
  const auto passes = decimal(word.substr(slash + 1));
  if (!passes || *passes < 1 || *passes > 1'000'000) return std::nullopt;
  use.once_in = static_cast<int>(*passes);
  return use;
}

class AccessTableReader {
 public:
  explicit AccessTableReader(const std::filesystem::path& path) : in_(path) { table_.file = path.string(); }

  AccessTable read() {
    while (const auto line = in_.next()) {
      ++number_;
      const std::vector<TableColumn> words = placed_words(*line);
      if (words.empty() || is_rule(words)) continue;
      if (is_head(words)) {
        head(words);
      } else if (columns_.empty()) {
        before_table(words);
      } else {
        row(words);
      }
    }
    if (columns_.empty()) in_.refuse("expected titles of columns: Type, Name, PATH_access ..., Comments");
    if (table_.rows.empty()) in_.refuse("the table has no fields");
    return std::move(table_);
  }

 private:
  static bool is_rule(const std::vector<TableColumn>& words) {
    return std::ranges::all_of(
               words, [](const TableColumn& word) { return word.title.find_first_not_of("=-~") == word.title.npos; }) &&
           words.front().title.size() > 1;
  }

  void head(const std::vector<TableColumn>& words) {
    if (!columns_.empty()) in_.refuse("has a second table; there is one for each structure");
    columns_ = words;
    for (std::size_t i = 2; i < words.size() && is_path_title(words[i].title); ++i)
      table_.paths.push_back(path_of_title(words[i].title));
  }

  // Takes a line above the table: "tcp_sock struct fast path usage breakdown", ".. threads: tx=4 rx=12" or ".. objects:
  // 1000".
  void before_table(const std::vector<TableColumn>& words) {
    if (words.size() > 1 && words[1].title == "struct" && words[0].title != "..") table_.structure = words[0].title;
    if (words.size() < 3 || words[0].title != "..") return;
    if (words[1].title == "threads:") {
      for (std::size_t i = 2; i < words.size(); ++i) threads(words[i].title);
    } else if (words[1].title == "objects:") {
      table_.objects = static_cast<int>(number(words[2].title, kMostObjects));
    }
  }

  void threads(const std::string& word) {
    const std::size_t equals = word.find('=');
    if (equals == word.npos) in_.refuse(fmt::format("expected PATH=CPUS, found {}", word));
    table_.threads[word.substr(0, equals)] = static_cast<int>(number(word.substr(equals + 1), kMostPathThreads));
  }

  std::uint64_t number(std::string_view word, std::uint64_t most) const {
    const auto value = decimal(word);
    if (!value || *value < 1 || *value > most) in_.refuse(fmt::format("expected a number from 1 to {}, found {}", most, word));
    return *value;
  }

  void row(const std::vector<TableColumn>& words) {
    if (words.size() < 2) in_.refuse("expected a type and a name");
    const bool names_structure = words[0].title.starts_with("..");
    if (names_structure) {
      table_.structure = words[1].title.substr(std::min(words[1].title.find_first_not_of('.'), words[1].title.size()));
      return;
    }
    AccessRow row{
        .type = words[0].title, .name = words[1].title, .uses = std::vector<PathUse>(table_.paths.size()), .line = number_};
    take_elements(row.type, row.elements);
    take_elements(row.name, row.elements);
    take_bits(row);
    for (std::size_t i = 2; i < words.size(); ++i) cell(words[i], row);
    table_.rows.push_back(std::move(row));
  }

  // Takes a word of a row: the cell of the path in whose column it stands, or else a part of the comment.
  void cell(const TableColumn& word, AccessRow& row) const {
    const std::size_t column = column_at(word.begin);
    if (column >= 2 && column < 2 + table_.paths.size()) {
      const auto use = use_of(word.title);
      if (!use)
        in_.refuse(fmt::format("expected -, read_mostly, read_write or write_mostly in the column {}, found {}",
                               columns_[column].title, word.title));
      row.uses[column - 2] = *use;
    } else if (column >= 2) {
      row.comment += (row.comment.empty() ? "" : " ") + word.title;
    } else {
      in_.refuse(fmt::format("{} stands in front of the column {}: columns begin where their titles do", word.title,
                             columns_[2].title));
    }
  }

  [[nodiscard]] std::size_t column_at(std::size_t begin) const {
    std::size_t column = 0;
    while (column + 1 < columns_.size() && columns_[column + 1].begin <= begin) ++column;
    return column;
  }

  // "u32[3]", "name[16]", "icsk_ca_priv[104/sizeof(u64)]".
  void take_elements(std::string& text, int& elements) const {
    const std::size_t open = text.find('[');
    if (open == text.npos) return;
    std::string inside = text.substr(open + 1, text.find(']', open) - open - 1);
    text.resize(open);
    inside = inside.substr(0, inside.find('/'));
    elements = static_cast<int>(number(inside, kMostElements));
  }

  // "u8:2".
  void take_bits(AccessRow& row) const {
    const std::size_t colon = row.type.find(':');
    if (colon == row.type.npos) return;
    row.bits = static_cast<int>(number(row.type.substr(colon + 1), 64));
    row.type.resize(colon);
  }

  LineFile in_;
  AccessTable table_;
  std::vector<TableColumn> columns_;
  std::int64_t number_ = 0;
};

// Returns the size of a plain C or kernel type on a 64-bit machine, in bytes; none for any other type.
std::optional<int> plain_bytes(const std::string& type) {
  static const std::map<std::string, int> kBytes = {{"char", 1},
                                                    {"bool", 1},
                                                    {"u8", 1},
                                                    {"__u8", 1},
                                                    {"s8", 1},
                                                    {"unsigned_char", 1},
                                                    {"short", 2},
                                                    {"unsigned_short", 2},
                                                    {"u16", 2},
                                                    {"__u16", 2},
                                                    {"s16", 2},
                                                    {"__be16", 2},
                                                    {"be16", 2},
                                                    {"__sum16", 2},
                                                    {"int", 4},
                                                    {"unsigned_int", 4},
                                                    {"unsigned", 4},
                                                    {"u32", 4},
                                                    {"__u32", 4},
                                                    {"s32", 4},
                                                    {"__be32", 4},
                                                    {"be32", 4},
                                                    {"enum", 4},
                                                    {"long", 8},
                                                    {"unsigned_long", 8},
                                                    {"u64", 8},
                                                    {"__u64", 8},
                                                    {"s64", 8},
                                                    {"__be64", 8},
                                                    {"size_t", 8},
                                                    {"ktime_t", 8},
                                                    {"atomic_t", 4},
                                                    {"refcount_t", 4},
                                                    {"spinlock_t", 4},
                                                    {"raw_spinlock_t", 4},
                                                    {"rwlock_t", 8},
                                                    {"seqlock_t", 8},
                                                    {"seqcount_t", 4},
                                                    {"atomic_long_t", 8},
                                                    {"atomic64_t", 8},
                                                    {"gfp_t", 4},
                                                    {"fmode_t", 4},
                                                    {"loff_t", 8},
                                                    {"dev_t", 4},
                                                    {"umode_t", 2},
                                                    {"struct_list_head", 16},
                                                    {"struct_hlist_node", 16},
                                                    {"struct_hlist_head", 8},
                                                    {"struct_rb_root", 8},
                                                    {"struct_rb_node", 24},
                                                    {"struct_minmax", 24},
                                                    {"possible_net_t", 8},
                                                    {"netdev_features_t", 8},
                                                    {"struct_timer_list", 40},
                                                    {"struct_hrtimer", 64},
                                                    {"struct_mutex", 32},
                                                    {"struct_rcu_head", 16},
                                                    {"siphash_key_t", 16},
                                                    {"struct_tcp_sack_block", 8},
                                                    {"struct_tcp_options_received", 24}};
  if (type.find('*') != type.npos) return kPointerBytes;
  if (type.starts_with("enum_")) return 4;
  const auto found = kBytes.find(type);
  return found == kBytes.end() ? std::nullopt : std::optional(found->second);
}

int alignment_of_bytes(int bytes) {
  for (const int step : {8, 4, 2}) {
    if (bytes % step == 0) return step;
  }
  return 1;
}

// Places fields one after another, aligned as a compiler aligns them.
class TypeLayout {
 public:
  explicit TypeLayout(std::string name) { layout_ = {.name = std::move(name), .alignment = 64, .fields = {}}; }

  // Bit fields that share a word become one field with all their names.
  void add(const AccessRow& row, int bytes) {
    if (row.bits == 0) return close(row.name, bytes * row.elements, alignment_of_bytes(bytes));
    const bool fits = open_bits_ > 0 && open_bytes_ == bytes && open_bits_ + row.bits <= 8 * bytes;
    if (!fits) {
      close(row.name, bytes, alignment_of_bytes(bytes));
      open_bits_ = row.bits;
      open_bytes_ = bytes;
      return;
    }
    layout_.fields.back().name += "|" + row.name;
    open_bits_ += row.bits;
  }

  workloads::Layout finished() {
    layout_.size = (end_ + 7) / 8 * 8;
    return std::move(layout_);
  }

 private:
  void close(const std::string& name, int bytes, int alignment) {
    open_bits_ = 0;
    const int begin = (end_ + alignment - 1) / alignment * alignment;
    layout_.fields.push_back({name, begin, bytes});
    end_ = begin + bytes;
  }

  workloads::Layout layout_;
  int end_ = 0;
  int open_bits_ = 0, open_bytes_ = 0;  // bits and bytes already used in the current word of bit fields
};

Likeness access_table_likeness(const Excerpt& excerpt) {
  const bool found =
      std::ranges::any_of(excerpt.lines, [](const Excerpt::Line& line) { return is_head(placed_words(line.text)); });
  return certain_if(found, "a line has the titles of its columns");
}

Losses convert_access_table(const std::vector<std::filesystem::path>& files, trace::Writer& out) {
  const AccessTable table = read_access_table(files.front());
  std::vector<std::string> left_out;
  const workloads::Layout layout = layout_of_types(table, {}, left_out);
  Losses losses = write_access_trace(table, layout, {}, out);
  losses.add_count(Loss::types_unknown, table.file, static_cast<std::int64_t>(left_out.size()));
  return losses;
}

}  // namespace

bool AccessRow::is_touched() const {
  return std::ranges::any_of(uses, [](const PathUse& use) { return use.use != FieldUse::none; });
}

AccessTable read_access_table(const std::filesystem::path& file) {
  return AccessTableReader(file).read();
}

workloads::Layout layout_of_types(const AccessTable& table, const TypeSizes& sizes, std::vector<std::string>& left_out) {
  TypeLayout layout(table.structure.empty() ? "structure" : table.structure);
  for (const AccessRow& row : table.rows) {
    const auto given = sizes.find(row.type);
    const auto bytes = given != sizes.end() ? std::optional(given->second) : plain_bytes(row.type);
    if (bytes) {
      layout.add(row, *bytes);
    } else if (row.is_touched()) {
      throw trace::TraceError(
          fmt::format("{}: line {}: the size of {}, the type of {}, is not known: give it by "
                      "--size {}=BYTES, or the whole structure by --pahole",
                      table.file, row.line, row.type, row.name, row.type));
    } else {
      left_out.push_back(row.type);
    }
  }
  return layout.finished();
}

const workloads::Field* field_called(const workloads::Layout& layout, const std::string& name) {
  for (const workloads::Field& field : layout.fields) {
    if (workloads::is_called(field.name, name) || workloads::is_called(workloads::group_of(field.name), name)) return &field;
  }
  return nullptr;
}

bool is_atomic_type(std::string_view type) {
  constexpr std::array<std::string_view, 6> kParts = {"atomic", "refcount", "spinlock", "lockref", "file_ref", "semaphore"};
  return std::ranges::any_of(kParts, [type](std::string_view part) { return type.find(part) != type.npos; });
}

Form access_table_form() {
  return {.name = "accesses",
          .kind = FormKind::trace,
          .what = "a table of who touches which members of a structure, like Linux's net_cachelines",
          .marks = "its titles: Type, Name, fastpath_tx_access, fastpath_rx_access",
          .likeness = access_table_likeness,
          .convert = convert_access_table};
}

}  // namespace linebounce::sim
