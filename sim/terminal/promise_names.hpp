// What a protocol promises, as JSON names it.
#pragma once

#include <array>

#include "models/coherence/checker/check_protocol.hpp"

namespace linebounce::sim {

struct PromiseName {
  Promise promise;
  const char* name;  // the first two as in protocol files
};
inline constexpr std::array<PromiseName, kPromises> kPromiseNames = {{
    {Promise::single_writer, "swmr"},
    {Promise::data_value, "data_value"},
    {Promise::impossible_pair, "impossible_pair"},
    {Promise::one_supplier, "one_supplier"},
    {Promise::data_arrives, "data_arrives"},
    {Promise::accounted, "accounted"},
    {Promise::no_deadlock, "no_deadlock"},
    {Promise::can_finish, "can_finish"},
}};

}  // namespace linebounce::sim
