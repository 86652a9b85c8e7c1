#include "forms/number_grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>

#include "forms/grid_labels.hpp"
#include "forms/grid_lines.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr std::size_t kMostGridCpus = 1024;

// True for words that count on from a number: "18", "19", "20".
bool count_on_from(std::size_t first, const GridRow& words) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].text != std::to_string(first + i)) return false;
  }
  return !words.empty();
}

// Reads the terminal output of core-to-core-latency: a head with CPU numbers, then a line per CPU with its number and its
// latencies to earlier CPUs. A narrow terminal has broken the head and long lines. Skips all lines before and after.
class TerminalGrid {
 public:
  explicit TerminalGrid(const std::vector<TextLine>& lines) {
    grid_.is_marked = true;
    std::size_t at = 0;
    while (at < lines.size() && !is_head(lines[at])) ++at;
    if (at == lines.size()) {
      grid_.problem = "a mean with its error, but no line with the CPUs' numbers 0, 1, ... above it";
      return;
    }
    rest_ = {lines.begin() + static_cast<std::ptrdiff_t>(at), lines.end()};
    std::erase_if(rest_, [](const TextLine& line) { return split_words(line).empty(); });
    width_ = width_of(rest_);
    read();
  }

  NumberGrid take() { return std::move(grid_); }

 private:
  // The last number may have been broken.
  static bool is_head(const TextLine& line) {
    GridRow words = split_words(line);
    if (words.size() < 2) return false;
    const std::string last = std::to_string(words.size() - 1);
    const bool begins_last = last.starts_with(words.back().text);
    words.pop_back();
    return begins_last && count_on_from(0, words);
  }

  void read() {
    BrokenLine head(rest_[at_++], width_);
    for (bool goes_on = true; goes_on && at_ < rest_.size();) {
      goes_on = false;
      for (const bool has_blanks : {false, true}) {
        BrokenLine longer = head;
        longer.add(rest_[at_], ' ', has_blanks);
        if (goes_on || !is_head(longer.line())) continue;
        head = std::move(longer);
        goes_on = true;
      }
      at_ += goes_on ? 1 : 0;
    }
    columns_ = split_words(head.line()).size();
    while (grid_.rows.size() < columns_ && at_ < rest_.size()) {
      if (!add_row()) return;
    }
    if (grid_.rows.size() < columns_)
      grid_.problem = fmt::format("the table ends before the line of CPU {} of {}", grid_.rows.size(), columns_);
    grid_.further_tables = static_cast<int>(
        std::count_if(rest_.begin() + static_cast<std::ptrdiff_t>(std::min(at_, rest_.size())), rest_.end(), is_head));
  }

  // Returns false after an error.
  bool add_row() {
    const std::size_t number = grid_.rows.size();
    if (const GridRow words = split_words(rest_[at_]); words.front().text != std::to_string(number)) {
      grid_.problem = fmt::format("expected the line of CPU {} of {}", number, columns_);
      grid_.problem_at = words.front();
      return false;
    }
    BrokenLine row = row_from(at_, number, false);
    if (split_words(row.line()).size() != 1 + number) {
      if (BrokenLine other = row_from(at_, number, true); split_words(other.line()).size() == 1 + number)
        row = std::move(other);
    }
    at_ += row.lines();
    const TextLine whole = row.line_in(grid_.joined);
    GridRow words = split_words(whole);
    words.erase(words.begin());
    words.resize(columns_, {{}, whole.number, whole.column + whole.text.size()});
    grid_.rows.push_back(std::move(words));
    return true;
  }

  // The row that begins with this line. `has_blanks`: see BrokenLine::add().
  [[nodiscard]] BrokenLine row_from(std::size_t at, std::size_t number, bool has_blanks) const {
    BrokenLine row(rest_[at], width_);
    const auto goes_on = [&](const TextLine& next) {
      return (!has_blanks && row.is_within_word(next)) ||
             (split_words(row.line()).size() < 1 + number && !begins_row(next, number + 1));
    };
    while (++at < rest_.size() && goes_on(rest_[at])) row.add(rest_[at], ' ', has_blanks);
    return row;
  }

