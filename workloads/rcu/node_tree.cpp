#include "workloads/rcu/node_tree.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace linebounce::workloads {

namespace {

constexpr Value kNoGracePeriod = 0;

// Of a node: the number of the latest grace period that began, that ended, that somebody below wants; who is awaited, and who
// is in the whole; of the root also whether a grace period is under way, or is being begun or ended.
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
  std::vector<std::size_t> levels = {groups(cpus, leaf_fanout_)};  // nodes of each, the root's first
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
      // Locks of a level are one row of the figures.
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

// The grace period after `completed` may have begun at the root without the leaf's knowledge; the one after that can't have: it
// begins only when every leaf knows of this one's end. The wish goes up until it meets its like.
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

// Whether nobody below the node has wished for it before. REQUIRES: the node's lock.
bool NodeTree::record_wish(Cpu& cpu, const Node& node, Value wanted) {
  const Value before = cpu.load(node.data + kWanted);
  if (before >= wanted) return false;
  cpu.store(node.data + kWanted, wanted);
  return true;
}

// The number of the grace period that this CPU is to begin. kNoGracePeriod: somebody else will, or nobody wants one. REQUIRES:
// the root's lock.
Value NodeTree::take_charge(Cpu& cpu) {
  const Address root = nodes_.front().data;
  if (cpu.load(root + kBusy) != 0) return kNoGracePeriod;
  const Value completed = cpu.load(root + kCompleted);
  const Value wanted = cpu.load(root + kWanted);
  if (wanted <= completed) return kNoGracePeriod;
  cpu.store(root + kBusy, 1);
  return completed + 1;
}

// From the root down: a leaf's report finds the bits above it set.
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

// REQUIRES: this CPU has cleared the root's last bit; nobody else touches the tree's numbers until it isn't busy.
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
