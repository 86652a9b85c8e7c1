#include "sim/simulation/simulate.hpp"

namespace linebounce {
PointData simulate(const SimulationInput&, const std::function<void(double)>&) { return {}; }  // the engine is on its way
}  // namespace linebounce
