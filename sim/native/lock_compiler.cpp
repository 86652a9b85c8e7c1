#include "sim/native/lock_compiler.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <map>
#include <utility>
#include <vector>

#include "sim/native/lock_assembly.hpp"
#include "sim/native/lock_chains.hpp"
#include "sim/native/lock_names.hpp"
#include "sim/native/lock_texts.hpp"
#include "sim/native/run_program.hpp"
#include "sim/point/config_error.hpp"
#include "sim/results/result_files.hpp"

namespace linebounce::sim {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 4> kNativeSuffixes = {".c", ".cc", ".cpp", ".cxx"};

// Must change whenever what is made of a lock's assembly changes, so that results of older programs aren't taken.
constexpr int kPreparation = 3;

using Words = std::vector<std::string>;

std::string environment(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Words split_words(const std::string& text) {
  Words words;
  for (std::size_t at = 0; (at = text.find_first_not_of(' ', at)) != std::string::npos;) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    words.push_back(text.substr(at, end - at));
    at = end;
  }
  return words;
}

// The cache folder belongs to the user and is not a shared one, because this process loads its files as code.
fs::path lock_cache() {
  const std::string cache = environment("XDG_CACHE_HOME"), user_home = environment("HOME");
  if (cache.empty() && user_home.empty())
    throw ConfigError("a lock in C is compiled into the user's cache folder: set HOME or XDG_CACHE_HOME");
  return (cache.empty() ? fs::path(user_home) / ".cache" : fs::path(cache)) / "linebounce" / "locks";
}

// A hash that is the same in every run and on every computer: 64-bit FNV-1a, and the same algorithm with other constants.
std::string hash_of(const std::string& text) {
  std::uint64_t a = 0xcbf29ce484222325, b = 0x9ae16a3b2f90404f;
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    b = (b ^ static_cast<unsigned char>(c)) * 0x9E3779B97F4A7C15;
  }
  return fmt::format("{:016x}{:016x}", a, b);
}

// The path relative to the current folder, if the file lies below it.
std::string file_from_here(const fs::path& file) {
  const fs::path relative = file.lexically_relative(fs::current_path());
  return relative.empty() || *relative.begin() == ".." ? file.string() : relative.string();
}

class LockCompiler {
 public:
  explicit LockCompiler(const fs::path& file) : file_(fs::absolute(file)), folder_(lock_cache()) {
    const bool is_c = file_.extension() == ".c";
    const std::string chosen = environment(is_c ? "CC" : "CXX");
    compiler_ = split_words(chosen.empty() ? (is_c ? "cc" : "c++") : chosen);
    options_ = {"-O2",
                "-g",
                "-fPIC",
                "-fexceptions",
                "-fno-stack-protector",
                "-fno-optimize-sibling-calls",
                "-fcf-protection=none",
                "-I" + (folder_ / "include").string()};
    for (const std::string& own : split_words(environment(is_c ? "CFLAGS" : "CXXFLAGS"))) options_.push_back(own);
    add_own_includes();
  }

  CompiledLock compile() {
    fs::create_directories(folder_ / "include" / "linebounce");
    put(folder_ / "include" / "linebounce" / "lock.h", lock_header_text());
    put(folder_ / "include" / "linebounce" / "kernel.h", kernel_header_text());
    put(folder_ / "include" / "linebounce" / "kernel_tasks.h", tasks_header_text());
    const std::string version = run({"--version"});
    own_ = folder_ / fmt::format("{}-{}", file_.stem().string(), ::getpid());
    const std::string expanded = own_.string() + ".i";
    run(with_options({"-E", "-o", expanded, file_.string()}));
    const std::string preprocessed = read_file(expanded);
    fs::remove(expanded);
    const std::string key = hash_of(fmt::format("{} {} {} {} {} {}", kPreparation, version, fmt::join(options_, " "),
                                                fmt::join(compiler_, " "), preprocessed, lock_runtime_text()));
    fs::path object = folder_ / (file_.stem().string() + "-" + key + ".so");
    if (fs::exists(object)) return {object, read_file(names_of(object))};
    const bool clang = version.find("clang") != std::string::npos;
    build(clang, object);
    return {object, read_file(names_of(object))};
  }

 private:
  // Adds include folders that the file itself names: "// linebounce includes from: headers source/include".
  void add_own_includes() {
    constexpr std::string_view kIncludes = "// linebounce includes from:";
    const std::string text = read_file(file_);
    for (std::size_t at = 0; (at = text.find(kIncludes, at)) != std::string::npos;) {
      at += kIncludes.size();
      for (const std::string& folder : split_words(text.substr(at, text.find('\n', at) - at)))
        options_.push_back("-I" + (file_.parent_path() / folder).string());
    }
  }

  static fs::path names_of(const fs::path& object) { return object.string() + ".names"; }

  // Returns objdump's output. Empty if objdump fails: memory then has no names, but the lock works.
  std::string objdump(const std::string& what, const fs::path& object) {
    try {
      return run({"objdump"}, {what, object.string()});
    } catch (const ConfigError&) {
      return {};
    }
  }

