// Lists of structures with each member's offset and size. sim/config reads them.
#include "models/text/structure_listing.hpp"
#include "sim/sources/forms.hpp"

namespace linebounce::sim {

Form pahole_form() {
  return {.name = "pahole",
          .kind = FormKind::layout,
          .what = "pahole's listing of structures",
          .marks = "struct NAME { ... }; with /* OFFSET SIZE */ behind members",
          .likeness = [](const Excerpt& excerpt) {
            return certain_if(excerpt.is_text && is_structure_listing(excerpt.bytes),
                              "members have their offset and size behind them");
          }};
}

}  // namespace linebounce::sim
