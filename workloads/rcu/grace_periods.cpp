#include "workloads/rcu/grace_periods.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace linebounce::workloads {
namespace {

constexpr Value kNoGracePeriod = 0;

// Words of a node: the numbers of the latest grace period that began, of the latest that ended, and of the latest that a CPU
// below has requested; the mask of members that are still awaited, and the mask of all members. Only in the root: not 0 while a
// grace period is in progress, or is being started or ended.
constexpr Address kStarted = 8, kCompleted = 16, kWanted = 24, kMask = 32, kAll = 40, kBusy = 48;

const Layout& node_layout() {
  static const Layout kLayout{.name = "rcu_node",
                              .size = 56,
                              .fields = {{"lock", 0},
                                         {"gpnum", kStarted},
                                         {"completed", kCompleted},
                                         {"gp_wanted", kWanted},
                                         {"qsmask", kMask},
                                         {"qsmaskinit", kAll},
                                         {"gp_busy", kBusy}}};
  return kLayout;
}

std::size_t groups(std::size_t members, std::size_t of) {
  return (members + of - 1) / of;
}

}  // namespace

ControlBlock::ControlBlock(const WorkloadSetup& setting, const RcuOptions& options)
    : cpus_(setting.machine.cpus),
      awaited_(cpus_ - (options.mistake == RcuMistake::skips_a_cpu ? 1 : 0)),
      start_batch_(setting.memory.function("rcu_start_batch", Mode::kernel)),
      check_quiescent_state_(setting.memory.function("rcu_check_quiescent_state", Mode::kernel)) {
  const int words = (cpus_ + 63) / 64;
  const Layout layout{.name = "rcu_ctrlblk",
                      .size = 24 + 8 * words,
                      .fields = {{"lock", 0}, {"current_batch", 8}, {"max_batch", 16}, {"cpu_mask", 24, 8 * words}}};
  const Address block = setting.memory.place(layout, "rcu_ctrlblk", setting.memory.line_bytes());
  lock_ = &setting.locks.create(options.lock, "rcu_ctrlblk.lock", {.word = block});
  current_ = block + 8;
  last_wanted_ = block + 16;
  mask_ = block + 24;
  setting.memory.preset(current_, 1);
}

bool ControlBlock::waits_for(Cpu& cpu) const {
  const int me = cpu.id().value;
  return (cpu.load(mask_word(me)) & bit(me)) != 0;
}

bool ControlBlock::nobody_awaited(Cpu& cpu) const {
  for (int first = 0; first < cpus_; first += 64) {
    if (cpu.load(mask_word(first)) != 0) return false;
  }
  return true;
}

// A grace period in progress may have begun before the caller's removal, so the caller must wait for the one after it.
Value ControlBlock::request_next(Cpu& cpu) {
  const FunctionScope scope(cpu, start_batch_);
  lock_->acquire(cpu);
  const Value wanted = cpu.load(current_) + 1;
  begin_if_wanted(cpu, wanted);
  lock_->release(cpu);
  return wanted;
}

void ControlBlock::begin_if_wanted(Cpu& cpu, Value wanted) {
  Value last_wanted = cpu.load(last_wanted_);
  if (last_wanted < wanted) {
    cpu.store(last_wanted_, wanted);
    last_wanted = wanted;
  }
  const Value current = cpu.load(current_);
  if (last_wanted < current || !nobody_awaited(cpu)) return;
  for (int first = 0; first < awaited_; first += 64) {
    const int here = std::min(64, awaited_ - first);
    cpu.store(mask_word(first), here == 64 ? ~Value{0} : bit(here) - 1);
  }
  times_.begin(cpu);
}

void ControlBlock::passed(Cpu& cpu) {
  const FunctionScope scope(cpu, check_quiescent_state_);
  const int me = cpu.id().value;
  lock_->acquire(cpu);
  const Value awaited = cpu.load(mask_word(me));
  if ((awaited & bit(me)) != 0) {
    cpu.store(mask_word(me), awaited & ~bit(me));
    if (nobody_awaited(cpu)) {
      times_.end(cpu);
      const Value current = cpu.load(current_);
      cpu.store(current_, current + 1);
      begin_if_wanted(cpu, 0);
    }
  }
  lock_->release(cpu);
}

NodeTree::NodeTree(const WorkloadSetup& setting, const RcuOptions& options, const TreeRcuOptions& tree)
    : leaf_fanout_(tree.leaf_fanout),
      report_(setting.memory.function("rcu_report_qs_rnp", Mode::kernel)),
      request_(setting.memory.function("rcu_start_this_gp", Mode::kernel)),
      start_(setting.memory.function("rcu_gp_init", Mode::kernel)),
      cleanup_(setting.memory.function("rcu_gp_cleanup", Mode::kernel)) {
  lay_out(setting, options, tree);
}

