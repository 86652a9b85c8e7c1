#include "forms/hmat.hpp"

#include <fmt/format.h>

#include "forms/line_file.hpp"

namespace linebounce::sim {
namespace {

constexpr std::uint64_t kMostDomain = 1023;
constexpr std::uint64_t kUnreachable = 0xffff;
// Types of data of ACPI 6.5, table 5.148. Types 2 and 5 are of writes.
constexpr std::uint64_t kAccessLatency = 0, kReadLatency = 1, kAccessBandwidth = 3, kReadBandwidth = 4;

// "[058h 0088   2]   Entry : 0064" without the brackets.
std::string_view without_offset(std::string_view line) {
  const std::size_t close = line.starts_with('[') ? line.find(']') : line.npos;
  return close == line.npos ? line : line.substr(close + 1);
}

}  // namespace

bool HmatTable::take(std::string_view line) {
  const std::string_view text = without_offset(line);
  const std::size_t colon = text.find(" : ");
  if (colon == text.npos) return false;
  const std::string_view name = stripped(text.substr(0, colon));
  std::string_view value = stripped(text.substr(colon + 3));
  if (name == "Signature") {
    end_structure();
    is_inside_ = value.starts_with("\"HMAT\"");
    return is_inside_;
  }
  if (!is_inside_) return false;
  value = value.substr(0, value.find(' '));
  field(name, value);
  return true;
}

void HmatTable::field(std::string_view name, std::string_view value) {
  const auto number = hexadecimal(value);
  const auto needed = [&](std::uint64_t most) {
    if (!number || *number > most) refuse_(fmt::format("expected {} as a hexadecimal number up to {:X}", name, most));
    return *number;
  };
  if (name == "Revision") {
    revision_ = needed(0xff);
  } else if (name == "Structure Type") {
    end_structure();
    is_locality_ = needed(0xffff) == 1;
  } else if (!is_locality_) {
    return;
  } else if (name == "Memory Hierarchy") {
    hierarchy_ = needed(0xf);
  } else if (name == "Data Type") {
    data_type_ = needed(0xff);
  } else if (name == "Initiator Proximity Domains #") {
    initiators_stated_ = needed(kMostDomain + 1);
  } else if (name == "Target Proximity Domains #") {
    targets_stated_ = needed(kMostDomain + 1);
  } else if (name == "Entry Base Unit") {
    unit_ = needed(UINT64_MAX);
  } else if (name == "Initiator Proximity Domain List") {
    initiators_.push_back(static_cast<int>(needed(kMostDomain)));
  } else if (name == "Target Proximity Domain List") {
    targets_.push_back(static_cast<int>(needed(kMostDomain)));
  } else if (name == "Entry") {
    entries_.push_back(needed(kUnreachable));
  }
}

// In ns or MB/s. Revision 2 counts latencies in picoseconds; revision 1 counts both in tenths (Linux, hmat_normalize()).
double HmatTable::figure(std::uint64_t entry, bool is_latency) const {
  constexpr double kTenths = 10, kPicosecondsOfNs = 1000;
  const double stated = static_cast<double>(entry) * static_cast<double>(unit_);
  if (revision_ < 2) return stated / kTenths;
  return is_latency ? stated / kPicosecondsOfNs : stated;
}

void HmatTable::end_structure() {
  if (is_locality_) {
    const std::size_t targets = targets_.size();
    if (initiators_.size() != initiators_stated_ || targets != targets_stated_ ||
        entries_.size() != initiators_.size() * targets)
      refuse_(fmt::format("HMAT has {} entries here; expected {} initiators times {} targets", entries_.size(),
                          initiators_stated_, targets_stated_));
    const bool is_latency = data_type_ == kAccessLatency || data_type_ == kReadLatency;
    const bool is_bandwidth = data_type_ == kAccessBandwidth || data_type_ == kReadBandwidth;
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      // Levels of the hierarchy above 0 are caches in front of memory.
      if (entries_[i] == 0 || entries_[i] == kUnreachable || hierarchy_ != 0 || (!is_latency && !is_bandwidth)) continue;
      pairs_.push_back({initiators_[i / targets], targets_[i % targets], is_latency, figure(entries_[i], is_latency)});
    }
  }
  is_locality_ = false;
  hierarchy_ = data_type_ = unit_ = 0;
  initiators_stated_ = targets_stated_ = 0;
  initiators_.clear(), targets_.clear(), entries_.clear();
}

std::vector<HmatPair> HmatTable::finished() {
  end_structure();
  return std::move(pairs_);
}

}  // namespace linebounce::sim
