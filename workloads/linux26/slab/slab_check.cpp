// Walks through memory and checks that a cache's lists, counts and arrays agree.
#include <fmt/format.h>

#include <algorithm>

#include "workloads/linux26/slab/slab_lists.hpp"

namespace linebounce::workloads {

void SlabLists::add_waiting(Cpu& cpu, const ArrayCache& array, std::vector<Address>& waiting) const {
  const Value avail = array.avail(cpu);
  if (avail > array.limit(cpu)) inconsistent("an array holds more than its limit");
  for (Value i = 0; i < avail; ++i) waiting.push_back(array.object_at(cpu, i));
}

void SlabLists::check_list(Cpu& cpu, const List3& list, std::set<Address>& listed, std::vector<Address>& waiting) {
  const auto all = static_cast<Value>(memory_.objects_per_slab());
  Value free_objects = 0;
  for (const FieldPlace& field : {list_.partial, list_.full, list_.free}) {
    const Address head = list.object.at(field, cpu);
    Address before = head;
    for (Address entry = list64::next(cpu, head); entry != head; entry = list64::next(cpu, entry)) {
      if (list64::previous(cpu, entry) != before) inconsistent("a slab does not point back");
      const Slab& slab = slab_of_entry(entry);
      if (!listed.insert(slab.header.address()).second) inconsistent("a slab is on two lists");
      const Value inuse = slab.header.load(cpu, slab_.inuse);
      const bool fits = field.offset == list_.full.offset   ? inuse == all
                        : field.offset == list_.free.offset ? inuse == 0
                                                            : inuse > 0 && inuse < all;
      if (!fits) inconsistent(fmt::format("a slab with {} of {} objects in use is on the wrong list", inuse, all));
      free_objects += all - inuse;
      before = entry;
    }
    if (list64::previous(cpu, head) != before) inconsistent("the head of a list does not point back");
  }
  if (list.object.load(cpu, list_.free_objects) != free_objects) inconsistent("free_objects is not what the slabs say");
  add_waiting(cpu, *list.shared, waiting);
}

void SlabLists::check_slabs(Cpu& cpu, const std::set<Address>& listed, std::vector<Address> waiting) {
  std::ranges::sort(waiting);
  if (std::adjacent_find(waiting.begin(), waiting.end()) != waiting.end()) inconsistent("an object is in two arrays");
  std::size_t found_waiting = 0;
  for (const Slab* slab : memory_.slabs_in_use()) {
    if (listed.count(slab->header.address()) == 0) inconsistent("a slab is on no list");
    std::vector<int> owners(slab->objects.size());
    Value index = slab->header.load(cpu, slab_.free);
    for (Value free = slab->header.load(cpu, slab_.inuse); index != kBufctlEnd; ++free) {
      if (free >= owners.size()) inconsistent("more objects of a slab are free than not in use");
      ++owners.at(index);
      index = cpu.load(slab->bufctl + index * kBufctlBytes, kBufctlBytes);
    }
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const bool waits = std::ranges::binary_search(waiting, slab->objects[i].address());
      found_waiting += waits ? 1 : 0;
      owners[i] += (waits ? 1 : 0) + (memory_.is_given_out(*slab, static_cast<int>(i)) ? 1 : 0);
      if (owners[i] != 1) inconsistent(fmt::format("an object of {} is in {} places", slab->name, owners[i]));
    }
  }
  if (found_waiting != waiting.size()) inconsistent("an array holds an object of a slab that the page allocator has");
}

}  // namespace linebounce::workloads
