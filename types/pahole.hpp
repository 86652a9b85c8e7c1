// The form of pahole's listings.
#pragma once

#include "types/listing.hpp"

namespace linebounce::types {

ListingForm pahole_form();

// True if a line opens a structure, and one has a comment of two figures behind a member: "/*    44    28 */".
bool is_pahole_listing(std::string_view text);

}  // namespace linebounce::types
