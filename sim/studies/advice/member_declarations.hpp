// The members of a structure as its source declares them, in an order that an edit may change.
#pragma once

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/studies/advice/source_text.hpp"

namespace linebounce::sim {

// what() has the place, and the reason why there is no edit.
class NoEdit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The lines of a structure's definition that have its braces.
struct StructureBody {
  int open_line = 0, close_line = 0;
  std::size_t close_column = 0;
};

// One declaration, such as "long hits, misses;"; a line may hold several.
struct MemberDeclaration {
  int line = 0;
  std::size_t begin = 0, end = 0;  // columns in the line, including the semicolon
  std::string type;
  std::vector<std::string> declarators = {};  // "hits", "*name", "table[8]"
  std::size_t moved = 0;                      // how many of the declarators have moved
};

// Whole lines that move together: a union, a nested structure, a pointer to a function, or all bit fields in a row.
struct MemberBlock {
  int first = 0, last = 0;
  bool has_bit_fields = false;
  std::set<std::string> words = {};  // of its code: names of members, types and others
  bool moved = false;
};

struct MemberDeclarations {
  std::vector<MemberDeclaration> plain;
  std::vector<MemberBlock> blocks;

  // The declaration, or the block, that declares the member; null if it is not there, or in several blocks.
  MemberDeclaration* plain_with(const std::string& member);
  MemberBlock* block_with(const std::string& member);
};

// The body that begins at this line, or at a later one if only its head is there. `source`: its place, for messages.
// Errors: NoEdit, as below.
StructureBody body_at(const SourceText& file, int line, const std::string& source);

// Errors: NoEdit if there is anything else, such as a function, an access specifier or a directive of the preprocessor.
MemberDeclarations member_declarations(const SourceText& file, const StructureBody& body, const std::string& source);

// "name" of "*name[8]".
std::string name_of_declarator(const std::string& declarator);

}  // namespace linebounce::sim
