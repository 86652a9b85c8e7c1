// Reads perf c2c report --stdio (tools/perf/builtin-c2c.c, from Linux 4.10 on).
//
// Below the title "Shared Cache Line Distribution Pareto", each cache line has a row between two rules: "NUM RMT LCL L1HIT
// L1MISS [N/A] 0xADDRESS"; with peer snoops it has one more count. Below it is a row for each offset and place in the code:
// the percentages of these counts, and "0xOFFSET NODE PA-COUNT [PID] 0xCODE CYCLES ... RECORDS CPUS [k] SYMBOL OBJECT
// SOURCE:LINE NODES". Options and version decide which columns there are. Pasted reports may lack the titles. Changelogs of the
// kernel have a shorter form, with titles of its own: "RMT LCL STORE 0xADDRESS" between rules, then rows of three percentages
// and "0xOFFSET CYCLES RECORDS SYMBOL".
#include "forms/perf_c2c.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"
#include "forms/lock_statistics.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kParetoTitle = "Shared Cache Line Distribution Pareto";
constexpr std::string_view kCountsTitle = "Trace Event Information";
constexpr std::string_view kSharedCountsTitle = "Global Shared Cache Line Event Information";
constexpr std::string_view kC2cSource = "perf c2c";
constexpr std::size_t kFewestCounts = 4, kMostCounts = 8;
constexpr int kMostC2cCpu = 65535;
constexpr std::uint64_t kMostNodes = 1024;
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 40;
constexpr std::uint64_t kMostOffset = 4096;

bool is_hexadecimal_number(std::string_view word) {
  return word.starts_with("0x") && hexadecimal(word).has_value();
}

struct LineHead {
  std::vector<std::int64_t> counts;
  std::uint64_t address;
};

// Parses counts and the address behind them, "1163 1003 1500 0x7fecc2ffa340". Returns nothing for any other row.
std::optional<LineHead> counts_and_address(std::span<const std::string_view> words) {
  if (words.size() < 2 || !is_hexadecimal_number(words.back())) return std::nullopt;
  LineHead head{{}, *hexadecimal(words.back())};
  for (const std::string_view word : words.first(words.size() - 1)) {
    const auto count = decimal(word);
    if (!count || *count >= kMostSamples) return std::nullopt;
    head.counts.push_back(static_cast<std::int64_t>(*count));
  }
  return head;
}

// Parses a line's row, "0 1163 1003 1500 0 0x7fecc2ffa340", which begins with its number.
std::optional<LineHead> line_head(const std::vector<std::string_view>& words) {
  if (words.size() < 2 + kFewestCounts || words.size() > 2 + kMostCounts || !decimal(words.front())) return std::nullopt;
  return counts_and_address(std::span(words).subspan(1));
}

// Which counts a line's row has, in this order: two of HITM, peer snoops, stores.
struct C2cColumns {
  std::size_t peers = 0;    // number of counts of peer snoops, after the two of HITM
  std::size_t stores = 2;   // number of counts of stores, after those of peer snoops
  bool only_peers = false;  // true: counts of peer snoops stand in place of those of HITM
  bool has_pid = false;     // perf c2c report -c pid, and the first versions
  bool is_retyped = false;  // a changelog's form: the line has no number; a place has no node, code address and object
};

// Finds the columns from the titles "Num RmtHitm LclHitm L1 Hit L1 Miss N/A Offset ...". `of_peers`: the line above them has
// the title "Peer Snoop".
std::optional<C2cColumns> columns_of_titles(std::string_view text, bool of_peers) {
  while (text.starts_with('#')) text = stripped(text.substr(1));
  if (!text.starts_with("Num ") || text.find("Offset") == text.npos) return std::nullopt;
  C2cColumns columns;
  columns.has_pid = text.find(" Pid ") != text.npos;
  text = text.substr(0, text.find("Offset"));
  // With --display peer, the default on Arm, counts of peer snoops replace those of HITM. The line above these titles says so.
  columns.only_peers = (of_peers || text.find("Peer") != text.npos) && text.find("Hitm") == text.npos;
  if (text.find("Peer") != text.npos && !columns.only_peers) columns.peers = 1;
  columns.stores =
      text.find("N/A") != text.npos || text.find("Any Lvl") != text.npos || text.find("Anylvl") != text.npos ? 3 : 2;
  return columns;
}