  // A number alone may also be the rest of a row.
  static bool begins_row(const TextLine& line, std::size_t number) {
    const GridRow words = split_words(line);
    return words.size() > 1 && words.front().text == std::to_string(number);
  }

  NumberGrid grid_;
  std::vector<TextLine> rest_;  // from the head on, without blank lines
  std::size_t width_ = 0, at_ = 0, columns_ = 0;
};

// True for the first line of MCTOP's .mct: "#NAME #HWCs 8 #Nodes 1 SMT 1". A line "CPU CPU CYCLES" for each pair follows,
// then sections on memory.
bool is_mctop_head(std::string_view text) {
  return text.starts_with('#') && text.find("#HWCs ") != text.npos && text.find("#Nodes ") != text.npos;
}

NumberGrid mctop_grid(const std::vector<TextLine>& lines, std::size_t head) {
  NumberGrid grid;
  grid.is_marked = true;
  grid.in_cycles = true;
  std::string_view rest = lines[head].text;
  rest.remove_prefix(rest.find("#HWCs ") + std::string_view("#HWCs ").size());
  const auto cpus = decimal(take_word(rest));
  if (!cpus || *cpus == 0 || *cpus > kMostGridCpus) {
    grid.problem = "expected a number behind #HWCs";
    grid.problem_at = {lines[head].text, lines[head].number, 1};
    return grid;
  }
  const auto size = static_cast<std::size_t>(*cpus);
  std::vector<std::pair<std::pair<std::size_t, std::size_t>, GridCell>> pairs;
  for (std::size_t i = head + 1; i < lines.size() && !lines[i].text.starts_with('#'); ++i) {
    const GridRow words = split_words(lines[i]);
    if (words.empty()) continue;
    const auto from = words.size() == 3 ? decimal(words[0].text) : std::nullopt;
    const auto to = words.size() == 3 ? decimal(words[1].text) : std::nullopt;
    if (!from || !to || *from >= size || *to >= size) {
      grid.problem = fmt::format("expected two CPUs of {} and the cycles between them", size);
      grid.problem_at = words.front();
      return grid;
    }
    pairs.push_back({{*from, *to}, words[2]});
  }
  // Compares with the number of pairs before allocating, because the size in the head may be wrong.
  if (pairs.size() < size) {
    grid.problem = fmt::format("{} pairs of {} CPUs: the list is cut off", pairs.size(), size);
    return grid;
  }
  grid.rows.assign(size, GridRow(size, GridCell{{}, lines[head].number, 1}));
  for (const auto& [place, cell] : pairs) grid.rows[place.first][place.second] = cell;
  return grid;
}

// The title of multichase's pingpong. Below it are a head with all CPUs but the first, a line "0:" with latencies from CPU 0
// to all later CPUs, and so on.
constexpr std::string_view kPingpongTitle = "avg latency to communicate a modified line from one core to another";

NumberGrid pingpong_grid(const std::vector<TextLine>& lines) {
  NumberGrid grid;
  grid.is_marked = true;
  std::size_t cpus = 0;
  for (const TextLine& line : lines) {
    GridRow words = split_words(line);
    if (words.empty()) continue;
    const bool is_row =
        words.front().text.ends_with(':') && decimal(words.front().text.substr(0, words.front().text.size() - 1));
    if (cpus == 0) {
      if (std::ranges::all_of(words, [](const GridCell& cell) { return decimal(cell.text).has_value(); }))
        cpus = words.size() + 1;
      continue;
    }
    const std::size_t number = grid.rows.size();
    if (!is_row || number + 1 == cpus) break;
    if (words.size() != cpus - number) {
      grid.problem = fmt::format("expected {} latencies, to the CPUs behind this one", cpus - 1 - number);
      grid.problem_at = words.front();
      return grid;
    }
    GridRow row(number + 1, GridCell{{}, line.number, 1});
    row.insert(row.end(), words.begin() + 1, words.end());
    grid.rows.push_back(std::move(row));
  }
  if (grid.rows.size() + 1 != cpus || cpus < 2) {
    grid.problem = fmt::format("pingpong's table ends before the line of CPU {}", grid.rows.size());
    return grid;
  }
  grid.rows.emplace_back(cpus, GridCell{{}, lines.back().number, 1});
  return grid;
}

