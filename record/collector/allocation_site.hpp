// Describes where in the source a memory block was allocated, and for which types.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "record/collector/program_image.hpp"
#include "record/collector/types.hpp"

namespace linebounce::record {

struct AllocationSite {
  std::string name;                // "hash_create:42"; "getline" for a library's
  std::string source;              // "/src/hash.c:42"; empty: unknown
  std::vector<const Type*> types;  // types named in the source there; one may be the elements' type
  bool more_behind = false;        // true if more bytes follow: "sizeof(struct message) + length"
  bool is_new_array = false;       // true for "new Shard[64]"
};

class AllocationSites {
 public:
  AllocationSites(ProgramImage& image, Types& types) : image_(&image), types_(&types) {}

  // `frames`: return addresses, innermost first.
  const AllocationSite& at(std::span<const std::uint64_t> frames);

 private:
  AllocationSite find(std::span<const std::uint64_t> frames);
  std::string function_of(std::span<const std::uint64_t> frames) const;
  void read_type(const SourcePlace& place, AllocationSite& site);
  std::vector<const Type*> types_in_text(const std::string& text, const SourcePlace& place);
  const Type* type_of_expression(const std::string& variable, const std::vector<std::string>& steps, const SourcePlace& place);
  const std::vector<std::string>& lines_of(const std::string& file);
  std::string text_at(const SourcePlace& place);
  // Returns the statements in a class's body that allocate. Needed because gcc attributes default member initialisers to the
  // line of their class or constructor. Empty if the place is in no constructor, or its class is in another file.
  std::string initialisers_at(const SourcePlace& place);
  // Index of the line at which the constructor's class begins; the number of lines if it is not found.
  std::size_t class_at(const SourcePlace& place);

  ProgramImage* image_;
  Types* types_;
  std::map<std::vector<std::uint64_t>, AllocationSite> sites_;
  std::map<std::string, std::vector<std::string>> files_;
};

// "__gnu_cxx::new_allocator<app::Node>::allocate" -> "Node"; empty if the function is not an allocator of the C++ library.
std::string type_of_cpp_allocator(const std::string& function);

}  // namespace linebounce::record
