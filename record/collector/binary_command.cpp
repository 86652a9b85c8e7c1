#include "record/collector/binary_command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <gelf.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "record/binary/announce.h"
#include "record/collector/shared_channel.hpp"

namespace linebounce::record {

namespace {

namespace fs = std::filesystem;

constexpr const char* kEmulator = "qemu-x86_64";

// As a shell finds it. Empty: there is none.
std::string find_program(const std::string& name) {
  if (name.find('/') != name.npos) return ::access(name.c_str(), X_OK) == 0 ? name : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "/usr/bin:/bin" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (::access(file.c_str(), X_OK) == 0 && !fs::is_directory(file)) return file;
  }
  return "";
}

struct OpenElf {
  explicit OpenElf(const std::string& path) : file(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
    elf_version(EV_CURRENT);
    elf = elf_begin(file, ELF_C_READ, nullptr);
  }
  ~OpenElf() {
    elf_end(elf);
    if (file >= 0) ::close(file);
  }
  OpenElf(const OpenElf&) = delete;
  OpenElf& operator=(const OpenElf&) = delete;
  int file;
  Elf* elf;
};

bool is_for_this_machine(const OpenElf& program) {
  GElf_Ehdr header;
  return program.elf != nullptr && gelf_getehdr(program.elf, &header) != nullptr && header.e_machine == EM_X86_64;
}

// Which loads our library before the program's.
bool has_loader(const OpenElf& program) {
  std::size_t count = 0;
  GElf_Phdr header;
  elf_getphdrnum(program.elf, &count);
  for (std::size_t i = 0; i < count; ++i) {
    if (gelf_getphdr(program.elf, static_cast<int>(i), &header) != nullptr && header.p_type == PT_INTERP) return true;
  }
  return false;
}

void require_recordable(const std::string& name, const std::string& path) {
  if (path.empty()) throw RecordError(fmt::format("cannot run {}: there is no such program", name));
  const OpenElf program(path);
  if (!is_for_this_machine(program)) {
    throw RecordError(fmt::format("{} is no x86-64 program: of a script, record the program that it runs", path));
  }
  if (!has_loader(program)) {
    throw RecordError(path +
                      " is linked statically: --binary records programs that use the C library as a shared one. Link it "
                      "without -static; of Go, build it with CGO_ENABLED=1 and a package that imports \"C\"");
  }
}

// What was built with this program. QEMU takes a comma for the end of a variable, the loader a space or colon for that of a
// file.
std::string companion(const std::string& file) {
  const fs::path path = fs::read_symlink("/proc/self/exe").parent_path() / "record" / file;
  if (!fs::exists(path)) throw RecordError(path.string() + " is missing: build or install linebounce again");
  if (path.string().find_first_of(", :") != std::string::npos) {
    throw RecordError(path.string() + ": --binary cannot use files in a folder whose name has a comma, a space or a colon");
  }
  return path.string();
}

std::string with_those_of_user(const std::string& library) {
  const char* others = std::getenv("LD_PRELOAD");
  return others == nullptr || *others == '\0' ? library : library + ":" + others;
}

}  // namespace

std::vector<std::string> binary_command(const std::vector<std::string>& command) {
  const std::string emulator = find_program(kEmulator);
  if (emulator.empty()) {
    throw RecordError(fmt::format("--binary needs {}, which is not installed: it is in Debian's package qemu-user", kEmulator));
  }
  const std::string program = find_program(command[0]);
  require_recordable(command[0], program);
  std::vector<std::string> all = {emulator, "-cpu", "max", "-0", command[0], "-plugin", companion("libbinary_plugin.so")};
  // Functions are linked before the program begins: what the linker does in between is none of the program's.
  all.insert(all.end(), {"-E", "LD_PRELOAD=" + with_those_of_user(companion(PRELOAD_FILE)), "-E", "LD_BIND_NOW=1", program});
  all.insert(all.end(), command.begin() + 1, command.end());
  return all;
}

}  // namespace linebounce::record
