#include "workloads/native/lock_object.hpp"

#include <dlfcn.h>
#include <fmt/ranges.h>
#include <link.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "workloads/native/native_call.hpp"

namespace linebounce::workloads {
namespace {

// As struct linebounce_lock of linebounce/lock.h.
struct DeclaredLock {
  unsigned long size, alignment;
  const char* title;
  int fifo, readers_wait_nested, numa_aware, most_cpus;
  const char* models;
};

// As sim/native/lock_assembly.cpp writes them.
struct WrittenSite {
  std::int32_t after_call;  // distance from this word to the instruction after the call
  std::int32_t file;        // distance from this word to the file's name
  std::int32_t line, instructions;
  std::int32_t what;  // 0: a plain access; 1: a volatile one; 2: an atomic operation
};

struct WrittenLine {
  std::int32_t begin, file;  // distances from these words
  std::int32_t line;
};

constexpr std::array<const char*, LockObject::kFunctions> kFunctionNames = {
    "init", "acquire", "release", "try_acquire", "acquire_shared", "release_shared", "end_shared"};

// `place`: "wrappers.h:10".
bool is_in_header(std::string_view place) {
  const std::string_view file = place.substr(0, place.rfind(':'));
  const std::string_view suffix = file.substr(std::min(file.rfind('.'), file.size()));
  return suffix.starts_with(".h") || suffix.starts_with(".i");
}

const std::byte* pointed_at(const std::int32_t& offset) {
  return reinterpret_cast<const std::byte*>(&offset) + offset;
}

}  // namespace

LockObject::LockObject(const SourceFile& file, std::vector<NativeOrder>* used)
    : orders_(file.orders), used_(used), handle_(::dlopen(file.compiled.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ == nullptr) throw std::runtime_error(::dlerror());
  link_ = static_cast<Link*>(symbol("linebounce_link"));
  enter_ = reinterpret_cast<decltype(enter_)>(symbol("linebounce_enter"));
  for (std::size_t i = 0; i < functions_.size(); ++i) functions_[i] = ::dlsym(handle_, kFunctionNames[i]);
  read_declaration();
  link_->hooks = &native_hooks();
  link_->object = this;
  find_segments();
  read_sites();
  read_names(file.names, reinterpret_cast<std::uintptr_t>(data_.data()) - loaded_at_);
}

LockObject::~LockObject() {
  ::dlclose(handle_);
}

void* LockObject::symbol(const char* name) const {
  void* const found = ::dlsym(handle_, name);
  if (found == nullptr) throw std::runtime_error(::dlerror());
  return found;
}

void LockObject::read_declaration() {
  const auto* declared = static_cast<const DeclaredLock*>(::dlsym(handle_, "linebounce_lock"));
  if (declared == nullptr)
    throw std::runtime_error("it declares no lock: write LINEBOUNCE_LOCK(struct my_lock) after #include <linebounce/lock.h>");
  for (const Function needed : {Function::acquire, Function::release}) {
    if (!has(needed))
      throw std::runtime_error(fmt::format("it defines no function {}", kFunctionNames[static_cast<std::size_t>(needed)]));
  }
  has_kernel_orders_ = ::dlsym(handle_, "linebounce_kernel_orders") != nullptr;
  title_ = declared->title == nullptr ? "" : declared->title;
  size_ = declared->size;
  alignment_ = declared->alignment;
  traits_.fifo = declared->fifo != 0;
  traits_.numa_aware = declared->numa_aware != 0;
  traits_.readers_nest = declared->readers_wait_nested == 0;
  traits_.most_cpus = declared->most_cpus;
  if (declared->models != nullptr) {
    const std::optional<unsigned> models = models_in(declared->models);
    if (!models) {
      throw std::runtime_error(
          fmt::format(".models = \"{}\"; legal: some of \"{}\"", declared->models, fmt::join(kMemoryModels, " ")));
    }
    traits_.models = *models;
  }
  traits_.tries = has(Function::try_acquire);
  traits_.fits_4_bytes = size_ <= 4;
  if (has(Function::acquire_shared)) traits_.readers = has(Function::end_shared) ? Readers::read_again : Readers::together;
}

void LockObject::find_segments() {
  struct Search {
    LockObject* object;
    const void* inside;
  } search{this, link_};
  const auto look = [](dl_phdr_info* info, std::size_t, void* argument) -> int {
    auto& [object, inside] = *static_cast<Search*>(argument);
    const auto at = [info](std::uintptr_t address) { return reinterpret_cast<std::byte*>(info->dlpi_addr + address); };
    std::byte *first = nullptr, *last = nullptr, *data = nullptr, *data_end = nullptr, *sealed_end = nullptr;
    const ElfW(Phdr)* thread_locals = nullptr;
    for (int i = 0; i < info->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info->dlpi_phdr[i];
      std::byte* const begin = at(segment.p_vaddr);
      std::byte* const end = begin + segment.p_memsz;
      if (segment.p_type == PT_LOAD) {
        if (first == nullptr || begin < first) first = begin;
        last = std::max(last, end);
        if ((segment.p_flags & PF_W) != 0 && end > data_end) data = begin, data_end = end;
      }
      if (segment.p_type == PT_GNU_RELRO) sealed_end = end;
      if (segment.p_type == PT_TLS) thread_locals = &segment;
    }
    if (inside < first || inside >= last) return 0;
    object->begin_ = first;
    object->loaded_at_ = info->dlpi_addr;
    object->end_ = last;
    if (sealed_end > data && sealed_end <= data_end) data = sealed_end;
    object->data_ = {data, data_end};
    if (thread_locals != nullptr) {
      object->thread_locals_ = {at(thread_locals->p_vaddr), thread_locals->p_filesz};
      object->thread_local_bytes_ = thread_locals->p_memsz;
    }
    return 1;
  };
  ::dl_iterate_phdr(look, &search);
  pristine_.assign(data_.begin(), data_.end());
}

// Restores the file's variables, but not the link, which lies among them.
void LockObject::restore_data() const {
  const Link link = *link_;
  std::ranges::copy(pristine_, data_.begin());
  *link_ = link;
}

void LockObject::read_sites() {
  const auto* const end = reinterpret_cast<const WrittenSite*>(link_->sites_end);
  for (const auto* site = reinterpret_cast<const WrittenSite*>(link_->sites); site != end; ++site) {
    site_at_[pointed_at(site->after_call)] = sites_.size();
    sites_.push_back({static_cast<int>(sites_.size()), site->line, site->instructions,
                      reinterpret_cast<const char*>(pointed_at(site->file)), site->what != 0});
  }
}

void LockObject::note_initial(const void* return_address) const {
  if (const NativeSite* const known = site(return_address)) ran_initially_.insert(known->number);
}

// Of the lines that begin at or before the address, the last one.
std::string LockObject::line_at(const void* address) const {
  const auto* const at = static_cast<const std::byte*>(address);
  const std::byte* nearest = nullptr;
  std::string place = title_;
  const auto* const end = reinterpret_cast<const WrittenLine*>(link_->lines_end);
  for (const auto* line = reinterpret_cast<const WrittenLine*>(link_->lines); line != end; ++line) {
    const std::byte* const begin = pointed_at(line->begin);
    if (begin > at || (nearest != nullptr && begin < nearest)) continue;
    nearest = begin;
    const std::string_view path = reinterpret_cast<const char*>(pointed_at(line->file));
    place = fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line->line);
  }
  return place;
}

