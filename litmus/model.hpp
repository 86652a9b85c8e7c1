// A memory model as a text (models/README.md): definitions of sets and relations, and the rules that an execution must keep.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace linebounce::sim::litmus {

// A node of a model's expressions. Equal expressions share one node.
struct ModelNode {
  enum class Op : std::uint8_t {
    base_set,
    base_relation,
    set_union,
    set_intersection,
    set_difference,
    domain,
    range,
    identity_of,  // [S]
    product,      // S -> T
    relation_union,
    relation_intersection,
    relation_difference,
    sequence,
    closure,            // r+
    reflexive_closure,  // r*
    optional,           // r?
    inverse,            // r^-1
    least               // the least relation that a recursive definition allows
  };
  Op op = Op::base_set;
  std::string name = {};      // of base_set, base_relation and least
  int left = -1, right = -1;  // operands; right of `least`: its definition, which mentions it
  bool is_set = false;
  bool is_dynamic = false;  // depends on which store each load reads, or on the order of stores
  bool is_monotone = true;  // grows when rf and co grow; so a rule that a part of an execution breaks, the whole breaks, too
  int recursion = -1;       // the `least` whose value this depends on, while that is being computed; -1: none
  auto operator<=>(const ModelNode&) const = default;
};

struct ModelRule {
  enum class Kind : std::uint8_t { acyclic, irreflexive, empty } kind = Kind::acyclic;
  std::string name;
  std::string why = {};  // a sentence
  int node = 0;
  bool is_race = false;  // an execution that breaks it is no execution to rely on, but not forbidden: a data race
};

struct Model {
  std::string name;                 // of its file: "x86-tso"
  std::string title;                // as a subject: "x86-TSO", "the Linux kernel's model"
  std::vector<std::string> judges;  // architectures of litmus tests
  std::vector<ModelNode> nodes;
  std::vector<ModelRule> rules;
  bool has_sights = false;  // uses `seen` or `at`: stores have an event for each CPU that comes to see them
  // The definitions' names by node, for messages.
  std::map<int, std::string> names;
};

// `name`: for messages. Errors: std::invalid_argument with the line.
Model parse_model(std::string_view text, std::string_view name);

}  // namespace linebounce::sim::litmus