// The columns of a list of pairs: titles "from,to,latency_ns", then rows such as "0,1,45.2".
struct ListTitles {
  std::size_t from = 0, to = 0, latency = 0;
};

std::optional<ListTitles> list_titles(const GridRow& row) {
  constexpr std::array<std::string_view, 12> kFrom = {"from",  "from_cpu", "src",    "source", "cpu1",   "cpu_a",
                                                      "core1", "core_a",   "core_1", "cpu_1",  "writer", "cpu0"};
  constexpr std::array<std::string_view, 12> kTo = {"to",    "to_cpu", "dst",    "dest",  "cpu2",   "cpu_b",
                                                    "core2", "core_b", "core_2", "cpu_2", "reader", "cpu1"};
  if (row.size() < 3) return std::nullopt;
  std::vector<std::string> words;
  for (const GridCell& cell : row) words.push_back(lower_case(cell.text));
  const auto place = [&words](const auto& fits) {
    return static_cast<std::size_t>(std::ranges::find_if(words, fits) - words.begin());
  };
  const auto one_of = [&place](const auto& names) {
    return place([&names](std::string_view word) { return std::ranges::find(names, word) != names.end(); });
  };
  const ListTitles titles{one_of(kFrom), one_of(kTo), place([](std::string_view word) {
                            return word.find("lat") != word.npos || word.find("cycle") != word.npos || word == "ns" ||
                                   word == "time_ns";
                          })};
  const bool all = std::max({titles.from, titles.to, titles.latency}) < words.size() && titles.from != titles.to;
  return all ? std::optional(titles) : std::nullopt;
}

NumberGrid list_grid(const NumberGrid& list, const ListTitles& titles) {
  const std::vector<GridRow>& rows = list.rows;
  NumberGrid grid;
  grid.decimal_commas = list.decimal_commas;
  grid.is_marked = true;
  std::size_t cpus = 0;
  for (std::size_t i = 1; i < rows.size() && grid.problem.empty(); ++i) {
    if (rows[i].size() == 1 && rows[i].front().text.empty()) continue;
    const auto number = [&](std::size_t at) { return at < rows[i].size() ? decimal(rows[i][at].text) : std::nullopt; };
    const auto from = number(titles.from), to = number(titles.to);
    if (!from || !to || *from >= kMostGridCpus || *to >= kMostGridCpus || titles.latency >= rows[i].size()) {
      grid.problem = "expected two CPUs and their latency, as the titles say";
      grid.problem_at = rows[i].front();
      return grid;
    }
    cpus = std::max({cpus, static_cast<std::size_t>(*from) + 1, static_cast<std::size_t>(*to) + 1});
    if (grid.rows.size() < cpus) grid.rows.resize(cpus);
    for (GridRow& row : grid.rows) row.resize(cpus, GridCell{{}, rows[i].front().line, 1});
    GridCell& cell = grid.rows[*from][*to];
    if (!cell.text.empty()) {
      grid.problem = fmt::format("CPUs {} and {} are listed twice", *from, *to);
      grid.problem_at = rows[i].front();
    }
    cell = rows[i][titles.latency];
  }
  return grid;
}

// True for a list of pairs without titles, "0 1 45.2": each pair of CPUs is there once in one direction, or in both.
bool is_bare_list(const std::vector<GridRow>& rows) {
  constexpr std::size_t kFewestCpus = 3;
  std::set<std::pair<std::uint64_t, std::uint64_t>> pairs;
  std::size_t cpus = 0;
  for (const GridRow& row : rows) {
    const auto from = row.size() == 3 ? decimal(row[0].text) : std::nullopt;
    const auto to = row.size() == 3 ? decimal(row[1].text) : std::nullopt;
    if (!from || !to || *from == *to || std::max(*from, *to) >= kMostGridCpus || !is_number(row[2].text)) return false;
    if (!pairs.emplace(*from, *to).second) return false;
    cpus = std::max(cpus, static_cast<std::size_t>(std::max(*from, *to)) + 1);
  }
  const auto has_other_way = [&pairs](const auto& pair) { return pairs.contains({pair.second, pair.first}); };
  const auto both_ways = static_cast<std::size_t>(std::ranges::count_if(pairs, has_other_way));
  const std::size_t all = cpus * (cpus - 1);
  return cpus >= kFewestCpus && ((pairs.size() == all && both_ways == all) || (2 * pairs.size() == all && both_ways == 0));
}

