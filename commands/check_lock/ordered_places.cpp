#include "commands/check_lock/ordered_places.hpp"

#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "sim/interleavings/lock_cases.hpp"
#include "workloads/lua/lua_file.hpp"
#include "workloads/native/native_lock.hpp"

namespace linebounce::sim {
namespace {

using workloads::SourceFile;

constexpr std::uint64_t kStatesForPlaces = 20'000;  // of each case in which places are looked for

// ---- Lua: the functions of `cpu` that order memory, found by name in the text ----

struct LuaOrder {
  std::string_view call;
  std::vector<std::string> names, texts;  // what replaces the call
  bool is_for_c11 = false;
};

const std::vector<LuaOrder>& lua_orders() {
  static const std::vector<LuaOrder> kOrders = {
      {"cpu:store_release(", {"store_release", "store"}, {"cpu:store_release(", "cpu:store("}},
      {"cpu:store_fence()", {"store_fence", "none"}, {"cpu:store_fence()", ""}},
      {"cpu:load_fence()", {"load_fence", "none"}, {"cpu:load_fence()", ""}, true},
      {"cpu:load_acquire(", {"load_acquire", "load"}, {"cpu:load_acquire(", "cpu:load("}, true},
      {"cpu:spin_until_acquire(", {"spin_until_acquire", "spin_until"}, {"cpu:spin_until_acquire(", "cpu:spin_until("}, true},
      {"cpu:fence()", {"fence", "store_fence", "none"}, {"cpu:fence()", "cpu:store_fence()", ""}}};
  return kOrders;
}

// The lock's operations that run in the smallest cases (LockEntry::operations).
std::set<int> operations_that_run(const workloads::LockEntry& entry) {
  std::set<int> ran;
  for (LockCase one : lock_cases(entry, {.models = {workloads::MemoryModel::sc}, .cpus = 2, .acquisitions = 1})) {
    one.ran = &ran;
    search(one, {.states = kStatesForPlaces});
  }
  return ran;
}

class OrderedLuaLock final : public OrderedLock {
 public:
  explicit OrderedLuaLock(SourceFile source) : source_(std::move(source)) {
    file_ = source_.name();
    const std::set<int> ran = operations_that_run(workloads::lock_entry_of(source_));
    int line = 1;
    bool in_comment = false;
    for (std::size_t at = 0; at < source_.text.size(); ++at) {
      const std::string_view rest = std::string_view(source_.text).substr(at);
      if (rest.front() == '\n') ++line, in_comment = false;
      if (rest.starts_with("--")) in_comment = true;
      if (in_comment) continue;
      for (const LuaOrder& order : lua_orders()) {
        if (!rest.starts_with(order.call)) continue;
        if (!ran.contains(line)) {
          unreached_.push_back(fmt::format("{}:{}", file_, line));
          continue;
        }
        places_.push_back({line, {fmt::format("{}:{}", file_, line)}, order.is_for_c11, order.names});
        found_.push_back({at, &order});
      }
    }
  }

  [[nodiscard]] SourceFile with(const std::vector<int>& chosen) const override {
    SourceFile changed = source_;
    // With weaker orders the lock's loops may never end, so it runs under the limits for a user's lock.
    changed.is_ours = false;
    for (std::size_t i = found_.size(); i-- > 0;) {
      const auto& [at, order] = found_[i];
      changed.text.replace(at, order->call.size(), order->texts[static_cast<std::size_t>(chosen[i])]);
    }
    return changed;
  }

 private:
  struct Found {
    std::size_t at;
    const LuaOrder* order;
  };
  SourceFile source_;
  std::vector<Found> found_;
};

// ---- C: the memory orders that the code passes to atomic operations ----

using workloads::NativeOrder;

// The orders that could stand there, from the code's own to the weakest.
std::vector<int> orders_down_from(const NativeOrder& order) {
  constexpr int kConsume = NativeOrder::kConsume;
  const int own = order.order == kConsume ? NativeOrder::kAcquire : order.order;
  std::vector<int> found = {own};
  const bool loads = order.kind != NativeOrder::Kind::store, stores = order.kind != NativeOrder::Kind::load;
  const auto add = [&](int weaker, bool is_possible) {
    if (weaker < own && is_possible) found.push_back(weaker);
  };
  add(NativeOrder::kBoth, loads && stores);
  add(NativeOrder::kRelease, stores && own != NativeOrder::kAcquire);
  add(NativeOrder::kAcquire, loads && own != NativeOrder::kRelease);
  add(NativeOrder::kRelaxed, true);
  return found;
}

std::string name_of_order(NativeOrder::Kind kind, int order) {
  static const std::map<int, std::string> kNames = {{NativeOrder::kRelaxed, "relaxed"},
                                                    {NativeOrder::kAcquire, "acquire"},
                                                    {NativeOrder::kRelease, "release"},
                                                    {NativeOrder::kBoth, "acq_rel"},
                                                    {NativeOrder::kSequential, "seq_cst"}};
  const std::string& name = kNames.at(order);
  switch (kind) {
    case NativeOrder::Kind::fence: return order == NativeOrder::kRelaxed ? "none" : "fence " + name;
    case NativeOrder::Kind::load: return "load " + name;
    case NativeOrder::Kind::update: return "update " + name;
    case NativeOrder::Kind::store: return "store " + name;
  }
  return name;
}

class OrderedNativeLock final : public OrderedLock {
 public:
  explicit OrderedNativeLock(SourceFile source) : source_(std::move(source)) {
    file_ = source_.name();
    std::map<std::pair<int, int>, workloads::NativeOrder> used;
    for (const workloads::NativeOrder& order : orders_used()) used.emplace(std::pair(order.line, order.site), order);
    for (const auto& [key, order] : used) {
      std::vector<std::string> names;
      std::vector<int> orders;
      for (const int weaker : orders_down_from(order)) {
        names.push_back(name_of_order(order.kind, weaker));
        orders.push_back(weaker);
      }
      if (names.size() < 2) continue;
      const bool is_for_c11 = order.kind == NativeOrder::Kind::load || order.kind == NativeOrder::Kind::update;
      places_.push_back({order.line, order.chain, is_for_c11, std::move(names)});
      sites_.push_back({order.site, std::move(orders)});
    }
  }

  [[nodiscard]] SourceFile with(const std::vector<int>& chosen) const override {
    SourceFile changed = source_;
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      if (chosen[i] > 0) changed.orders[sites_[i].site] = sites_[i].orders[static_cast<std::size_t>(chosen[i])];
    }
    return changed;
  }

 private:
  // Finds the memory orders in use by searching the smallest cases.
  [[nodiscard]] std::vector<workloads::NativeOrder> orders_used() const {
    std::vector<workloads::NativeOrder> used;
    const workloads::LockEntry entry = workloads::native_lock_entry(source_, 0, &used);
    for (const LockCase& one : lock_cases(entry, {.models = {workloads::MemoryModel::sc}, .cpus = 2, .acquisitions = 1}))
      search(one, {.states = kStatesForPlaces});
    return used;
  }

  struct Site {
    int site;
    std::vector<int> orders;
  };
  SourceFile source_;
  std::vector<Site> sites_;
};

}  // namespace

std::unique_ptr<OrderedLock> ordered_lock(const SourceFile& source) {
  if (source.compiled.empty()) return std::make_unique<OrderedLuaLock>(source);
  return std::make_unique<OrderedNativeLock>(source);
}

}  // namespace linebounce::sim
