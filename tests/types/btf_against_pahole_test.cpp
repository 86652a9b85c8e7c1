// Compares every structure in BTF, member by member and bit by bit, with what pahole prints of it.
//
// By itself it takes a program that it compiles. For a kernel and its modules (their files, not compressed):
//   LINEBOUNCE_BTF=vmlinux LINEBOUNCE_BTF_MODULES=ext4.ko:xfs.ko build/dev/test_types --gtest_filter='*Pahole*'
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <sstream>

#include "models/text/text_lines.hpp"
#include "tests/types/listings.hpp"
#include "types/btf.hpp"
#include "types/elf_file.hpp"

namespace linebounce::types {
namespace {

namespace fs = std::filesystem;

// Members in pahole's order, "name@BIT+BITS", behind those of the structures without names that they have.
using FlatMembers = std::vector<std::string>;

struct Listed {
  std::string name;
  std::int64_t size = 0;  // 0: a union, of which pahole prints none, or an empty structure
  bool is_union = false;
  FlatMembers members;
};

std::string output_of(const std::string& command) {
  std::FILE* const pipe = ::popen((command + " 2>/dev/null").c_str(), "r");
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  ::pclose(pipe);
  return text;
}

bool runs(const std::string& command) {
  return std::system((command + " >/dev/null 2>&1").c_str()) == 0;  // NOLINT(cert-env33-c): a command of the test's own
}

// Reads pahole's text apart from the product's reader, so that a mistake is not in both.
std::vector<Listed> listed_by_pahole(const std::string& text) {
  static const std::regex kHead(R"(^(struct|union) (\S+) \{$)"), kSize(R"(/\* size: (\d+),)");
  static const std::regex kMember(R"(^(.*);\s+/\*\s+(\d+)(?::\s*(\d+))?\s+(\d+) \*/$)");
  static const std::regex kPointer(R"(\(\*+\s*(?:const )?(\w*)\))"), kWidth(R"(:(\d+)$)"), kName(R"((\w+)(?:\[\d*\])*$)");
  std::vector<Listed> out;
  std::vector<std::size_t> opened;  // how many members there were when a structure within began
  for (const std::string& line : text_lines(text)) {
    std::smatch match;
    if (std::regex_match(line, match, kHead)) {
      out.push_back({.name = match[2], .is_union = match[1] == "union"});
      opened.clear();
    } else if (!out.empty() && std::regex_search(line, match, kSize)) {
      out.back().size = std::stoll(match[1]);
    } else if (line.starts_with('\t') && line.ends_with('{')) {
      opened.push_back(out.back().members.size());
    } else if (std::regex_match(line, match, kMember)) {
      std::string declared = std::regex_replace(match[1].str(), std::regex(R"(\s*__attribute__\(\(\w+(\(\d+\))?\)\)\s*)"), " ");
      declared = declared.substr(0, declared.find_last_not_of(' ') + 1);
      const bool closes = declared.find('}') != std::string::npos;
      if (closes && declared.find("} *") != std::string::npos) out.back().members.resize(opened.back());
      if (closes) opened.pop_back();
      std::int64_t bit = std::stoll(match[2]) * 8, bits = std::stoll(match[4]) * 8;
      std::smatch part;
      if (std::regex_search(declared, part, kWidth)) {
        bits = std::stoll(part[1]);
        declared = part.prefix();
        bit += match[3].matched ? std::stoll(match[3]) : 0;
      }
      std::string name;
      if (std::regex_search(declared, part, kPointer)) {
        name = part[1];
      } else if (std::regex_search(declared, part, kName)) {
        name = part[1];
      }
      out.back().members.push_back(fmt::format("{}@{}+{}", name, bit, bits));
    } else if (line.starts_with('\t') && line.find('}') != std::string::npos && !opened.empty()) {
      opened.pop_back();  // enumerators
    }
  }
  return out;
}

void flatten(const Type& type, std::int64_t at, FlatMembers& out) {
  for (const Member& member : type.members) {
    const Type* inside = member.type.get();
    while (inside != nullptr && inside->kind == TypeKind::array) inside = inside->element.get();
    const std::int64_t begin = at + member.bit_offset.value_or(-1);
    if (inside != nullptr && inside->is_aggregate() && inside->name.empty()) flatten(*inside, begin, out);
    out.push_back(fmt::format("{}@{}+{}", member.name, begin, member.bits));
  }
}

struct Comparison {
  int listed = 0, empty = 0, equal = 0, unread = 0, unexplained = 0;
  std::vector<std::string> different;
};

// Of `listing`, BTF's structures; `from_pahole` may have more, those of the kernel.
Comparison compare(const Listing& listing, const std::vector<Listed>& from_pahole) {
  std::multimap<std::string, const Listed*> by_name;
  for (const Listed& one : from_pahole) by_name.emplace(one.name, &one);
  Comparison result;
  for (const TypePtr& type : listing.structures) {
    const auto [begin, end] = by_name.equal_range(type->name);
    if (begin == end) continue;  // known by its typedef, which pahole does not print
    FlatMembers members;
    flatten(*type, 0, members);
    ++result.listed;
    result.empty += type->size == 0 ? 1 : 0;
    result.unexplained += unexplained_bytes(*type).empty() ? 0 : 1;
    const bool is_union = type->kind == TypeKind::union_type;
    const bool is_there = std::any_of(begin, end, [&](const auto& named) {
      return named.second->members == members && (is_union || named.second->size == type->size);
    });
    if (is_there) {
      ++result.equal;
    } else {
      result.different.push_back(
          fmt::format("{}: {}; in pahole: {}", type->name, fmt::join(members, " "), fmt::join(begin->second->members, " ")));
    }
  }
  result.unread = static_cast<int>(listing.unread.size());
  return result;
}

std::string section_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return elf_section(in, ".BTF").value_or("");
}

Comparison compare_file(const fs::path& file, const fs::path& base = {}) {
  const auto kernel = base.empty() ? nullptr : read_btf(section_of(base), base, nullptr);
  const Listing listing = structures_of(*read_btf(section_of(file), file, kernel));
  std::string command = "pahole -F btf ";
  if (!base.empty()) {
    const fs::path raw = fs::temp_directory_path() / "linebounce_base.btf";
    std::ofstream(raw, std::ios::binary) << section_of(base);
    command += fmt::format("--btf_base '{}' ", raw.string());
  }
  const Comparison result = compare(listing, listed_by_pahole(output_of(command + "'" + file.string() + "'")));
  fmt::print(
      "{}: {} structures and unions, {} empty, {} as pahole has them, {} different, {} unread, {} with unexplained bytes\n",
      file.filename().string(), result.listed, result.empty, result.equal, result.different.size(), result.unread,
      result.unexplained);
  return result;
}

TEST(BtfAgainstPahole, ACompiledProgramIsTheSame) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("linebounce_btf_{}", ::getpid());
  fs::create_directories(folder);
  const fs::path source = folder / "a.c", object = folder / "a.o";
  std::ofstream(source) << R"(
struct none {};
struct flags { unsigned low : 3; unsigned : 5; unsigned mid : 20; long wide : 40; char tail; };
struct __attribute__((packed)) packed { char tag; int key; unsigned state : 4, age : 13; double value; };
union word { int number; char text[7]; struct { short low, high; }; };
enum kind { FIRST, SECOND };
struct item {
  struct item *next;
  union { long whole; struct { int low, high; } half; };
  union word words[3];
  struct { enum kind kind : 8; struct { int x; } *point; } inner;
  void (*call)(struct item *, int (*)(int));
  int (*calls[2])(void);
  struct none nothing;
  struct flags flags;
  struct packed packed[2];
  _Bool ready;
  __int128 big __attribute__((aligned(32)));
  char tail[];
};
typedef struct { int a; long b; } pair_t;
struct item *item; pair_t pair; union word word; struct none none;
)";
  if (!runs(fmt::format("gcc -g -c '{}' -o '{}' && pahole -J '{}'", source.string(), object.string(), object.string())))
    GTEST_SKIP() << "there is no pahole (package dwarves) here, or no gcc";
  const Comparison result = compare_file(object);
  fs::remove_all(folder);
  EXPECT_GE(result.listed, 5);
  EXPECT_EQ(result.empty, 1);
  EXPECT_THAT(result.different, ::testing::IsEmpty());
  EXPECT_EQ(result.unread, 0);
  EXPECT_EQ(result.unexplained, 0);
}

TEST(BtfAgainstPahole, AKernelAndItsModulesAreTheSame) {
  const char* const kernel = std::getenv("LINEBOUNCE_BTF");
  if (kernel == nullptr) GTEST_SKIP() << "LINEBOUNCE_BTF names no kernel";
  EXPECT_THAT(compare_file(kernel).different, ::testing::IsEmpty());
  const char* const modules = std::getenv("LINEBOUNCE_BTF_MODULES");
  std::istringstream names(modules == nullptr ? "" : modules);
  for (std::string name; std::getline(names, name, ':');)
    EXPECT_THAT(compare_file(name, kernel).different, ::testing::IsEmpty()) << name;
}

}  // namespace
}  // namespace linebounce::types