// True for a title above the table: words, of which none is a number, a CPU or the title of a list's column.
bool is_title_of_grid(const TextLine& line, char separator) {
  if (std::ranges::none_of(line.text, is_letter)) return false;
  if (separator != ' ') return line.text.find(separator) == line.text.npos;
  const GridRow words = split_words(line);
  return !list_titles(words) && std::ranges::none_of(words, [](const GridCell& word) {
    return word.text.empty() || is_number(word.text) || is_mark_of_diagonal(word.text) || label_number(word.text).has_value();
  });
}

// Removes the titles above the table, and the blank lines and rules below them. Returns the titles.
std::string take_out_titles(std::vector<TextLine>& lines, char separator) {
  std::string titles;
  std::size_t count = 0;
  constexpr std::size_t kShortestRule = 4;
  const auto is_blank_or_rule = [](std::string_view text) {
    text = stripped(text);
    return text.empty() || (text.size() >= kShortestRule && text.find_first_not_of("=-") == text.npos);
  };
  while (count < lines.size() &&
         (is_title_of_grid(lines[count], separator) || (!titles.empty() && is_blank_or_rule(lines[count].text))))
    titles += std::string(lines[count++].text) + "\n";
  if (count < lines.size()) lines.erase(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(count));
  return titles;
}

// Finds a unit other than nanoseconds in the titles or the table's first cell.
void note_unit(NumberGrid& grid, std::string_view titles) {
  const auto has_any = [titles](const auto& marks) {
    return std::ranges::any_of(marks, [titles](std::string_view mark) { return titles.find(mark) != titles.npos; });
  };
  constexpr std::array<std::string_view, 4> kCycles = {"cycle", "Cycle", "CYCLE", "TSC"};
  constexpr std::array<std::string_view, 3> kRates = {"B/s", "bandwidth", "Bandwidth"};
  constexpr std::array<std::string_view, 6> kLonger = {"(us)", "(ms)", "[us]", "microsec", "\xc2\xb5s", "\xce\xbcs"};
  if (has_any(kCycles)) grid.in_cycles = true;
  const bool is_rate = has_any(kRates);
  if (!is_rate && !has_any(kLonger)) return;
  grid.problem = is_rate ? "the title names bandwidths: a machine is made of latencies in ns"
                         : "the title names another unit: expected latencies in ns";
  grid.problem_at = grid.rows.front().front();
  grid.is_refused_table = true;
}

// True for a table in Markdown: each line that is not blank begins and ends with a bar.
bool is_markdown(const std::vector<TextLine>& lines) {
  return std::ranges::all_of(lines, [](const TextLine& line) {
    const std::string_view text = stripped(line.text);
    return text.empty() || (text.size() > 2 && text.front() == '|' && text.back() == '|');
  });
}

void take_out_bars(std::vector<TextLine>& lines) {
  std::erase_if(lines, [](const TextLine& line) { return line.text.find_first_not_of(" |-:\t\r") == line.text.npos; });
  for (TextLine& line : lines) {
    const std::size_t first = line.text.find('|') + 1;
    line.column += first;
    line.text = line.text.substr(first, line.text.rfind('|') - first);
  }
}

// Keeps the lines of the data in a script for gnuplot: those between "$data << EOD" and "EOD".
void take_out_script(std::vector<TextLine>& lines) {
  const auto begin = std::ranges::find_if(lines, [](const TextLine& line) { return stripped(line.text).ends_with("<< EOD"); });
  const auto end = std::find_if(begin, lines.end(), [](const TextLine& line) { return stripped(line.text) == "EOD"; });
  if (end != lines.end()) lines = {begin + 1, end};
}

