// The names of properties in JSON.
#pragma once

#include <array>

#include "models/coherence/checker/check_protocol.hpp"

namespace linebounce::sim {

struct PromiseName {
  Property property;
  const char* name;  // the name in JSON; protocol files use the first two names, too
};
inline constexpr std::array<PromiseName, kPromises> kPromiseNames = {{
    {Property::single_writer, "swmr"},
    {Property::data_value, "data_value"},
    {Property::impossible_pair, "impossible_pair"},
    {Property::one_supplier, "one_supplier"},
    {Property::data_arrives, "data_arrives"},
    {Property::accounted, "accounted"},
    {Property::no_deadlock, "no_deadlock"},
    {Property::can_finish, "can_finish"},
}};

}  // namespace linebounce::sim
