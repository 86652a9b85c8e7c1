#include "forms/address_lines.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <set>

#include "forms/address_objects.hpp"
#include "forms/line_file.hpp"
#include "trace/error.hpp"

namespace linebounce::sim {
namespace {

using What = AddressLine::What;

constexpr int kMostCpuNumber = 65535;  // the largest CPU number that a trace may contain
constexpr int kMostNamedCpus = 256;    // numbers in files' names above are not CPUs'
constexpr std::uint64_t kLargestAccess = 4096;

std::string_view without_comment(std::string_view text) {
  constexpr std::array<std::string_view, 4> kMarks = {"#", "//", ";", "--"};
  if (text.find_first_of("#/;-") == text.npos) return text;
  for (const std::string_view mark : kMarks) {
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + mark.size())) {
      const bool is_arrow = at > 0 && text[at - 1] == '<';  // "<--", before a stored value
      if (at == 0 || (!is_arrow && (text[at - 1] == ' ' || text[at - 1] == '\t'))) text = text.substr(0, at);
    }
  }
  return stripped(text);
}

// Parses a line, of which a comment has been removed if the format has comments.
std::optional<AddressLine> parsed(const AddressGrammar& grammar, std::string_view text) {
  if (grammar.has_comments) text = without_comment(text);
  return text.empty() ? AddressLine{} : grammar.parse(text);
}

class AddressLines {
 public:
  AddressLines(const AddressGrammar& grammar, trace::Writer& out)
      : grammar_(grammar), out_(&out), objects_(out, AddressObjects::Addresses::as_they_are), word_bytes_(grammar.word_bytes) {}

  Losses convert(const std::function<std::optional<AddressLine>()>& next) {
    for (int number = 0; number < grammar_.cpus; ++number) begin(number);
    while (const auto line = next()) take(*line);
    for (auto& [number, cpu] : cpus_) cpu.fetched.finish();
    return losses({}, {});
  }

  Losses convert(const std::vector<std::filesystem::path>& files) {
    const std::vector<int> numbers = cpus_of(files);
    if (!grammar_.has_sizes) word_bytes_ = unit_of(files);
    for (std::size_t i = 0; i < files.size(); ++i) {
      own_cpu_ = numbers[i];
      LineFile in(files[i]);
      while (const auto line = in.next()) {
        if (const std::string_view text = stripped(*line); !text.empty()) record(text, in);
      }
      quoted_ += in.quoted();
    }
    for (auto& [number, cpu] : cpus_) cpu.fetched.finish();
    return losses(files, numbers);
  }

 private:
  struct Cpu {
    std::uint32_t stream;
    FetchedInstructions fetched;
    std::int64_t wakes = 0;  // number of wake-ups that this CPU has received from others
    bool unfenced = false;   // true if the CPU has stored since its last fence
  };

  // Returns a CPU for each file: the number in the file's name or, if two names have the same number or one has none or one
  // that no course's CPU has ("403.gcc"), the file's position. A single file gets -1.
  static std::vector<int> cpus_of(const std::vector<std::filesystem::path>& files) {
    if (files.size() == 1) return {-1};
    std::vector<int> in_names, in_order;
    std::set<int> distinct;
    for (const std::filesystem::path& file : files) {
      in_order.push_back(static_cast<int>(in_order.size()));
      if (const auto number = number_in_name(file); number && *number < kMostNamedCpus) {
        in_names.push_back(*number);
        distinct.insert(*number);
      }
    }
    return distinct.size() == files.size() ? in_names : in_order;
  }

  // The largest power of two up to a word that divides all addresses of accesses without a size.
  [[nodiscard]] std::uint64_t unit_of(const std::vector<std::filesystem::path>& files) const {
    std::uint64_t bits = grammar_.word_bytes;
    for (const std::filesystem::path& file : files) {
      LineFile in(file);
      for (auto text = in.next(); text && (bits & 1) == 0; text = in.next()) {
        const std::string_view bare = stripped(*text);
        const auto line = bare.empty() ? std::nullopt : parsed(grammar_, bare);
        if (line && line->bytes == 0 && is_access(line->what)) bits |= line->address;
      }
    }
    return std::uint64_t{1} << std::countr_zero(bits);
  }
  static bool is_access(What what) { return what == What::load || what == What::store || what == What::modify; }