  // The calls through which each access came into the code, as lines of lock_chains.hpp. Empty if they can't be found.
  std::string call_chains(const std::string& symbols, const fs::path& object) {
    const std::map<std::uint64_t, int> sites = site_addresses(symbols);
    if (sites.empty()) return {};
    Words words = {"-a", "-i", "-f", "-C", "-e", object.string()};
    for (const auto& [address, site] : sites) words.push_back(fmt::format("0x{:x}", address));
    try {
      return chain_lines(run({"addr2line"}, words), sites);
    } catch (const ConfigError&) {
      return {};
    }
  }

  static void put(const fs::path& file, const std::string& text) {
    std::error_code missing;
    if (fs::exists(file, missing) && read_file(file) == text) return;
    write_file(file, text);
  }

  [[nodiscard]] Words with_options(const Words& more) const {
    Words words = options_;
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  [[nodiscard]] static Words instrumentation(bool clang) {
    if (clang)
      return {"-fsanitize=thread",
              "-mllvm",
              "-tsan-distinguish-volatile=1",
              "-mllvm",
              "-tsan-instrument-read-before-write=1",
              "-mllvm",
              "-tsan-instrument-func-entry-exit=0"};
    return {"-fsanitize=thread", "--param", "tsan-distinguish-volatile=1", "--param", "tsan-instrument-func-entry-exit=0"};
  }

  void build(bool clang, const fs::path& object) {
    const std::string assembly = own_.string() + ".s", runtime = own_.string() + ".c", linked = own_.string() + ".so";
    Words words = with_options(instrumentation(clang));
    // Replaces pauses by inline assembler without a flags clobber, because the surrounding code may still need the flags.
    words.emplace_back("-D__builtin_ia32_pause()=__asm__ volatile(\"pause\" ::: \"memory\")");
    for (const char* word : {"-S", "-o"}) words.emplace_back(word);
    words.push_back(assembly);
    words.push_back(file_.string());
    run(words);
    PreparedAssembly prepared = prepare_assembly(read_file(assembly));
    if (!prepared.refusals.empty()) refuse(prepared.refusals, assembly);
    write_file(assembly, prepared.text);
    write_file(runtime, lock_runtime_text());
    run({"-O2", "-fPIC", "-fexceptions", "-fno-builtin", "-fno-stack-protector", "-fcf-protection=none", "-shared",
         "-Wl,-z,relro,-z,now", "-Wl,-Bsymbolic", "-w", "-x", "c", runtime, "-x", "assembler", assembly, "-o", linked});
    const std::string information = objdump("--dwarf=info", linked);
    const std::string symbols = objdump("-t", linked);
    write_file(names_of(object), lock_names(information, symbols) + call_chains(symbols, linked));
    fs::rename(linked, object);
    for (const std::string& file : {assembly, runtime}) fs::remove(file);
  }

  [[noreturn]] void refuse(const std::vector<Refusal>& refusals, const std::string& assembly) const {
    fs::remove(assembly);
    std::string text = shown_ + ": this lock can't be simulated:";
    for (const Refusal& refusal : refusals) {
      const std::string name = refusal.file.empty() ? file_.filename().string() : fs::path(refusal.file).filename().string();
      text += fmt::format("\n  {}:{}: {}", name, refusal.line, refusal.what);
    }
    throw ConfigError(text);
  }

  // Runs the compiler and returns its output.
  std::string run(const Words& words) { return run(compiler_, words); }
  std::string run(const Words& program, const Words& words) {
    Words command = program;
    command.insert(command.end(), words.begin(), words.end());
    ProgramOutput output = run_program(command);
    if (output.could_not_run())
      throw ConfigError(fmt::format("{}: a lock in C needs a compiler, and {} can't be run; CC and CXX name others", shown_,
                                    program.front()));
    if (output.code != 0) throw ConfigError(fmt::format("{} does not compile:\n{}", shown_, as_shown(output.text)));
    return std::move(output.text);
  }

  // The compiler is given absolute paths; messages name the file as it lies seen from the current folder.
  [[nodiscard]] std::string as_shown(std::string text) const {
    const std::string absolute = file_.string();
    for (std::size_t at = text.find(absolute); at != std::string::npos; at = text.find(absolute, at + shown_.size()))
      text.replace(at, absolute.size(), shown_);
    return text;
  }

  fs::path file_, folder_, own_;
  std::string shown_ = file_from_here(file_);
  Words compiler_, options_;
};

}  // namespace

bool is_native_path(std::string_view text) {
  for (const std::string_view suffix : kNativeSuffixes) {
    if (text.ends_with(suffix)) return true;
  }
  return false;
}

CompiledLock compile_lock(const fs::path& file) {
#if !defined(__x86_64__)
  throw ConfigError(file.string() + ": locks in C run on x86-64 only");
#endif
  return LockCompiler(file).compile();
}

}  // namespace linebounce::sim
