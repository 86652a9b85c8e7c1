#include "workloads/linux26/slab/slab_memory.hpp"

#include <fmt/compile.h>

#include <algorithm>
#include <stdexcept>

#include "models/failure.hpp"

namespace linebounce::workloads {
namespace {

int round_up(int bytes, int alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

// The number of bytes before the first object when the header is in the page.
int bytes_before(int header_bytes, int objects, int alignment) {
  return round_up(header_bytes + objects * kBufctlBytes, alignment);
}

}  // namespace

void inconsistent(const std::string& what) {
  throw ModelFailure("a slab cache is inconsistent: " + what);
}

Zones::Zones(Kernel& kernel) {
  for (int node = 0; node < kernel.nodes(); ++node) {
    const std::string name = fmt::format("zone[{}]", node);
    locks_.push_back(&kernel.lock_in(kernel.place("zone", name, node), name, "zone", "lock"));
  }
}

SlabMemory::SlabMemory(Kernel& kernel, Zones& zones, const std::string& structure, int objects_per_node, Headers headers)
    : kernel_(kernel),
      zones_(zones),
      structure_(structure),
      take_(kernel.function("get_page_from_freelist")),
      give_back_(kernel.function("free_pages")) {
  const Layout& layout = kernel.layout(structure);
  const int alignment = layout.base_offset ? kernel.memory().line_bytes() : layout.alignment;
  object_bytes_ = round_up(layout.size, alignment);
  objects_per_slab_ = kPageBytes / object_bytes_;
  int left_over = kPageBytes % object_bytes_;
  // As in kmem_cache_create(), slabs of large objects have their header outside the page. Inside, it would take the place of an
  // object.
  header_inside_ = headers == Headers::struct_slab && object_bytes_ < kPageBytes / 8;
  if (header_inside_) {
    const int header_bytes = kernel.layout("slab").size;
    const auto used = [&] {
      return bytes_before(header_bytes, objects_per_slab_, alignment) + objects_per_slab_ * object_bytes_;
    };
    while (used() > kPageBytes) --objects_per_slab_;
    left_over = kPageBytes - used();
  }
  if (objects_per_slab_ < 1)
    throw std::invalid_argument(fmt::format("workload.layout: {} has {} bytes and a page {}: it can't be allocated", structure,
                                            layout.size, kPageBytes));
  // SLUB has no colours: its headers, the struct pages, are in an array elsewhere, and don't conflict.
  if (headers == Headers::struct_slab) colours_ = left_over / kernel.memory().line_bytes() + 1;
  const int slabs = (objects_per_node + objects_per_slab_ - 1) / objects_per_slab_;
  for (int node = 0; node < kernel.nodes(); ++node) {
    std::vector<Slab*>& free = free_.emplace_back();
    for (int number = 0; number < slabs; ++number) {
      Slab& slab = slabs_.emplace_back();
      slab.node = node;
      slab.name = fmt::format("{}.node[{}].slab[{}]", structure, node, number);
      if (!header_inside_) place_header(slab, headers);
      free.push_back(&slab);
    }
    for (int number = 0; number < slabs; ++number) place_page(*free[number], number, headers);
    std::reverse(free.begin(), free.end());  // reversed, so that the first object is taken first
  }
  for (Slab& slab : slabs_) {
    by_header_[slab.header.address()] = &slab;
    for (int index = 0; index < objects_per_slab_; ++index) by_object_[slab.objects[index].address()] = {&slab, index};
  }
}

void SlabMemory::place_header(Slab& slab, Headers headers) {
  slab.header = kernel_.place(headers == Headers::struct_slab ? "slab" : "page", slab.name, slab.node);
  if (headers == Headers::struct_page) return;
  const int bytes = objects_per_slab_ * kBufctlBytes;
  const Layout bufctl{.name = fmt::format("kmem_bufctl_t[{}]", objects_per_slab_),
                      .size = bytes,
                      .alignment = kBufctlBytes,
                      .fields = {{"next", 0, bytes}},
                      .subsystem = "slab"};
  slab.bufctl = kernel_.memory().place(bufctl, slab.name + ".bufctl", 0, Home::on_os_node(slab.node));
}

// Slabs of a cache begin at different lines of their pages (colours), so that their headers are spread over a CPU cache's sets.
void SlabMemory::place_page(Slab& slab, int number, Headers headers) {
  const int colour = (number % colours_) * kernel_.memory().line_bytes();
  const Layout before{
      .name = fmt::format("slab colour of {} bytes", colour), .size = colour, .alignment = kPageBytes, .fields = {}};
  kernel_.memory().place(before, slab.name + ".colour", 0, Home::on_os_node(slab.node));
  if (header_inside_) place_header(slab, headers);
  for (int index = 0; index < objects_per_slab_; ++index) {
    const std::string object = fmt::format(FMT_COMPILE("{}[{}.{}.{}]"), structure_, slab.node, number, index);
    slab.objects.push_back(kernel_.place(structure_, object, slab.node));
  }
}

Slab* SlabMemory::take(Cpu& cpu, int node) {
  const FunctionScope scope(cpu, take_);
  std::vector<Slab*>& free = free_[node];
  zones_.lock(node).acquire(cpu);
  Slab* slab = nullptr;
  if (!free.empty()) {
    slab = free.back();
    free.pop_back();
  }
  zones_.lock(node).release(cpu);
  return slab;
}

void SlabMemory::give_back(Cpu& cpu, Slab& slab) {
  const FunctionScope scope(cpu, give_back_);
  zones_.lock(slab.node).acquire(cpu);
  free_[slab.node].push_back(&slab);
  zones_.lock(slab.node).release(cpu);
}

SlabMemory::Place SlabMemory::find(Address object) const {
  const auto found = by_object_.find(object);
  if (found == by_object_.end())
    throw ModelFailure(fmt::format("{:#x} is not an object of the cache of {}", object, structure_));
  return found->second;
}

Slab& SlabMemory::slab_with_header(Address header) const {
  const auto found = by_header_.find(header);
  if (found == by_header_.end()) throw ModelFailure(fmt::format("{:#x} is not a slab of the cache of {}", header, structure_));
  return *found->second;
}

Object SlabMemory::give_out(Address object) {
  const Place place = find(object);
  bool& out = given_out_[object];
  if (out) throw ModelFailure(fmt::format("an object of {} is allocated twice", structure_));
  out = true;
  return place.slab->objects[place.index];
}

void SlabMemory::get_back(const Object& object) {
  static_cast<void>(find(object.address()));
  bool& out = given_out_[object.address()];
  if (!out) throw ModelFailure(fmt::format("an object of {} is freed that is free", structure_));
  out = false;
}

bool SlabMemory::is_given_out(const Slab& slab, int index) const {
  const auto found = given_out_.find(slab.objects[index].address());
  return found != given_out_.end() && found->second;
}

std::vector<Slab*> SlabMemory::slabs_in_use() {
  std::vector<Slab*> in_use;
  for (Slab& slab : slabs_) {
    const std::vector<Slab*>& free = free_[slab.node];
    if (std::find(free.begin(), free.end(), &slab) == free.end()) in_use.push_back(&slab);
  }
  return in_use;
}

void SlabMemory::for_each_slab(const std::function<void(const Slab&)>& visit) const {
  for (const Slab& slab : slabs_) visit(slab);
}

std::vector<Object> SlabMemory::objects() const {
  std::vector<Object> all;
  for (const Slab& slab : slabs_) all.insert(all.end(), slab.objects.begin(), slab.objects.end());
  return all;
}

}  // namespace linebounce::workloads