// Finds the columns of a changelog's form from the second line of its titles, "Hitm% Hitm% L1 Hit% offset cycles records".
std::optional<C2cColumns> columns_of_retyped_titles(std::string_view text) {
  const std::vector<std::string_view> words = words_of(text);
  if (words.size() < 4 || words[0] != "Hitm%" || words[1] != "Hitm%" || lower_case(text).find(" offset") == text.npos)
    return std::nullopt;
  C2cColumns columns;
  columns.is_retyped = true;
  columns.stores =
      static_cast<std::size_t>(std::ranges::count_if(words, [](std::string_view word) { return word.ends_with('%'); })) - 2;
  return columns;
}

// Reduces nodes as -N prints them, "0{ 3  60.0%   n/a}", to their number. With -NN, braces have CPUs: "0{0-3}".
std::string without_node_counts(std::string_view text) {
  std::string kept(text);
  for (std::size_t open = kept.find('{'); open != std::string::npos;) {
    const std::size_t close = kept.find('}', open);
    if (close == std::string::npos) break;
    const std::string inside = kept.substr(open, close - open);
    const bool has_counts = inside.find('%') != std::string::npos || inside.find("n/a") != std::string::npos;
    if (has_counts) kept.erase(open, inside.size() + 1);
    open = kept.find('{', has_counts ? open : close);
  }
  return kept;
}

class C2cReader {
 public:
  explicit C2cReader(const std::filesystem::path& file) : in_(file), name_(file.string()) {}

  C2cReport read() {
    while (const auto line = in_.next()) read_line(stripped(*line));
    complete_row();
    if (report_.lines.empty() && !report_.counts.empty()) return of_counts();
    if (report_.lines.empty())
      throw trace::TraceError(fmt::format(
          "{}: has no offsets within the lines: perf c2c's part \"{}\" is missing; perf c2c report --stdio prints it", name_,
          kParetoTitle));
    return finished();
  }

 private:
  void read_line(std::string_view text) {
    if (const auto columns = columns_of_titles(text, of_peers_)) {
      columns_ = *columns;
      titled_ = true;
    }
    if (const auto columns = columns_of_retyped_titles(text)) {
      complete_row();
      columns_ = *columns;
      titled_ = true;
      return;
    }
    if (text.starts_with('#')) of_peers_ = text.find("Peer Snoop") != text.npos;
    if (continues_row(text)) {
      row_ += " " + std::string(text);
      ++joined_;
      return;
    }
    complete_row();
    if (text.empty() || text.starts_with('#')) return;
    if (text.find(kParetoTitle) != text.npos) is_other_part_ = false;
    // Another table may follow the lines.
    if (!report_.lines.empty() && text.starts_with("====")) is_other_part_ = true;
    if (is_other_part_) return;
    if (report_.lines.empty() && count(text)) return;
    if (text.find_first_not_of("- ") == text.npos) {  // with blanks in a changelog
      after_rule_ = true;
      return;
    }
    const std::vector<std::string_view> words = words_of(text);
    const auto head = columns_.is_retyped ? counts_and_address(words) : line_head(words);
    // A pasted text may begin with a line's row, without the rule above it.
    if (head && (after_rule_ || report_.lines.empty())) {
      begin_line(*head);
    } else if (words.front().ends_with('%') && !report_.lines.empty() && !is_of_call_chain(words)) {
      row_ = text;
    }
    after_rule_ = false;
  }

  // True for the rest of a row that a mail program has broken: it stands directly below the row's beginning, and is no row
  // itself, no rule, and not part of a call chain.
  [[nodiscard]] bool continues_row(std::string_view text) const {
    if (row_.empty() || text.empty()) return false;
    constexpr std::string_view kOfOthers = "#|-=";
    const std::string_view first = text.substr(0, text.find_first_of(" \t"));
    return kOfOthers.find(text.front()) == kOfOthers.npos && !(first.ends_with('%') && words_of(row_).size() > counts_.size());
  }