// True for a list of lists, as Python and JSON write them: "[[0, 40], [41, 0]]".
bool is_list_of_lists(const std::vector<TextLine>& lines) {
  const auto first = std::ranges::find_if(lines, [](const TextLine& line) { return !stripped(line.text).empty(); });
  return first != lines.end() && stripped(first->text).starts_with("[[");
}

// Makes a line of each inner list.
void take_out_brackets(std::vector<TextLine>& lines) {
  constexpr std::string_view kBetweenRows = "[], \t\r";
  std::vector<TextLine> rows;
  for (const TextLine& line : lines) {
    for (std::size_t begin = 0; begin < line.text.size();) {
      begin = std::min(line.text.find_first_not_of(kBetweenRows, begin), line.text.size());
      const std::size_t end = std::min(line.text.find(']', begin), line.text.size());
      const std::string_view row = stripped(line.text.substr(begin, end - begin));
      if (!row.empty()) rows.push_back({row, line.number, line.column + begin});
      begin = end + 1;
    }
  }
  lines = std::move(rows);
}

// True if cells have decimal commas. Between tabs, three digits behind a comma may also be thousands, which are no latencies.
bool has_decimal_commas(std::string_view text, char separator) {
  const std::size_t first = text.find(',');
  if (first == text.npos || separator == ';') return first != text.npos;
  if (separator != '\t' || text.find('.') != text.npos) return false;
  for (std::size_t at = first; at != text.npos; at = text.find(',', at + 1)) {
    constexpr std::size_t kThousands = 3;
    const std::size_t end = std::min(text.find_first_not_of("0123456789", at + 1), text.size());
    if (end - at - 1 == kThousands) return false;
  }
  return true;
}

char separator_of(const std::vector<TextLine>& lines) {
  for (const char separator : {';', '\t', ','}) {
    const auto has = [separator](const TextLine& line) { return line.text.find(separator) != line.text.npos; };
    if (std::ranges::any_of(lines, has)) return separator;
  }
  return ' ';
}

}  // namespace

bool NumberGrid::is_square() const {
  const auto has_as_many = [this](const GridRow& row) { return row.size() == rows.size(); };
  return rows.size() >= 2 && std::ranges::all_of(rows, has_as_many);
}

