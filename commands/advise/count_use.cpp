#include "commands/advise/count_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace linebounce::sim {
namespace {

constexpr double kMostlyAdds = 0.9;  // share of writes
// Least ratio between subtractions and additions, either way, at which they count as equally many.
constexpr double kBalanced = 0.8;

using trace::Kind;
using Words = std::map<std::uint64_t, CountUse>;  // by offset

const std::string& layout_of(const trace::Object& object, const trace::Symbols& symbols) {
  return object.structure == trace::kNone ? object.name : symbols.structures[object.structure].name;
}

bool is_awaited(const CountWord& word, const trace::Symbols& symbols) {
  return std::ranges::any_of(symbols.words, [&](const trace::Word& awaited) {
    return layout_of(symbols.objects[awaited.object], symbols) == word.layout &&
           awaited.offset == static_cast<std::int64_t>(word.offset);
  });
}

// Adds a change of the count. A compare-and-exchange counts as an addition if it adds, and if the thread has read nothing but
// the count since it read the count. Otherwise its loop uses the value, and the word is not a count: before claiming a slot of
// a queue, a thread looks at the slot, and before subtracting 1 from a semaphore, it checks the value.
void add_change(CountUse& use, const trace::Operation& it, const trace::Operation& before) {
  const std::uint16_t sign = it.flags & trace::kChangeOfSum;
  const bool only_adds = before.id == it.id && before.argument == it.argument;
  const bool is_add = it.kind == Kind::fetch_add ? (it.flags & trace::kNoSum) == 0 : sign == trace::kAdds && only_adds;
  if (!is_add) {
    ++use.other_writes;
    return;
  }
  const bool used = (it.flags & trace::kResultUsed) != 0;
  ++(sign == trace::kAdds ? use.ups : sign == trace::kSubtracts ? use.downs : use.other_adds);
  if (used) ++(sign == trace::kAdds ? use.used_ups : sign == trace::kSubtracts ? use.used_downs : use.used_others);
  if (!used && (it.flags & trace::kResultUnused) == 0) ++use.unseen;
}

// Adds an operation if it changes or reads one of the words. `before`: the thread's previous read of memory other than its
// stack.
void add_operation(std::map<std::string, Words>& layouts, const trace::Operation& it, const trace::Operation& before,
                   const trace::Symbols& symbols) {
  if (it.kind > Kind::compare_exchange || it.id >= symbols.objects.size()) return;
  const auto layout = layouts.find(layout_of(symbols.objects[it.id], symbols));
  if (layout == layouts.end()) return;
  const auto word = layout->second.find(it.argument);
  if (word == layout->second.end()) return;
  switch (it.kind) {
    case Kind::load: ++word->second.loads; break;
    case Kind::compare_exchange:
      if ((it.flags & trace::kFailed) != 0) break;
      [[fallthrough]];
    case Kind::fetch_add: add_change(word->second, it, before); break;
    default: ++word->second.other_writes;
  }
}

// A compare-and-exchange loop keeps the expected value there.
bool is_on_stack(const trace::Operation& it, const trace::Symbols& symbols) {
  return it.id < symbols.objects.size() && symbols.objects[it.id].is_stack();
}

// Collects all operations on these words.
void find_uses(std::map<std::string, Words>& layouts, const trace::Reader& reader) {
  const trace::Symbols& symbols = reader.symbols();
  for (std::uint32_t stream = 0; stream < symbols.streams.size(); ++stream) {
    trace::Reader::Cursor cursor = reader.open(stream);
    trace::Operation before;
    for (auto frame = cursor.frame(); !frame.empty(); frame = cursor.frame()) {
      for (const trace::Operation& operation : frame) {
        if (!operation.is_memory()) continue;
        add_operation(layouts, operation, before, symbols);
        if (operation.kind != Kind::store && !is_on_stack(operation, symbols)) before = operation;
      }
    }
  }
}

bool may_be_count(const TimeAccount& account, const TimeShare& share) {
  return share.what == TimeClass::true_sharing && account.pct(share.ticks) >= kCostlyPct;
}

CountShare count_share(const TimeShare& share, const std::map<std::string, Words>& layouts, const trace::Symbols& symbols) {
  CountShare found{.share = &share, .counts = {}, .kind = CountKind::none};
  for (const CountWord& word : share.words) {
    const CountUse& use = layouts.at(word.layout).at(word.offset);
    if (!word.layout.empty() && use.kind() != CountKind::none && !is_awaited(word, symbols))
      found.counts.push_back({word, use});
  }
  if (found.counts.empty()) return found;
  std::ranges::stable_sort(found.counts, std::ranges::greater{}, [](const SharedCount& it) { return it.use.adds(); });
  found.kind = found.counts.front().use.kind();
  std::erase_if(found.counts, [&found](const SharedCount& it) { return it.use.kind() != found.kind; });
  const std::string& layout = found.counts.front().word.layout;
  const auto structure = std::ranges::find(symbols.structures, layout, &trace::Structure::name);
  found.is_field = structure != symbols.structures.end() && structure->fields.size() > 1;
  return found;
}

}  // namespace