  // Reads the row, once all its lines are there.
  void complete_row() {
    if (row_.empty()) return;
    const std::string row = without_node_counts(row_);
    row_.clear();
    use(words_of(row));
  }

  // True for a line of a flat or folded call chain, "60.00%" or "60.00% main;worker": a place has a share for each count.
  [[nodiscard]] bool is_of_call_chain(const std::vector<std::string_view>& words) const {
    return counts_.size() > 1 && (words.size() == 1 || !words[1].ends_with('%')) &&
           std::ranges::none_of(words, is_hexadecimal_number);
  }

  // Takes a count, "Load Local HITM   :   12", below the title of this part. Skips percentages, which the counts imply.
  bool count(std::string_view text) {
    if (text.find(kCountsTitle) != text.npos || text.find(kSharedCountsTitle) != text.npos) {
      in_counts_ = true;
      of_shared_lines_ = text.find(kSharedCountsTitle) != text.npos;
      return true;
    }
    const std::size_t colon = text.find(':');
    if (!in_counts_ || colon == text.npos) return false;
    const std::string_view name = stripped(text.substr(0, colon)), value = stripped(text.substr(colon + 1));
    if (value.ends_with('%')) return true;
    std::string digits(value);
    std::erase(digits, ',');  // a spreadsheet may have grouped them
    const auto samples = decimal(digits);
    if (!samples) {
      in_counts_ = false;  // another part begins
      return false;
    }
    if (*samples >= kMostSamples) in_.refuse("the count is too large");
    report_.counts.push_back({std::string(name), static_cast<std::int64_t>(*samples), of_shared_lines_});
    return true;
  }

  C2cReport of_counts() {
    report_.losses.add(Loss::samples, kC2cSource);
    report_.losses.add(Loss::counts_alone, kC2cSource);
    report_.losses.add_count(Loss::quotes_removed, kC2cSource, in_.quoted());
    return std::move(report_);
  }

  void begin_line(const LineHead& head) {
    if (!titled_) {
      // The first two counts are of HITM. Three further counts are all of stores; otherwise two are of stores, after those of
      // peer snoops.
      columns_.stores = head.counts.size() - 2 == 3 ? 3 : 2;
      columns_.peers = head.counts.size() - 2 - columns_.stores;
    }
    if (head.counts.size() != 2 + columns_.peers + columns_.stores)
      in_.refuse(
          fmt::format("expected {} counts between the line's number and its address", 2 + columns_.peers + columns_.stores));
    C2cLine line;
    line.address = head.address;
    line.remote_hitm = head.counts[0];
    line.local_hitm = head.counts[1];
    for (std::size_t i = 2 + columns_.peers; i < head.counts.size(); ++i) line.stores += head.counts[i];
    counts_ = head.counts;
    report_.lines.push_back(std::move(line));
  }

  void use(const std::vector<std::string_view>& words) {
    std::size_t at = 0;
    constexpr double kMostShare = 100.01;  // rounded
    std::vector<double> shares;
    for (; at < words.size() && words[at].ends_with('%'); ++at) {
      const auto share = real(words[at].substr(0, words[at].size() - 1));
      if (!share || *share > kMostShare) in_.refuse("expected shares of up to 100 % before the offset");
      shares.push_back(*share / 100);
    }
    if (shares.size() != counts_.size())
      in_.refuse(fmt::format("expected {} shares in percent, as the line has counts", counts_.size()));
    if (at == words.size() || !is_hexadecimal_number(words[at])) in_.refuse("expected an offset after the shares");
    C2cUse use;
    C2cLine& line = report_.lines.back();
    // Accepts offsets beyond a line, because perf c2c report --double-cl shows pairs of lines.
    use.offset = *hexadecimal(words[at++]);
    if (use.offset >= kMostOffset) in_.refuse("the offset is beyond the cache line");
    use.remote_hitm = shares[0] * static_cast<double>(counts_[0]);
    use.local_hitm = shares[1] * static_cast<double>(counts_[1]);
    for (std::size_t i = 2 + columns_.peers; i < shares.size(); ++i) use.stores += shares[i] * static_cast<double>(counts_[i]);
    if (columns_.is_retyped) {
      retyped_code(use, words, at);
      line.uses.push_back(std::move(use));
      return;
    }
    // After the offset come the line's node and its number of physical pages. Old versions lack both. The next hexadecimal
    // number is the address of the code.
    const std::uint64_t node = at < words.size() ? decimal(words[at]).value_or(kMostNodes) : kMostNodes;
    const bool has_pages = at + 1 < words.size() && decimal(words[at + 1]).has_value();
    if (has_pages && node < kMostNodes && !line.home) line.home = static_cast<int>(node);
    const auto address = static_cast<std::size_t>(
        std::find_if(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(), is_hexadecimal_number) - words.begin());
    code(use, words, address < words.size() ? address + 1 : behind_thread(words, has_pages ? at + 2 : at));
    line.uses.push_back(std::move(use));
  }

