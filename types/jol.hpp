// The form of JOL's listings of Java classes.
#pragma once

#include "types/listing.hpp"

namespace linebounce::types {

ListingForm jol_form();

}  // namespace linebounce::types