CountUse& CountUse::operator+=(const CountUse& other) {
  ups += other.ups;
  downs += other.downs;
  other_adds += other.other_adds;
  other_writes += other.other_writes;
  used_ups += other.used_ups;
  used_downs += other.used_downs;
  used_others += other.used_others;
  unseen += other.unseen;
  loads += other.loads;
  return *this;
}

CountKind CountUse::kind() const {
  const auto all = static_cast<double>(adds());
  if (all == 0 || all < kMostlyAdds * (all + static_cast<double>(other_writes))) return CountKind::none;
  // Some additions have an unknown sign, because only the instruction was recorded. If no subtraction was seen, they count as
  // subtractions.
  const std::int64_t down = downs + (downs == 0 ? other_adds : 0);
  const std::int64_t used_down = used_downs + (downs == 0 ? used_others : 0);
  if (ups == 0 && downs == 0) return CountKind::unknown;
  if (down == 0) {
    if (unseen == adds()) return CountKind::events;  // a loop of compare-and-exchange
    return 2 * used_ups >= ups ? CountKind::numbers : CountKind::events;
  }
  const bool balanced = static_cast<double>(std::min(ups, down)) >= kBalanced * static_cast<double>(std::max(ups, down));
  return balanced && 2 * used_down >= down ? CountKind::references : CountKind::level;
}

CountUse CountShare::use() const {
  CountUse all;
  for (const SharedCount& count : counts) all += count.use;
  return all;
}

CountShares count_shares(const TimeAccount& account, const trace::Reader& reader) {
  std::vector<const TimeShare*> costly, beside;
  for (const TimeShare& share : account.shares) {
    if (may_be_count(account, share)) costly.push_back(&share);
  }
  for (const TimeShare& share : account.beside) beside.push_back(&share);
  std::map<std::string, Words> layouts;
  for (const auto& shares : {costly, beside}) {
    for (const TimeShare* share : shares) {
      for (const CountWord& word : share->words) layouts[word.layout][word.offset];
    }
  }
  if (layouts.empty()) return {};
  find_uses(layouts, reader);
  CountShares found;
  for (const TimeShare* share : costly) {
    CountShare count = count_share(*share, layouts, reader.symbols());
    if (count.kind != CountKind::none) found.costly.push_back(std::move(count));
  }
  for (const TimeShare* share : beside) {
    CountShare count = count_share(*share, layouts, reader.symbols());
    if (std::ranges::find(found.costly, count.kind, &CountShare::kind) != found.costly.end())
      found.beside.push_back(std::move(count));
  }
  return found;
}

const char* name_of(CountKind kind) {
  switch (kind) {
    case CountKind::none: return "no count";
    case CountKind::unknown: return "a count";
    case CountKind::events: return "an event counter";
    case CountKind::numbers: return "a counter that hands out numbers";
    case CountKind::references: return "a reference count";
    case CountKind::level: return "a count of what is in use";
  }
  return "";
}

bool is_shared_ptr(const TimeShare& share) {
  return share.name.ends_with("._M_use_count");
}

std::string sentence(const CountShare& count) {
  const CountUse use = count.use();
  const std::string what = is_shared_ptr(*count.share) ? "a shared_ptr's reference count" : name_of(count.kind);
  const std::string result = use.unseen == use.adds() ? "whether the program looks at what they return was not seen"
                             : use.used_ups + use.used_downs + use.used_others == 0 ? "the program looks at no result"
                                                                                    : "";
  const auto changes = fmt::format("{} additions and {} subtractions", use.ups, use.downs + use.other_adds);
  switch (count.kind) {
    case CountKind::events: return fmt::format("{}: {} additions, {}", what, use.adds(), result);
    case CountKind::numbers: return fmt::format("{}: {} additions, whose results the program uses", what, use.ups);
    case CountKind::references:
      return fmt::format("{}: {}, after which the program looks whether it was the last", what, changes);
    case CountKind::level: return fmt::format("{}: {}{}{}", what, changes, result.empty() ? "" : ", ", result);
    default: return fmt::format("{}: {} additions", what, use.adds());
  }
}

void name_roles(TimeAccount& account, const trace::Reader& reader) {
  std::vector<std::pair<std::ptrdiff_t, std::string>> roles;
  for (const CountShare& count : count_shares(account, reader).costly) {
    const std::string role = is_shared_ptr(*count.share) ? "a shared_ptr's reference count" : name_of(count.kind);
    if (count.kind != CountKind::unknown) roles.emplace_back(count.share - account.shares.data(), role);
  }
  for (auto& [number, role] : roles) account.shares[static_cast<std::size_t>(number)].role = std::move(role);
}

}  // namespace linebounce::sim