  // Parses what follows the offset in a changelog's form, "3289 405 find_first_bit": the mean cycles of loads, which stand for
  // each kind of load, the number of records, and the symbol.
  static void retyped_code(C2cUse& use, const std::vector<std::string_view>& words, std::size_t at) {
    if (at < words.size() && decimal(words[at])) {
      use.load_cycles = static_cast<double>(*decimal(words[at++]));
      use.remote_hitm_cycles = use.local_hitm_cycles = use.load_cycles;
    }
    while (at < words.size() && decimal(words[at])) ++at;
    use.function = fmt::format("{}", fmt::join(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(), " "));
  }

  // Returns the position behind the process and the thread, "4711:prog", which stand before the cycles if perf groups by them
  // instead of by the code (-c pid,tid).
  [[nodiscard]] std::size_t behind_thread(const std::vector<std::string_view>& words, std::size_t at) const {
    if (columns_.has_pid) ++at;
    if (at < words.size() && words[at].find(':') != std::string_view::npos) ++at;
    while (at < words.size() && !decimal(words[at])) ++at;  // the rest of a command's name
    return at;
  }

  // Parses what follows the address of the code, "628 493 355 [PEER] 2720 224 [.] try_advance tokenizers.so :0 0{0-55} 1":
  // cycles, records, CPUs, symbol, object, source and nodes.
  void code(C2cUse& use, const std::vector<std::string_view>& words, std::size_t at) const {
    std::vector<double> figures;
    for (; at < words.size() && decimal(words[at]); ++at) figures.push_back(static_cast<double>(*decimal(words[at])));
    if (figures.size() >= 3) {
      use.remote_hitm_cycles = figures[0];
      use.local_hitm_cycles = figures[1];
      use.load_cycles = figures[2];
    }
    if (at < words.size() && words[at].size() == 3 && words[at].starts_with('[')) ++at;  // [k] or [.]
    const std::size_t nodes = first_of_nodes(words, at);
    if (at < nodes) use.function = words[at];
    // A C++ symbol may contain blanks; it ends before the object.
    const std::size_t behind_name = nodes >= at + 3 ? nodes - 2 : nodes;
    for (std::size_t i = at + 1; i < behind_name && i < nodes; ++i) use.function += " " + std::string(words[i]);
    if (behind_name < nodes) use.object = words[behind_name];
    if (const std::size_t source = use.function.find(" [kernel"); source != std::string::npos) use.function.resize(source);
    for (std::size_t i = nodes; i < words.size(); ++i) node(use, words[i]);
  }

  // Returns the position of the nodes: the first of the trailing words that all look like "1" or "1{56-111,168-223}".
  static std::size_t first_of_nodes(const std::vector<std::string_view>& words, std::size_t least) {
    std::size_t first = words.size();
    while (first > least) {
      const std::string_view word = words[first - 1];
      if (!decimal(word.substr(0, word.find('{')))) break;
      --first;
    }
    return first;
  }