  void record(std::string_view text, const LineFile& in) {
    const auto line = parsed(grammar_, text);
    if (!line) in.refuse(fmt::format("expected {}", grammar_.expected));
    if (line->bytes > kLargestAccess) in.refuse(fmt::format("an access of more than {} bytes", kLargestAccess));
    if (line->cpu > kMostCpuNumber) in.refuse(fmt::format("CPU numbers are 0 to {}", kMostCpuNumber));
    if (line->what == What::compute && line->address > trace::kMostCount)
      in.refuse(fmt::format("computes longer than a replay can count; legal: up to {} cycles", trace::kMostCount));
    if (line->instructions > trace::kMostCount)
      in.refuse(fmt::format("more instructions than a replay can count; legal: up to {}", trace::kMostCount));
    take(*line);
  }

  void take(const AddressLine& line) {
    if (line.what == What::nothing) return;
    any_time_ = any_time_ || line.has_time;
    if (line.what == What::other) {
      ++others_;
      return;
    }
    const int number = grammar_.has_cpus ? line.cpu : own_cpu_;
    Cpu& cpu = turn_of(number);
    if (line.what == What::fetch) {
      cpu.fetched.fetch();
      any_fetched_ = true;
    } else if (line.what == What::compute) {
      out_->append(cpu.stream, operation(trace::Kind::compute, 0, line.address));
    } else {
      access(cpu, line);
    }
  }

  void access(Cpu& cpu, const AddressLine& line) {
    any_fetched_ = any_fetched_ || line.instructions > 0;
    below_cache_ = below_cache_ || line.below_cache;
    cpu.fetched.fetch(line.instructions);
    cpu.fetched.access();
    const std::uint64_t bytes = line.bytes > 0 ? line.bytes : word_bytes_;
    const std::uint64_t address = line.bytes > 0 ? line.address : line.address - line.address % word_bytes_;
    if (line.what != What::store) objects_.access(cpu.stream, trace::Kind::load, address, bytes);
    if (line.what != What::load) objects_.access(cpu.stream, trace::Kind::store, address, bytes);
    cpu.unfenced = cpu.unfenced || line.what != What::load;
    if (line.written_back) write_back(cpu, *line.written_back);
    all_in_digits_ = all_in_digits_ && line.in_digits;
    any_figure_ = any_figure_ || line.has_figure;
  }

  void write_back(Cpu& cpu, std::uint64_t address) {
    objects_.access(cpu.stream, trace::Kind::store, address - address % word_bytes_, word_bytes_);
    cpu.unfenced = true;
    ++written_back_;
  }

  // Returns the CPU of the current line. If lines name their CPUs, and this CPU is not that of the previous line, the
  // previous one hands over to it.
  Cpu& turn_of(int number) {
    if (last_ != nullptr && number == last_number_) return *last_;
    const auto found = cpus_.find(number);
    Cpu& next = found != cpus_.end() ? found->second : begin(number);
    if (grammar_.has_cpus && grammar_.keeps_order && last_ != nullptr) hand_over(*last_, next, number);
    last_ = &next;
    last_number_ = number;
    return next;
  }

  Cpu& begin(int number) {
    const std::string name = number < 0 ? "thread" : fmt::format("cpu/{}", number);
    const std::uint32_t stream = out_->define(trace::Stream{name, number, -1, false});
    return cpus_.emplace(number, Cpu{stream, FetchedInstructions(*out_, stream)}).first->second;
  }

  // Makes the previous CPU's stores visible with a fence, then wakes the next CPU.
  void hand_over(Cpu& before, Cpu& next, int number) {
    before.fetched.finish();
    if (before.unfenced) out_->append(before.stream, operation(trace::Kind::fence, 0, 0));
    before.unfenced = false;
    out_->append(before.stream, operation(trace::Kind::wake, static_cast<std::uint32_t>(number), 0));
    out_->append(next.stream, operation(trace::Kind::sleep, 0, ++next.wakes));
  }