void NodeTree::lay_out(const WorkloadSetup& setting, const RcuOptions& options, const TreeRcuOptions& tree) {
  const std::size_t cpus = setting.machine.cpus;
  std::vector<std::size_t> levels = {groups(cpus, leaf_fanout_)};  // the number of nodes on each level, the root's first
  while (levels.front() > 1) levels.insert(levels.begin(), groups(levels.front(), tree.fanout));
  std::size_t level_begin = 0;
  for (std::size_t level = 0; level < levels.size(); ++level) {
    const bool leaves = level + 1 == levels.size();
    const std::size_t below = leaves ? cpus : levels[level + 1];
    const std::size_t fanout = leaves ? leaf_fanout_ : tree.fanout;
    for (std::size_t i = 0; i < levels[level]; ++i) {
      Node node;
      if (level > 0) {
        node.parent = level_begin - levels[level - 1] + i / tree.fanout;
        node.place = static_cast<int>(i % tree.fanout);
      }
      const std::string name = fmt::format("rcu_node[{}]", nodes_.size());
      node.data = setting.memory.place(node_layout(), name, setting.memory.line_bytes());
      // Locks of one level share a row of the figures.
      node.lock = &setting.locks.create(options.lock, fmt::format("rcu_node_{}_lock", nodes_.size()),
                                        {.word = node.data, .figures = level == 0 ? "rcu_root_lock" : "rcu_node_lock"});
      const std::size_t members = std::min(fanout, below - i * fanout);
      Value all = members == 64 ? ~Value{0} : bit_at(static_cast<int>(members)) - 1;
      const bool skips = options.mistake == RcuMistake::skips_a_cpu && leaves && i + 1 == levels[level] && members > 1;
      if (skips) all &= ~bit_at(static_cast<int>(members) - 1);
      setting.memory.preset(node.data + kAll, all);
      nodes_.push_back(node);
    }
    first_leaf_ = level_begin;
    level_begin += levels[level];
  }
}

Value NodeTree::current(Cpu& cpu) const {
  return cpu.load(nodes_[leaf_of(cpu)].data + kCompleted) + 1;
}

bool NodeTree::waits_for(Cpu& cpu) const {
  const Value bit = bit_of(cpu);
  return (cpu.load(nodes_[leaf_of(cpu)].data + kMask) & bit) != 0;
}

// The grace period after `completed` may have begun at the root before this leaf knows of it. The one after that can't have
// begun, because every leaf must know that the previous one has ended. The request goes up the tree until a node already has
// it.
Value NodeTree::request_next(Cpu& cpu) {
  const FunctionScope scope(cpu, request_);
  std::size_t at = leaf_of(cpu);
  nodes_[at].lock->acquire(cpu);
  const Value wanted = cpu.load(nodes_[at].data + kCompleted) + 2;
  while (record_wish(cpu, nodes_[at], wanted) && at != 0) {
    nodes_[at].lock->release(cpu);
    at = nodes_[at].parent;
    nodes_[at].lock->acquire(cpu);
  }
  const Value number = at == 0 ? take_charge(cpu) : kNoGracePeriod;
  nodes_[at].lock->release(cpu);
  if (number != kNoGracePeriod) begin(cpu, number);
  return wanted;
}

// Returns true if no CPU below the node has requested it before. REQUIRES: the node's lock is held.
bool NodeTree::record_wish(Cpu& cpu, const Node& node, Value wanted) {
  const Value before = cpu.load(node.data + kWanted);
  if (before >= wanted) return false;
  cpu.store(node.data + kWanted, wanted);
  return true;
}

// Returns the number of the grace period that this CPU must begin; kNoGracePeriod if one is in progress, or none is wanted.
// REQUIRES: the root's lock is held.
Value NodeTree::take_charge(Cpu& cpu) {
  const Address root = nodes_.front().data;
  if (cpu.load(root + kBusy) != 0) return kNoGracePeriod;
  const Value completed = cpu.load(root + kCompleted);
  const Value wanted = cpu.load(root + kWanted);
  if (wanted <= completed) return kNoGracePeriod;
  cpu.store(root + kBusy, 1);
  return completed + 1;
}

// Goes from the root down. When a leaf's bits are set, those above it are set already, and a report finds them.
void NodeTree::begin(Cpu& cpu, Value number) {
  const FunctionScope scope(cpu, start_);
  times_.begin(cpu);
  for (const Node& node : nodes_) {
    node.lock->acquire(cpu);
    cpu.store(node.data + kStarted, number);
    const Value all = cpu.load(node.data + kAll);
    cpu.store(node.data + kMask, all);
    node.lock->release(cpu);
  }
}

void NodeTree::passed(Cpu& cpu) {
  const FunctionScope scope(cpu, report_);
  std::size_t at = leaf_of(cpu);
  Value bit = bit_of(cpu);
  for (;;) {
    const Node& node = nodes_[at];
    node.lock->acquire(cpu);
    const Value before = cpu.load(node.data + kMask);
    cpu.store(node.data + kMask, before & ~bit);
    const bool last = before == bit;
    node.lock->release(cpu);
    if (!last) return;
    if (at == 0) break;
    bit = bit_at(node.place);
    at = node.parent;
  }
  end(cpu);
}

// REQUIRES: this CPU has cleared the root's last bit. While the root is busy, no other CPU changes the tree's numbers.
void NodeTree::end(Cpu& cpu) {
  const FunctionScope scope(cpu, cleanup_);
  times_.end(cpu);
  const Node& root = nodes_.front();
  const Value number = cpu.load(root.data + kStarted);
  for (const Node& node : nodes_) {
    node.lock->acquire(cpu);
    cpu.store(node.data + kCompleted, number);
    node.lock->release(cpu);
  }
  root.lock->acquire(cpu);
  cpu.store(root.data + kBusy, 0);
  const Value next = take_charge(cpu);
  root.lock->release(cpu);
  if (next != kNoGracePeriod) begin(cpu, next);
}

}  // namespace linebounce::workloads