  static void node(C2cUse& use, std::string_view word) {
    const std::size_t brace = word.find('{');
    const auto number = decimal(word.substr(0, brace));
    if (!number || *number > static_cast<std::uint64_t>(kMostC2cCpu)) return;
    use.nodes.push_back(static_cast<int>(*number));
    if (brace == word.npos || !word.ends_with('}')) return;
    if (use.cpus.size() > static_cast<std::size_t>(kMostC2cCpu)) return;
    const auto cpus = listed_numbers(word.substr(brace + 1, word.size() - brace - 2), kMostC2cCpu);
    if (cpus) use.cpus.insert(use.cpus.end(), cpus->begin(), cpus->end());
  }

  C2cReport finished() {
    Losses& losses = report_.losses;
    losses.add(Loss::samples, kC2cSource);
    losses.add(Loss::samples_alone, kC2cSource);
    losses.add(Loss::only_top_lines, kC2cSource);
    if (columns_.only_peers) losses.add(Loss::peers_as_hitm, kC2cSource);
    const auto homeless = std::ranges::count_if(report_.lines, [](const C2cLine& line) { return !line.home; });
    losses.add_count(Loss::home_unknown, kC2cSource, homeless);
    losses.add_count(Loss::quotes_removed, kC2cSource, in_.quoted());
    losses.add_count(Loss::lines_joined, kC2cSource, joined_);
    return std::move(report_);
  }

  LineFile in_;
  std::string name_;
  C2cReport report_;
  C2cColumns columns_;
  std::vector<std::int64_t> counts_;  // counts of the line whose offsets are being read
  std::string row_;                   // the row that is being read, which may have been broken; empty: none
  std::int64_t joined_ = 0;           // number of lines that were joined to the row above them
  bool titled_ = false, after_rule_ = false;
  bool of_peers_ = false;       // the line above has the title "Peer Snoop"
  bool is_other_part_ = false;  // a part of the report below that of the lines
  bool in_counts_ = false, of_shared_lines_ = false;
};

Likeness perf_c2c_likeness(const Excerpt& excerpt) {
  if (!excerpt.is_text) return {};
  for (const std::string_view title : {kParetoTitle, std::string_view("Shared Data Cache Line Table"), kSharedCountsTitle}) {
    if (excerpt.has(title)) return {Likeness::Sure::certain, fmt::format("it has the title \"{}\"", title)};
  }
  if (excerpt.has(kCountsTitle) && (excerpt.has("HITM") || excerpt.has("Load Operations")))
    return {Likeness::Sure::certain, fmt::format("it has the title \"{}\"", kCountsTitle)};
  for (const Excerpt::Line& line : excerpt.lines) {
    if (columns_of_retyped_titles(line.text))
      return {Likeness::Sure::certain, fmt::format("line {} has the titles of a report in a changelog", line.number)};
  }
  // Recognises a report that was pasted without titles: a line's row stands between two rules of dashes.
  const auto is_rule = [](const Excerpt::Line& line) { return line.text.find_first_not_of('-') == std::string::npos; };
  for (std::size_t i = 0; i + 2 < excerpt.lines.size(); ++i) {
    if (!is_rule(excerpt.lines[i + 1]) || !line_head(words_of(excerpt.lines[i].text))) continue;
    const std::string& next = excerpt.lines[i + 2].text;
    if (i > 0 ? is_rule(excerpt.lines[i - 1]) : next.substr(0, next.find(' ')).ends_with('%'))
      return {Likeness::Sure::certain, fmt::format("line {} is a cache line's row above a rule", excerpt.lines[i].number)};
  }
  return {};
}

}  // namespace

std::int64_t C2cReport::count_of(std::string_view name) const {
  const auto found =
      std::ranges::find_if(counts, [name](const C2cCount& count) { return count.name == name && !count.of_shared_lines; });
  return found == counts.end() ? 0 : found->samples;
}

C2cReport read_c2c_report(const std::filesystem::path& file) {
  return C2cReader(file).read();
}

Form perf_c2c_form() {
  return {.name = "perf-c2c",
          .kind = FormKind::lines,
          .what = "perf c2c report --stdio, or with --stats",
          .marks = "\"Shared Cache Line Distribution Pareto\", or a line's row between two rules",
          .likeness = perf_c2c_likeness};
}

}  // namespace linebounce::sim
