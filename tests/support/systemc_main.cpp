// Runs GoogleTest inside SystemC: its own main() calls sc_main. A warning of SystemC's is an error here.
#include <gtest/gtest.h>

#include <systemc>

int sc_main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  sc_core::sc_report_handler::set_actions(sc_core::SC_WARNING, sc_core::SC_THROW);
  return RUN_ALL_TESTS();
}
