# Finds SystemC: through systemc.pc if that is installed, otherwise as a plain library. Debian builds SystemC as C++17, and
# its version check then refuses to link with C++20; other systems may differ. So this tries to link, and chooses the macro
# with which linking works.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(SYSTEMC QUIET systemc)
endif()
find_library(SYSTEMC_LIBRARY systemc HINTS ${SYSTEMC_LIBRARY_DIRS} REQUIRED)
find_path(SYSTEMC_INCLUDE_DIR systemc HINTS ${SYSTEMC_INCLUDE_DIRS} REQUIRED)

set(_probe ${CMAKE_BINARY_DIR}/CMakeFiles/systemc_probe.cpp)
file(WRITE ${_probe} "#include <systemc>\nint sc_main(int, char**) { sc_core::sc_start(); return 0; }\n")
foreach(_define "" "SC_CPLUSPLUS=201703L" "SC_CPLUSPLUS=201402L")
  if(NOT DEFINED SYSTEMC_DEFINE)
    set(_flag)
    if(_define)
      set(_flag "-D${_define}")
    endif()
    try_compile(_links ${CMAKE_BINARY_DIR}/CMakeFiles/systemc_probe ${_probe}
      CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${SYSTEMC_INCLUDE_DIR} -DCMAKE_CXX_STANDARD=20
      COMPILE_DEFINITIONS ${_flag} LINK_LIBRARIES ${SYSTEMC_LIBRARY} pthread)
    if(_links)
      set(SYSTEMC_DEFINE "${_define}" CACHE INTERNAL "what SystemC's version check needs to link")
    endif()
  endif()
endforeach()
if(NOT DEFINED SYSTEMC_DEFINE)
  message(FATAL_ERROR "SystemC was found (${SYSTEMC_LIBRARY}) but a program with it does not link as C++20")
endif()

# The release, such as "2.3.4", which manifests of results name.
set(SYSTEMC_RELEASE)
foreach(_part MAJOR MINOR PATCH)
  file(STRINGS ${SYSTEMC_INCLUDE_DIR}/sysc/kernel/sc_ver.h _line REGEX "define SC_VERSION_${_part} ")
  string(REGEX MATCH "[0-9]+" _number "${_line}")
  list(APPEND SYSTEMC_RELEASE ${_number})
endforeach()
list(JOIN SYSTEMC_RELEASE . SYSTEMC_RELEASE)

add_library(systemc::systemc INTERFACE IMPORTED)
target_include_directories(systemc::systemc SYSTEM INTERFACE ${SYSTEMC_INCLUDE_DIR})
target_link_libraries(systemc::systemc INTERFACE ${SYSTEMC_LIBRARY} pthread)
target_compile_definitions(systemc::systemc INTERFACE ${SYSTEMC_DEFINE})