std::string NativeSite::place() const {
  if (!chain.empty()) return chain.front();
  const std::string_view path = file;
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), line);
}

int NativeSite::line_outside() const {
  const std::string at = place();
  return std::stoi(at.substr(at.rfind(':') + 1));
}

// Lines of sim/native/lock_names.hpp and sim/native/lock_chains.hpp.
void LockObject::read_names(const std::string& names, std::uintptr_t data_begin) {
  std::istringstream lines(names);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string where, name;
    std::uintptr_t at = 0;
    int size = 0;
    words >> where;
    if (where == "call") {
      read_call(words);
      continue;
    }
    if (!(words >> at >> size >> name)) continue;
    const bool is_data = where == "data";
    if (is_data && at < data_begin) continue;
    auto& fields = is_data ? fields_.data : where == "lock" ? fields_.lock : fields_.thread_locals;
    fields.push_back({name, static_cast<int>(is_data ? at - data_begin : at), size});
  }
}

// Calls come from the innermost outwards. Those in headers are put behind the first one outside of them; the outer ones, which
// lead to it, say nothing more of the place.
void LockObject::read_call(std::istream& words) {
  std::size_t number = 0;
  int line = 0;
  std::string function, file;
  words >> number >> line >> function >> std::ws;
  if (!std::getline(words, file) || number >= sites_.size()) return;
  std::vector<std::string>& chain = sites_[number].chain;
  if (!chain.empty() && !is_in_header(chain.front())) return;
  chain.insert(chain.begin(), fmt::format("{}:{}", file.substr(file.rfind('/') + 1), line));
}

std::uintptr_t LockObject::run(Function function, void* lock, NativeCall* call, char** top) const {
  resume(call);
  *link_->pauses = 0;
  return enter_(functions_[static_cast<std::size_t>(function)], lock, top);
}

int LockObject::order_at(const NativeSite* site, NativeOrder::Kind kind, int order) const {
  if (site == nullptr) return order;
  const auto is_here = [site](const NativeOrder& known) { return known.site == site->number; };
  if (used_ != nullptr && std::ranges::none_of(*used_, is_here))
    used_->push_back({.site = site->number,
                      .line = site->line_outside(),
                      .chain = site->chain.empty() ? std::vector{site->place()} : site->chain,
                      .kind = kind,
                      .order = order});
  if (orders_.empty()) return order;
  const auto changed = orders_.find(site->number);
  return changed == orders_.end() ? order : changed->second;
}

int LockObject::take_pauses() const {
  return static_cast<int>(std::exchange(*link_->pauses, 0));
}

}  // namespace linebounce::workloads