  static trace::Operation operation(trace::Kind kind, std::uint32_t id, std::uint64_t argument) {
    trace::Operation operation;
    operation.kind = kind;
    operation.id = id;
    operation.argument = argument;
    return operation;
  }

  [[nodiscard]] Losses losses(const std::vector<std::filesystem::path>& files, const std::vector<int>& numbers) const {
    const std::string_view source = grammar_.source;
    Losses losses;
    if (grammar_.has_cpus) {
      losses.add(grammar_.keeps_order ? Loss::order_kept : Loss::no_order, source);
    } else if (files.size() == 1) {
      losses.add(Loss::one_thread, source);
    } else {
      std::vector<std::string> which;
      for (std::size_t i = 0; i < files.size(); ++i)
        which.push_back(fmt::format("{} of CPU {}", files[i].filename().string(), numbers[i]));
      losses.add(Loss::file_is_a_cpu, source, fmt::format("{}", fmt::join(which, ", ")));
      losses.add(Loss::no_order, source);
    }
    losses.add(Loss::no_locks, source);
    losses.add(Loss::no_atomics, source);
    if (!grammar_.has_sizes) losses.add(Loss::no_sizes, source, std::to_string(word_bytes_));
    losses.add(Loss::no_names, source);
    if (!any_fetched_) losses.add(Loss::no_instructions, source);
    if (any_figure_) losses.add(Loss::figures_dropped, source);
    if (all_in_digits_ && last_ != nullptr) losses.add(Loss::digits_alone, source);
    if (any_time_) losses.add(Loss::times_dropped, source);
    if (grammar_.below_cache) losses.add(Loss::below_a_cache, source);
    if (below_cache_) losses.add(Loss::filtered_by_caches, source);
    losses.add_count(Loss::write_backs_as_stores, source, written_back_);
    if (grammar_.is_virtual) losses.add(Loss::virtual_as_physical, source);
    losses.add_count(Loss::other_packets, source, others_);
    losses.add_count(Loss::quotes_removed, source, quoted_);
    return losses;
  }

  AddressGrammar grammar_;
  trace::Writer* out_;
  AddressObjects objects_;
  std::uint64_t word_bytes_;
  std::map<int, Cpu> cpus_;
  Cpu* last_ = nullptr;
  int last_number_ = -1;
  int own_cpu_ = -1;
  bool any_fetched_ = false, below_cache_ = false;
  bool all_in_digits_ = true, any_time_ = false, any_figure_ = false;  // of the accesses
  std::int64_t others_ = 0, quoted_ = 0, written_back_ = 0;
};

}  // namespace

Losses convert_accesses(const AddressGrammar& grammar, trace::Writer& out,
                        const std::function<std::optional<AddressLine>()>& next) {
  return AddressLines(grammar, out).convert(next);
}

ConvertTrace convert_lines_of(const AddressGrammar& grammar) {
  return [grammar](const std::vector<std::filesystem::path>& files, trace::Writer& out) {
    if (grammar.has_cpus && files.size() > 1)
      throw trace::TraceError(
          fmt::format("{}: {} names the CPU in each line: give one file", files[1].string(), grammar.source));
    return AddressLines(grammar, out).convert(files);
  };
}

std::function<Likeness(const Excerpt&)> likeness_of(const AddressGrammar& grammar) {
  return [grammar](const Excerpt& excerpt) {
    bool any = false;
    Likeness likeness = likeness_of_lines(excerpt, [&](std::string_view text) {
      const auto line = parsed(grammar, text);
      any = any || (line && line->what != What::nothing);
      return line.has_value();
    });
    if (!any) likeness.sure = Likeness::Sure::no;
    return likeness;
  };
}

bool is_in_digits(std::string_view address) {
  return address.find_first_not_of("0123456789") == address.npos;
}

std::optional<int> number_in_name(const std::filesystem::path& file) {
  const std::string stem = file.stem().string();
  const std::size_t before = stem.find_last_not_of("0123456789");
  const auto number = decimal(std::string_view(stem).substr(before == std::string::npos ? 0 : before + 1));
  if (!number || *number > kMostCpuNumber) return std::nullopt;
  return static_cast<int>(*number);
}

}  // namespace linebounce::sim
