#include "workloads/program/address_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <stdexcept>

#include "models/text/visible.hpp"

namespace linebounce::workloads {
namespace {

constexpr Address kFirstAddress = 0x10000;  // no object lies at 0
constexpr Address kMemoryEnd = Address{1} << AddressSpace::kAddressBits;

Address round_up(Address address, int alignment) {
  const auto step = static_cast<Address>(alignment);
  return (address + step - 1) / step * step;
}

// A text that is equal only for layouts with the same names, sizes and places. Layouts with equal texts are compared in full.
std::string key_of(const Layout& layout) {
  std::string key = layout.name + '\n' + std::to_string(layout.size);
  for (const Field& field : layout.fields) key += '\n' + field.name + ':' + std::to_string(field.offset);
  return key;
}

}  // namespace

bool is_part_of(const std::string& structure, const std::string& whole) {
  return structure == whole || structure.starts_with(whole + ".");
}

AddressSpace::AddressSpace(LineStore& store, Homes* homes, std::map<std::string, Home> placed)
    : store_(&store), homes_(homes), placed_(std::move(placed)), next_(kFirstAddress) {
  function("program", Mode::kernel);
}

Address AddressSpace::place(const Layout& layout, const std::string& object, int alignment, std::optional<Home> home) {
  return place_sized(number_of(layout), layout.size, object, alignment, home);
}

Address AddressSpace::place(std::size_t layout, const std::string& object, std::optional<Home> home) {
  return place_sized(layout, layouts_[layout].size, object, 0, home);
}

Address AddressSpace::place_sized(std::size_t number, std::int64_t bytes, const std::string& object, int alignment,
                                  std::optional<Home> home) {
  const Layout& layout = layouts_[number];
  if (const auto named = placed_.find(object); named != placed_.end()) home = named->second;
  if (homes_ != nullptr && home) home = homes_->plain(*home);
  const bool moves = homes_ != nullptr && home != last_home_;
  Address begin = round_up(next_, alignment > 0 ? alignment : layout.alignment);
  if (moves && !exactly_) begin = round_up(begin, home && !home->policy ? line_bytes() : homes_->page_bytes());
  if (alignment == 0 && layout.base_offset) {
    const auto line = static_cast<Address>(line_bytes());
    const auto offset = static_cast<Address>(*layout.base_offset);
    begin = round_up(moves || next_ <= offset ? begin : next_ - offset, line_bytes()) / line * line + offset;
  }
  if (begin >= kMemoryEnd || static_cast<Address>(bytes) > kMemoryEnd - begin)
    throw std::invalid_argument(
        fmt::format("{} does not fit: all objects together take at most 2^{} bytes", visible_name(object), kAddressBits));
  if (moves) {
    homes_->place(begin, home.value_or(homes_->machine_policy()));
    last_home_ = home;
  }
  next_ = begin + static_cast<Address>(bytes);
  exactly_ = false;
  objects_.push_back({number, object, begin, false, bytes, alignment, home});
  return begin;
}

// Compares layouts, not names, which two structures may share. Tries the latest object's layout first, because objects are
// often placed by the thousand.
std::size_t AddressSpace::number_of(const Layout& layout) {
  if (!objects_.empty() && layouts_[objects_.back().layout] == layout) return objects_.back().layout;
  const std::string key = key_of(layout);
  for (auto [known, end] = layouts_by_key_.equal_range(key); known != end; ++known) {
    if (layouts_[known->second] == layout) return known->second;
  }
  layouts_by_key_.emplace(key, layouts_.size());
  layouts_.push_back(layout);
  return layouts_.size() - 1;
}

Address AddressSpace::place_array(const std::string& object, std::int64_t bytes, std::optional<Home> home) {
  const Address begin = place_plain(object, bytes, line_bytes(), home);
  objects_.back().array = true;
  next_ = round_up(next_, line_bytes());
  return begin;
}

Address AddressSpace::place_bytes(const std::string& object, std::int64_t bytes, std::optional<Home> home) {
  const Address begin = place_plain(object, bytes, 1, home);
  objects_.back().array = true;
  return begin;
}

Address AddressSpace::place_plain(const std::string& object, std::int64_t bytes, int alignment, std::optional<Home> home) {
  const auto size = static_cast<int>(std::min<std::int64_t>(bytes, std::numeric_limits<int>::max()));
  return place_sized(number_of({.name = object, .size = size, .alignment = alignment, .fields = {}}), bytes, object, 0, home);
}

FunctionId AddressSpace::function(const std::string& declared, Mode mode) {
  const std::string name = visible_name(declared);
  const auto [known, is_new] = functions_by_name_.try_emplace(name, static_cast<FunctionId>(functions_.size()));
  if (is_new) functions_.push_back({name, mode});
  return known->second;
}

void AddressSpace::set_frames(const PageFrames& frames) {
  frames_ = frames;
  if (homes_ != nullptr) homes_->set_frames(frames);
}

std::vector<std::string> AddressSpace::object_names() const {
  std::vector<std::string> names;
  for (const Object& object : objects_) names.push_back(object.name);
  return names;
}

AddressSpace::Place AddressSpace::find(Address address) const {
  const Place place = find_byte(address);
  const bool in_array = place.object != kNoObject && objects_[place.object].array;
  return in_array ? Place{place.object, 0} : place;
}

AddressSpace::Place AddressSpace::search(Address address) const {
  const auto after = std::ranges::upper_bound(objects_, address, {}, &Object::begin);
  if (after == objects_.begin()) return {};
  const Object& object = *std::prev(after);
  const Address offset = address - object.begin;
  if (offset >= static_cast<Address>(object.size)) return {};
  const auto number = static_cast<std::uint32_t>(&object - objects_.data());
  found_[address / kGranule % kFound] = number;
  return {number, static_cast<std::uint32_t>(offset)};
}

Symbol AddressSpace::symbol(Place place) const {
  if (place.object == kNoObject) return {};
  const Object& object = objects_[place.object];
  const Layout& layout = layouts_[object.layout];
  const Address address = object.begin + place.offset;  // virtual: in a line, both kinds of address are the same
  Symbol symbol{.structure = layout.name, .object = object.name, .field = object.array ? "[]" : ""};
  symbol.line = static_cast<std::int64_t>(store_->line_of(address).value - store_->line_of(object.begin).value);
  symbol.offset = static_cast<std::int64_t>(store_->offset_of(address));
  for (const Field& field : layout.fields) {
    const auto inside = static_cast<int>(place.offset);
    if (inside >= field.offset && inside < field.offset + field.size) symbol.field = field.name;
  }
  for (std::string* name : {&symbol.structure, &symbol.object, &symbol.field}) *name = visible_name(*name);
  return symbol;
}

Address AddressSpace::address(Place place) const {
  return frames_.to_physical(objects_[place.object].begin + place.offset);
}

const std::string& AddressSpace::subsystem(Place place) const {
  static const std::string kNone;
  return place.object == kNoObject ? kNone : layouts_[objects_[place.object].layout].subsystem;
}

std::vector<Address> AddressSpace::addresses_of(const std::string& structure, const std::string& field) const {
  // Looks the field up once for each layout, because objects are many and layouts few.
  std::vector<std::vector<int>> offsets(layouts_.size());
  for (std::size_t layout = 0; layout < layouts_.size(); ++layout) {
    if (!is_part_of(layouts_[layout].name, structure)) continue;
    for (const Field& candidate : layouts_[layout].fields) {
      if (candidate.name == field) offsets[layout].push_back(candidate.offset);
    }
  }
  std::vector<Address> addresses;
  for (const Object& object : objects_) {
    for (const int offset : offsets[object.layout])
      addresses.push_back(frames_.to_physical(object.begin + static_cast<Address>(offset)));
  }
  return addresses;
}

}  // namespace linebounce::workloads
