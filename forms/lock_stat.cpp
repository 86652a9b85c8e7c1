// Reads /proc/lock_stat (Documentation/locking/lockstat.rst). The titles tell which columns there are, because version 0.3
// (Linux before 3.13) has no means. Without titles, as grep leaves them out, the number of columns tells. E-mail programs break
// the long lines, so a line that consists of numbers continues the previous class.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "forms/forms.hpp"
#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr std::string_view kLockStatTitle = "lock_stat version ";
constexpr std::array<std::string_view, 12> kAllTitles = {"con-bounces",    "contentions",  "waittime-min",   "waittime-max",
                                                         "waittime-total", "waittime-avg", "acq-bounces",    "acquisitions",
                                                         "holdtime-min",   "holdtime-max", "holdtime-total", "holdtime-avg"};
constexpr std::array<std::string_view, 6> kNeeded = {"contentions",  "waittime-max", "waittime-total",
                                                     "acquisitions", "holdtime-max", "holdtime-total"};

class LockStatFile {
 public:
  explicit LockStatFile(const std::filesystem::path& path) : in_(path) {}

  // The columns of an untitled row of a class, "a_lock:  3  8  0.20 ...": all of them, or those of version 0.3. Times have a
  // point, and counts have none. Empty for other lines.
  static std::vector<std::string> columns_of_class(std::string_view text) {
    const std::size_t colon = numbers_at(text);
    if (colon == text.npos || stripped(text.substr(0, colon)).empty()) return {};
    const std::vector<std::string_view> figures = words_of(text.substr(colon + 1));
    std::vector<std::string> columns(kAllTitles.begin(), kAllTitles.end());
    if (figures.size() < columns.size())
      std::erase_if(columns, [](const std::string& title) { return title.ends_with("-avg"); });
    if (figures.size() != columns.size()) return {};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const bool is_time = columns[i].find("time-") != std::string::npos;
      if ((figures[i].find('.') != std::string_view::npos) != is_time) return {};
    }
    return columns;
  }

  LockStatisticsFile read() {
    while (const auto line = in_.next()) read_line(stripped(*line));
    complete_class();
    if (!site_.empty()) refuse_site();
    if (columns_.empty()) in_.refuse(kExpectTitles);
    LockStatisticsFile file;
    file.tool = "lock_stat";
    file.what = "lock";
    file.locks = std::move(locks_);
    sort_hottest_first(file.locks);
    file.losses.add_count(Loss::quotes_removed, file.tool, in_.quoted());
    file.losses.add_count(Loss::lines_joined, file.tool, joined_);
    if (assumed_) file.losses.add(Loss::titles_assumed, file.tool, columns_.size() == kAllTitles.size() ? "0.4" : "0.3");
    return file;
  }

 private:
  static constexpr const char* kExpectTitles =
      "expected the titles of the columns: class name, con-bounces, ... holdtime-total";

  void read_line(std::string_view text) {
    if (text.empty() || text.starts_with("*WARNING*") || text.starts_with(kLockStatTitle)) return;
    if (text.find_first_not_of(text.front()) == text.npos && (text.front() == '-' || text.front() == '.')) {
      complete_class();
      if (text.front() == '-') ++rules_;
    } else if (text.starts_with("class name")) {
      columns_.clear();
      titles(text.substr(std::string_view("class name").size()));
    } else if (columns_.empty()) {
      columns_ = columns_of_class(text);
      if (columns_.empty() && numbers_at(text) != text.npos) in_.refuse(kExpectTitles);
      if (columns_.empty()) return;  // what a pasted text has before the statistics: a command, a sentence
      assumed_ = true;
      read_line(text);
    } else if (locks_.empty() && name_.empty() && is_title(text)) {
      titles(text);
      ++joined_;
    } else if (is_figures(text) && !name_.empty() && figures_.size() < columns_.size()) {
      add_figures(text);
      ++joined_;
    } else if (const std::size_t colon = numbers_at(text); colon != text.npos) {
      complete_class();
      name_ = text.substr(0, colon);
      add_figures(text.substr(colon + 1));
    } else {
      complete_class();
      site(text);
    }
  }

  static bool is_title(std::string_view text) { return std::ranges::find(kAllTitles, take_word(text)) != kAllTitles.end(); }
  static bool is_figures(std::string_view text) { return text.find_first_not_of("0123456789. \t") == text.npos; }

  void titles(std::string_view text) {
    while (!text.empty()) {
      const std::string_view word = take_word(text);
      if (std::ranges::find(kAllTitles, word) == kAllTitles.end())
        in_.refuse(fmt::format("{} is not a column of lock_stat 0.1 to 0.4", word));
      columns_.emplace_back(word);
    }
  }

  // Returns the position of the colon that ends the name, after which there are only numbers.
  static std::size_t numbers_at(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    if (colon == text.npos || !is_figures(text.substr(colon + 1))) return text.npos;
    return colon;
  }

  void add_figures(std::string_view text) {
    while (!text.empty()) {
      const auto value = real(take_word(text));
      if (!value) refuse_figures();
      figures_.push_back(*value);
    }
    if (figures_.size() > columns_.size())
      in_.refuse(fmt::format("more than the {} numbers {} to {}", columns_.size(), columns_.front(), columns_.back()));
  }

  [[noreturn]] void refuse_figures() const {
    in_.refuse(fmt::format("expected {} numbers after the name: {} to {}", columns_.size(), columns_.front(), columns_.back()));
  }

  [[nodiscard]] double figure(std::string_view column) const {
    const auto found = std::ranges::find(columns_, column);
    return figures_[static_cast<std::size_t>(found - columns_.begin())];
  }

  [[nodiscard]] std::uint64_t count(std::string_view column) const {
    const double value = figure(column);
    if (value >= 0x1p64) in_.refuse("contentions or acquisitions are more than 64 bits can count");
    return static_cast<std::uint64_t>(value);
  }

  // Stores the class, once all its lines have been read.
  void complete_class() {
    if (name_.empty()) return;
    for (const std::string_view needed : kNeeded) {
      if (std::ranges::find(columns_, needed) == columns_.end()) in_.refuse(fmt::format("the column {} is missing", needed));
    }
    if (figures_.size() != columns_.size()) refuse_figures();
    LockStatistics lock;
    // Only a class with readers has rows "-R" and "-W".
    if (name_.ends_with("-R")) lock.kind = "readers";
    if (name_.ends_with("-W")) lock.kind = "writers";
    lock.has_readers = !lock.kind.empty();
    lock.name = lock.has_readers ? name_.substr(0, name_.size() - 2) : name_;
    lock.waits = count("contentions");
    lock.wait = {figure("waittime-total"), figure("waittime-max")};
    lock.acquisitions = count("acquisitions");
    lock.hold = {figure("holdtime-total"), figure("holdtime-max")};
    locks_.push_back(std::move(lock));
    name_.clear();
    figures_.clear();
    rules_ = 0;
  }

  // Takes a function of a class: "unix_table_lock  45  [<ffffffff8150ad8e>] unix_create1+0x16e/0x1b0". An e-mail program may
  // have broken it into two lines.
  void site(std::string_view text) {
    const bool was_broken = !site_.empty();
    site_ += (was_broken ? " " : "") + std::string(text);
    const std::string_view all = site_;
    const std::size_t address = all.find("[<");
    const std::size_t end = all.find(">]", address);
    const bool is_whole = end != all.npos && !stripped(all.substr(end + 2)).empty();
    if (locks_.empty() || rules_ == 0 || (was_broken && !is_whole)) refuse_site();
    if (!is_whole) {
      // The first half of a broken line ends with the count or the address.
      std::string_view before = all.substr(0, address);
      if (!decimal(take_last_word(before))) refuse_site();
      return;
    }
    std::string_view before = all.substr(0, address);
    const auto waits = decimal(take_last_word(before));
    if (!waits) in_.refuse("expected a count before [<ADDRESS>]");
    LockStatistics& lock = locks_.back();
    (rules_ == 1 ? lock.waited_in : lock.held_in).push_back({std::string(stripped(all.substr(end + 2))), *waits});
    if (was_broken) ++joined_;
    site_.clear();
  }

  [[noreturn]] void refuse_site() const {
    in_.refuse(fmt::format("expected a class with {} numbers, or below one a place: NAME COUNT [<ADDRESS>] FUNCTION",
                           columns_.size()));
  }

  LineFile in_;
  std::vector<std::string> columns_;
  std::string name_;  // the class that is being read; empty: none
  std::vector<double> figures_;
  std::string site_;  // the first half of a broken line
  std::vector<LockStatistics> locks_;
  // Number of dashed rules since the class's numbers. After the first rule come functions that waited, after the second those
  // that held the lock.
  int rules_ = 0;
  std::int64_t joined_ = 0;
  bool assumed_ = false;  // true: the titles are missing
};

Likeness lock_stat_likeness(const Excerpt& excerpt) {
  const bool named = !excerpt.lines.empty() && excerpt.lines.front().text.starts_with(kLockStatTitle);
  const bool titled = excerpt.has("class name") && excerpt.has("con-bounces");
  const bool untitled = !excerpt.lines.empty() && !LockStatFile::columns_of_class(excerpt.lines.front().text).empty();
  if (!named && !titled && untitled)
    return {Likeness::Sure::certain, "its first line is a class with the numbers that lock_stat counts"};
  return certain_if(named || titled, named ? "its first line says so" : "it has the titles of its columns");
}

}  // namespace

Form lock_stat_form() {
  return {.name = "lock_stat",
          .kind = FormKind::locks,
          .what = "/proc/lock_stat",
          .marks = "\"lock_stat version\", or its titles: class name, con-bounces, ...",
          .likeness = lock_stat_likeness,
          .read_locks = [](const std::filesystem::path& file) { return LockStatFile(file).read(); }};
}

}  // namespace linebounce::sim
