// Parses the declarations of a structure's members, so that an edit can reorder them.
#pragma once

#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "commands/advise/source_text.hpp"

namespace linebounce::sim {

// Thrown if the source can't be edited. what(): the place and the reason.
class NoEdit : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The lines of a structure's opening and closing braces, from 1.
struct StructureBody {
  int open_line = 0, close_line = 0;
  std::size_t close_column = 0;
};

// A declaration on one line, such as "long hits, misses;". A line may have several.
struct MemberDeclaration {
  int line = 0;
  std::size_t begin = 0, end = 0;  // columns in the line, from 0; `end` follows the semicolon
  std::string type;
  std::vector<std::string> declarators = {};  // "hits", "*name", "table[8]"
  std::size_t moved = 0;                      // the number of its declarators that an edit has moved away
};

// Whole lines that move together: a union, a nested structure, a pointer to a function, or consecutive bit fields.
struct MemberBlock {
  int first = 0, last = 0;
  bool has_bit_fields = false;
  std::set<std::string> words = {};  // all words in its code: members, types and others
  bool moved = false;
};

struct MemberDeclarations {
  std::vector<MemberDeclaration> plain;
  std::vector<MemberBlock> blocks;

  // Each finds what declares the member. Null if nothing does, or, for block_with(), if several blocks contain the word.
  MemberDeclaration* plain_with(const std::string& member);
  MemberBlock* block_with(const std::string& member);
};

// Finds the body of the structure whose definition begins at this line. `source`: the place, for messages. Errors: NoEdit.
StructureBody body_at(const SourceText& file, int line, const std::string& source);

// Parses all members of a body. Errors: NoEdit if it contains anything else, such as a function, an access specifier or a
// preprocessor directive.
MemberDeclarations member_declarations(const SourceText& file, const StructureBody& body, const std::string& source);

// "name" of "*name[8]".
std::string name_of_declarator(const std::string& declarator);

}  // namespace linebounce::sim
