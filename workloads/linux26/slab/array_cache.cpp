#include "workloads/linux26/slab/array_cache.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace linebounce::workloads {

ArrayCache::ArrayCache(Kernel& kernel, const std::string& structure, const std::string& object, int node, int limit,
                       int batchcount)
    : object_(kernel.place(structure, object, node)),
      fields_{.avail = kernel.field(structure, "avail"),
              .limit = kernel.field(structure, "limit"),
              .batchcount = kernel.field(structure, "batchcount"),
              .touched = kernel.field(structure, "touched"),
              .entry = kernel.field(structure, "objpp")} {
  const int room = fields_.entry.size / kPointerBytes;
  if (limit < 1 || limit > room)
    throw std::invalid_argument(fmt::format("{} can hold 1 to {} objects, not {}", structure, room, limit));
  const auto preset = [&](const FieldPlace& field, int value) {
    kernel.memory().preset(object_.at(field, 0), static_cast<Value>(value), field.size);
  };
  preset(fields_.limit, limit);
  preset(fields_.batchcount, batchcount);
}

}  // namespace linebounce::workloads