namespace {

std::vector<GridRow> rows_of(const std::vector<TextLine>& lines, char separator) {
  std::vector<GridRow> rows;
  for (const TextLine& line : lines) {
    // With a separator other than blanks, a line of blanks is a row with one empty cell.
    if (separator == ' ' && stripped(line.text).empty()) continue;
    rows.push_back(split_line(line, separator));
  }
  return rows;
}

NumberGrid split_one_grid(std::string_view text) {
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  // Removes blank lines at the end. Does not remove blanks within a line, because a tab may stand for an empty cell at a
  // line's beginning or end.
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return {};
  text = text.substr(0, text.find('\n', last));
  std::vector<TextLine> lines = lines_of_text(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (is_mctop_head(lines[i].text)) return mctop_grid(lines, i);
  }
  if (text.find(kPlusMinus) != std::string_view::npos) return TerminalGrid(lines).take();
  if (text.find(kPingpongTitle) != std::string_view::npos) return pingpong_grid(lines);
  take_out_script(lines);
  std::string titles;
  for (const TextLine& line : lines) titles += line.text.starts_with('#') ? std::string(line.text) + "\n" : "";
  std::erase_if(lines, [](const TextLine& line) { return line.text.starts_with('#'); });
  if (is_list_of_lists(lines)) take_out_brackets(lines);
  NumberGrid grid;
  const bool has_bars = is_markdown(lines);
  if (has_bars) take_out_bars(lines);
  const char separator = has_bars ? '|' : separator_of(lines);
  titles += take_out_titles(lines, separator);
  grid.decimal_commas = has_decimal_commas(text, separator);
  grid.rows = rows_of(lines, separator);
  if (grid.rows.empty() || grid.rows.front().empty()) return grid;
  if (const auto columns = list_titles(grid.rows.front())) {
    for (const GridCell& cell : grid.rows.front()) titles += std::string(cell.text) + "\n";
    grid = list_grid(grid, *columns);
  } else if (is_bare_list(grid.rows)) {
    grid.rows.insert(grid.rows.begin(), GridRow{});
    grid = list_grid(grid, {0, 1, 2});
  } else {
    titles += grid.rows.front().front().text;
    if (join_broken_rows(lines, separator, grid.joined)) grid.rows = rows_of(lines, separator);
    if (separator == ' ') complete_labelled_triangle(grid.rows);
    if (separator != ' ') take_out_last_cells(grid.rows);
    if (separator != ' ') complete_ragged(grid.rows);
    take_labels(grid);
    if (separator == ' ') complete_triangle(grid);
    clear_diagonal(grid);
  }
  if (grid.problem.empty() && !grid.rows.empty() && !grid.rows.front().empty()) note_unit(grid, titles);
  return grid;
}

// True if the lines that became this grid are a core-to-core matrix by more than their shape: all cells are figures, and the
// diagonal has none, or a head names the CPUs.
bool is_matrix(const NumberGrid& grid, std::size_t lines) {
  if (!grid.problem.empty() || !grid.is_square()) return false;
  const bool has_head = lines > grid.rows.size();
  for (std::size_t i = 0; i < grid.rows.size(); ++i) {
    const std::string_view own = grid.rows[i][i].text;
    if (!has_head && !own.empty() && own.find_first_not_of("0.") != own.npos) return false;
    const auto is_cell = [](const GridCell& cell) { return cell.text.empty() || is_number(cell.text); };
    if (!std::ranges::all_of(grid.rows[i], is_cell)) return false;
  }
  return true;
}

// The first lines' numbers of the square tables that the text consists of, one below the other; empty if it does not.
std::vector<std::size_t> first_lines_of_tables(std::string_view text) {
  constexpr std::size_t kMostTables = 16;
  std::vector<TextLine> lines = lines_of_text(text);
  while (!lines.empty() && stripped(lines.back().text).empty()) lines.pop_back();
  const auto are_tables = [&lines](const std::vector<std::size_t>& first) {
    for (std::size_t i = 0; i < first.size(); ++i) {
      const std::size_t behind = i + 1 < first.size() ? first[i + 1] : lines.size();
      const std::string_view begin = lines[first[i]].text, last = lines[behind - 1].text;
      const std::string_view part(begin.data(), static_cast<std::size_t>(last.data() + last.size() - begin.data()));
      if (!is_matrix(split_one_grid(part), behind - first[i])) return false;
    }
    return first.size() > 1;
  };
  const auto numbers_of = [&lines](std::vector<std::size_t> first) {
    for (std::size_t& one : first) one = lines[one].number;
    return first;
  };
  std::vector<std::size_t> paragraphs;  // a table may follow a blank line
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_first = i == 0 || stripped(lines[i - 1].text).empty();
    if (is_first && !stripped(lines[i].text).empty()) paragraphs.push_back(i);
  }
  if (paragraphs.size() <= kMostTables && are_tables(paragraphs)) return numbers_of(paragraphs);
  for (std::size_t tables = 2; tables <= std::min(kMostTables, lines.size() / 2); ++tables) {
    if (lines.size() % tables != 0) continue;
    std::vector<std::size_t> first;
    for (std::size_t i = 0; i < tables; ++i) first.push_back(i * (lines.size() / tables));
    if (are_tables(first)) return numbers_of(first);
  }
  return {};
}

}  // namespace

NumberGrid split_grid(std::string_view text) {
  NumberGrid grid = split_one_grid(text);
  if (grid.is_square() || !grid.problem.empty() || grid.rows.empty()) return grid;
  const std::vector<std::size_t> tables = first_lines_of_tables(text);
  if (tables.empty()) return grid;
  grid.problem = fmt::format("has {} tables, which begin in lines {}: a machine has one; keep it alone", tables.size(),
                             fmt::join(tables, ", "));
  grid.is_refused_table = true;
  return grid;
}

}  // namespace linebounce::sim
