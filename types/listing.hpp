// The structures in a file that another tool wrote: BTF, or a listing such as pahole's. listings.cpp has a table of the forms.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "types/type.hpp"

namespace linebounce::types {

// The largest offset, size or number of bits that a listing may state. Tools print larger ones for types that they do not know.
inline constexpr std::int64_t kLargestFigure = std::int64_t{1} << 32;

// A file that can't be read at all. what() begins with the file, and with the line if the file is text.
class ReadError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A structure that can't be read; the others of its file can.
struct Unread {
  std::string name, why;  // `why`: a clause, such as "has no bytes"
};

struct Listing {
  std::string origin{};               // completes "from ...": "pahole's output"
  std::vector<TypePtr> structures{};  // those with a name, in the file's order; each name once
  std::vector<Unread> unread{};       // in the file's order
  std::vector<TypePtr> of_base{};     // those of a module's kernel, for names that the module lacks
  std::optional<int> line_bytes{};    // the cache line that the tool assumed
};

struct ListingInput {
  std::string_view bytes;  // the file's content; of an ELF file, its section .BTF
  std::string file;        // its name, for messages
  // For BTF of a kernel module: the BTF of its kernel, in any form of it; empty: none was named.
  std::string_view base = {};
  std::string base_file = {};
  std::string_view distilled_base = {};  // the section .BTF.base; empty: there is none
};

// A form of such files.
struct ListingForm {
  std::string_view name;     // for --as: "pahole"
  std::string_view what;     // a noun phrase: "pahole's listing of structures"
  std::string_view marks;    // what identifies it, as a noun phrase
  std::string_view because;  // why an excerpt is of this form, as a clause: "members have their offset and size behind them"
  bool (*is_like)(std::string_view excerpt);
  Listing (*read)(const ListingInput& input);
};

// In the order in which they are tried.
const std::vector<ListingForm>& listing_forms();
// nullptr if the excerpt has none of the forms.
const ListingForm* listing_form_of(std::string_view excerpt);

// A text as it was before a mail quoted it or a source took it into a comment: without the `>`, `//` or ` * ` in front of its
// lines.
std::string unquoted(std::string_view text);

// Reads the file. Structures that have the same name but differ are called NAME#1, NAME#2, and so on. Errors: ReadError if it
// has no structure, or is cut off.
Listing read_listing(const ListingForm& form, const ListingInput& input);

}  // namespace linebounce::types
