// Reads structures from damaged debug information: nothing crashes or goes on for ever, no member is dropped, and every byte is
// accounted for.
//
// LINEBOUNCE_MUTATIONS is the number of damaged files, as ./dev fuzz sets it; by hand:
//   LINEBOUNCE_MUTATIONS=100000 build/dev/test_record --gtest_filter='Mutated*'
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fmt/format.h>
#include <gelf.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>

#include "record/collector/types.hpp"
#include "types/type_fields.hpp"

namespace linebounce::record {
namespace {

namespace fs = std::filesystem;

struct Section {
  std::size_t begin = 0, bytes = 0;
};

struct Sample {
  const char* command;  // {0}: the source; {1}: the linked file, without the libraries, so that it stays small
  const char* source;   // in tests/record/structures
};

constexpr std::array kSamples = {
    Sample{"g++ -g -std=c++20 -w -shared -fPIC -nodefaultlibs {0} -o {1}", "members.cc"},
    Sample{"clang++ -g -std=c++20 -w -shared -fPIC -nodefaultlibs {0} -o {1}", "members.cc"},
    Sample{"g++ -gdwarf-3 -gstrict-dwarf -std=c++20 -w -shared -fPIC -nodefaultlibs {0} -o {1}", "members.cc"},
    Sample{"g++ -g -fdebug-types-section -std=c++20 -w -shared -fPIC -nodefaultlibs {0} -o {1}", "members.cc"},
    Sample{"gcc -g -w -shared -fPIC -nodefaultlibs {0} -o {1}", "plain.c"},
    Sample{"gfortran -g -shared -fPIC -nodefaultlibs {0} -o {1}", "derived.f90"},
    Sample{"gcc -c -g -fPIC {0} && ld -shared records.o -o {1}", "records.adb"},
    Sample{"rustc -g --emit obj -C relocation-model=pic -o variants.o {0} && ld -shared variants.o -o {1}", "variants.rs"},
};

// The content of the linked file; empty if it can't be compiled.
std::string compiled_image(const Sample& sample) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("linebounce_mutated_{}", ::getpid());
  const std::string input = std::string(LINEBOUNCE_SOURCE_DIR) + "/tests/record/structures/" + sample.source;
  fs::create_directories(folder);
  const std::string whole =
      fmt::format("cd {} && ({}) >log 2>&1", folder.string(), fmt::format(fmt::runtime(sample.command), input, "linked"));
  const bool is_there = std::system(whole.c_str()) == 0;
  std::ifstream file(folder / "linked", std::ios::binary);
  std::string image((std::istreambuf_iterator<char>(file)), {});
  fs::remove_all(folder);
  return is_there ? image : "";
}

std::vector<Section> debug_sections(std::string& image) {
  std::vector<Section> sections;
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_memory(image.data(), image.size()), elf_end);
  std::size_t names = 0;
  elf_getshdrstrndx(elf.get(), &names);
  for (Elf_Scn* section = elf_nextscn(elf.get(), nullptr); section != nullptr; section = elf_nextscn(elf.get(), section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf.get(), names, header.sh_name);
    const bool is_wanted =
        name != nullptr && (std::strcmp(name, ".debug_info") == 0 || std::strcmp(name, ".debug_abbrev") == 0);
    if (is_wanted) sections.push_back({header.sh_offset, header.sh_size});
  }
  return sections;
}

// A structure accounts for each of its bytes, and each member of its description has its place in it.
void check(const Type& type) {
  std::int64_t end = 0;
  for (const types::UsedBytes& part : types::bytes_of(type)) {
    ASSERT_EQ(part.bytes.begin, end) << type.name;
    ASSERT_GT(part.bytes.end, part.bytes.begin) << type.name;
    end = part.bytes.end;
  }
  ASSERT_EQ(end, type.size) << type.name;
  const trace::Structure made = types::structure_of(type, types::FieldsFor::layout);
  end = 0;
  for (const trace::Field& field : made.fields) {
    ASSERT_GE(field.offset, end) << type.name << "." << field.name;
    end = field.offset + field.size;
  }
}

void read_all(std::string& image) {
  const std::unique_ptr<Elf, int (*)(Elf*)> elf(elf_memory(image.data(), image.size()), elf_end);
  const std::unique_ptr<Dwarf, int (*)(Dwarf*)> information(dwarf_begin_elf(elf.get(), DWARF_C_READ, nullptr), dwarf_end);
  if (information == nullptr) return;
  Types types;
  types.note_types_of(information.get(), elf.get());
  for (const std::string& name : types.qualified_names("")) {
    for (const Type* type : types.qualified(name)) check(*type);
  }
}

// Damages the image `count` times from `seed` on, and reads each. In a child process, because an abort of libdw is its own.
bool survives(const std::string& image, const std::vector<Section>& sections, unsigned seed, int count) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    for (int i = 0; i < count; ++i) {
      std::mt19937 random(seed + static_cast<unsigned>(i));
      std::string damaged = image;
      const auto changes = 1 + random() % 8;
      for (unsigned change = 0; change < changes; ++change) {
        const Section& section = sections[random() % sections.size()];
        const std::size_t at = section.begin + random() % section.bytes;
        damaged[at] = static_cast<char>(random() % 2 == 0 ? random() : damaged[section.begin + random() % section.bytes]);
      }
      read_all(damaged);
      if (testing::Test::HasFailure()) ::_exit(2);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

// The seeds of a batch that fail on their own.
std::vector<unsigned> failing(const std::string& image, const std::vector<Section>& sections, unsigned seed, int count) {
  std::vector<unsigned> seeds;
  for (unsigned i = 0; i < static_cast<unsigned>(count); ++i) {
    if (!survives(image, sections, seed + i, 1)) seeds.push_back(seed + i);
  }
  return seeds;
}

TEST(MutatedStructures, AreReadWithoutACrashAndAccountForEveryByte) {
  constexpr int kBatch = 250;
  const char* wanted = std::getenv("LINEBOUNCE_MUTATIONS");
  const int count = wanted == nullptr ? 4000 : std::atoi(wanted);
  elf_version(EV_CURRENT);
  int done = 0;
  for (const Sample& sample : kSamples) {
    std::string image = compiled_image(sample);
    if (image.empty()) continue;
    const std::vector<Section> sections = debug_sections(image);
    ASSERT_FALSE(sections.empty()) << sample.command;
    int read = 0;
    for (; read < count / std::ssize(kSamples); read += kBatch) {
      const auto seed = static_cast<unsigned>(read);
      if (survives(image, sections, seed, kBatch)) continue;
      ADD_FAILURE() << sample.command << ": seeds " << testing::PrintToString(failing(image, sections, seed, kBatch));
    }
    fmt::print("{} damaged files read: {}\n", read, sample.command);
    done += read;
  }
  if (done == 0) GTEST_SKIP() << "no compiler is installed";
}

}  // namespace
}  // namespace linebounce::record
