#include "litmus/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <stdexcept>

#include "litmus/program.hpp"
#include "litmus/scanner.hpp"

namespace linebounce::sim::litmus {
namespace {

using NodeOp = ModelNode::Op;

constexpr std::array<std::string_view, 8> kBaseSets = {"Event", "R", "W", "F", "M", "Init", "Rmw", "Sight"};
constexpr std::array<std::string_view, 3> kDynamic = {"rf", "co", "fr"};
constexpr std::array<std::string_view, 19> kBaseRelations = {
    "rf",  "co",  "fr",        "po",  "addr", "data", "ctrl", "pick-addr",   "pick-data",   "pick-ctrl",
    "rmw", "amo", "exclusive", "loc", "int",  "ext",  "id",   "rcu-section", "srcu-section"};
constexpr std::array<std::string_view, 2> kSights = {"seen", "at"};

template <class Names>
bool contains(const Names& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

class ModelParser {
 public:
  ModelParser(std::string_view text, std::string_view name) : rest_(text) { model_.name = name; }

  Model parse() {
    while (!at_end()) statement();
    if (model_.title.empty()) refuse("the model has no title");
    if (model_.rules.empty()) refuse("the model has no rule");
    return std::move(model_);
  }

 private:
  // ---- Words ----

  [[noreturn]] void refuse(const std::string& text) const {
    throw std::invalid_argument(fmt::format("{}: line {}: {}", model_.name, line_, text));
  }

  void skip() {
    while (!rest_.empty()) {
      if (rest_.front() == '#') {
        rest_.remove_prefix(std::min(rest_.find('\n'), rest_.size()));
      } else if (rest_.front() == '\n' || rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r') {
        if (rest_.front() == '\n') ++line_;
        rest_.remove_prefix(1);
      } else {
        return;
      }
    }
  }

  bool at_end() {
    skip();
    return rest_.empty();
  }

  bool taken(std::string_view symbol) {
    skip();
    if (!rest_.starts_with(symbol)) return false;
    rest_.remove_prefix(symbol.size());
    return true;
  }

  void expect(std::string_view symbol) {
    if (!taken(symbol))
      refuse(fmt::format("expected \"{}\" before \"{}\"", symbol, rest_.substr(0, rest_.find('\n')).substr(0, 30)));
  }

  // Letters, digits and inner hyphens.
  std::string_view peek_name() {
    skip();
    if (rest_.empty() || !is_name_start(rest_.front())) return {};
    std::size_t end = 1;
    while (end < rest_.size()) {
      const bool is_hyphen = rest_[end] == '-' && end + 1 < rest_.size() && is_name_part(rest_[end + 1]);
      if (!is_name_part(rest_[end]) && !is_hyphen) break;
      ++end;
    }
    return rest_.substr(0, end);
  }

  std::string_view name() {
    const std::string_view found = peek_name();
    if (found.empty()) refuse(fmt::format("expected a name before \"{}\"", rest_.substr(0, rest_.find('\n')).substr(0, 30)));
    rest_.remove_prefix(found.size());
    return found;
  }

  // "Text in quotes", which may go on in the next line.
  std::string quoted() {
    expect("\"");
    const std::size_t end = rest_.find('"');
    if (end == rest_.npos) refuse("the text's closing quote is missing");
    std::string text;
    for (const char c : rest_.substr(0, end)) {
      const bool is_blank = c == '\n' || c == ' ';
      if (c == '\n') ++line_;
      if (!is_blank) text += c;
      if (is_blank && !text.empty() && text.back() != ' ') text += ' ';
    }
    rest_.remove_prefix(end + 1);
    return text;
  }

  // ---- Statements ----

  void statement() {
    const std::string_view word = name();
    if (word == "title") {
      model_.title = quoted();
    } else if (word == "judges") {
      model_.judges.emplace_back(name());
      while (taken(",")) model_.judges.emplace_back(name());
    } else if (word == "let") {
      definition();
    } else if (word == "rule" || word == "race") {
      rule(word == "race");
    } else {
      refuse(fmt::format("expected title, judges, let, rule or race, not \"{}\"", word));
    }
  }

  void definition() {
    std::string word(name());
    const bool is_recursive = word == "rec";
    if (is_recursive) word = name();
    if (defined_.contains(word) || is_base(word)) refuse(fmt::format("{} is defined already", word));
    expect("=");
    int node = -1;
    if (is_recursive) {
      node = add({.op = NodeOp::least, .name = word, .is_dynamic = true});
      model_.nodes[node].recursion = node;
      defined_[word] = node;
      const int body = relation_of(expression());
      model_.nodes[node].right = body;
      model_.nodes[node].is_monotone = model_.nodes[body].is_monotone;
      model_.nodes[node].recursion = -1;
    } else {
      node = expression();
    }
    defined_[word] = node;
    model_.names.emplace(node, word);
  }

  void rule(bool is_race) {
    ModelRule rule{.name = std::string(name()), .is_race = is_race};
    expect(":");
    const std::string_view kind = name();
    if (kind == "acyclic") {
      rule.kind = ModelRule::Kind::acyclic;
    } else if (kind == "irreflexive") {
      rule.kind = ModelRule::Kind::irreflexive;
    } else if (kind == "empty") {
      rule.kind = ModelRule::Kind::empty;
    } else {
      refuse(fmt::format("expected acyclic, irreflexive or empty, not \"{}\"", kind));
    }
    rule.node = relation_of(expression());
    skip();
    if (!rest_.starts_with('"')) refuse("the rule needs its reason, a sentence in quotes");
    rule.why = quoted();
    model_.rules.push_back(rule);
  }

  static bool is_base(std::string_view word) {
    return contains(kBaseSets, word) || contains(kTagNames, word) || contains(kBaseRelations, word) || contains(kSights, word);
  }

  // ---- Expressions, from the loosest operator to the tightest:  |   ;   \   &   ->   then +  *  ?  ^-1 ----

  int expression() {
    int left = sequence();
    while (taken("|")) {
      const int right = sequence();
      left = same_kind(NodeOp::set_union, NodeOp::relation_union, left, right);
    }
    return left;
  }

  int sequence() {
    int left = difference();
    while (taken(";")) {
      const int right = difference();
      left = add({.op = NodeOp::sequence, .left = relation_of(left), .right = relation_of(right)});
    }
    return left;
  }

  int difference() {
    int left = intersection();
    while (taken("\\")) {
      const int right = intersection();
      left = same_kind(NodeOp::set_difference, NodeOp::relation_difference, left, right);
    }
    return left;
  }

  int intersection() {
    int left = product();
    while (taken("&")) {
      const int right = product();
      left = same_kind(NodeOp::set_intersection, NodeOp::relation_intersection, left, right);
    }
    return left;
  }

  int product() {
    const int left = postfix();
    if (!taken("->")) return left;
    const int right = postfix();
    return add({.op = NodeOp::product, .left = set_of(left), .right = set_of(right)});
  }

  int postfix() {
    int operand = primary();
    for (;;) {
      if (taken("^-1")) {
        operand = add({.op = NodeOp::inverse, .left = relation_of(operand)});
      } else if (taken("+")) {
        operand = add({.op = NodeOp::closure, .left = relation_of(operand)});
      } else if (taken("*")) {
        operand = add({.op = NodeOp::reflexive_closure, .left = relation_of(operand)});
      } else if (taken("?")) {
        operand = add({.op = NodeOp::optional, .left = relation_of(operand)});
      } else {
        return operand;
      }
    }
  }

  int primary() {
    if (taken("(")) return inner(")");
    if (taken("[")) return add({.op = NodeOp::identity_of, .left = set_of(inner("]"))});
    const std::string word(name());
    if ((word == "domain" || word == "range") && taken("(")) {
      const int of = relation_of(inner(")"));
      return add({.op = word == "domain" ? NodeOp::domain : NodeOp::range, .left = of, .is_set = true});
    }
    if (const auto found = defined_.find(word); found != defined_.end()) return found->second;
    if (contains(kBaseSets, word) || contains(kTagNames, word))
      return add({.op = NodeOp::base_set, .name = word, .is_set = true});
    if (!is_base(word)) refuse(fmt::format("{} is not defined", word));
    if (contains(kSights, word)) model_.has_sights = true;
    return add({.op = NodeOp::base_relation, .name = word, .is_dynamic = contains(kDynamic, word)});
  }

  int inner(std::string_view close) {
    constexpr int kDeepest = 100;
    if (++depth_ > kDeepest) refuse("nested too deeply");
    const int found = expression();
    --depth_;
    expect(close);
    return found;
  }

  int relation_of(int node) const {
    if (model_.nodes[node].is_set) refuse("a relation is needed here, not a set: [S] is the identity on a set S");
    return node;
  }
  int set_of(int node) const {
    if (!model_.nodes[node].is_set) refuse("a set is needed here, not a relation");
    return node;
  }

  int same_kind(NodeOp of_sets, NodeOp of_relations, int left, int right) {
    const bool is_set = model_.nodes[left].is_set;
    if (is_set != model_.nodes[right].is_set) refuse("one operand is a set, the other a relation");
    return add({.op = is_set ? of_sets : of_relations, .left = left, .right = right, .is_set = is_set});
  }

  // Adds the node unless an equal one is there, and finds out what it depends on.
  int add(ModelNode node) {
    const bool is_difference = node.op == NodeOp::set_difference || node.op == NodeOp::relation_difference;
    for (const int operand : {node.left, node.right}) {
      if (operand < 0) continue;
      const ModelNode& of = model_.nodes[operand];
      node.is_dynamic = node.is_dynamic || of.is_dynamic;
      node.is_monotone = node.is_monotone && of.is_monotone && !(is_difference && operand == node.right && of.is_dynamic);
      if (of.recursion >= 0) node.recursion = of.recursion;
      if (is_difference && operand == node.right && of.recursion >= 0)
        refuse("a recursive definition may not subtract what it defines");
    }
    const auto [place, is_new] = known_.try_emplace(node, static_cast<int>(model_.nodes.size()));
    if (is_new) model_.nodes.push_back(std::move(node));
    return place->second;
  }

  std::string_view rest_;
  int line_ = 1;
  int depth_ = 0;  // of brackets
  Model model_;
  std::map<std::string, int, std::less<>> defined_;
  std::map<ModelNode, int> known_;
};

}  // namespace

Model parse_model(std::string_view text, std::string_view name) {
  return ModelParser(text, name).parse();
}

}  // namespace linebounce::sim::litmus
