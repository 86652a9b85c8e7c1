# Implements preset pgo (README.md), profile-guided optimisation: "collect" counts what runs, "use" compiles with the counts.
# Applies only to the libraries in which simulations spend their time. Without ccache, which can't tell where the counts of
# each clone of the repository are.
set(LINEBOUNCE_PROFILE "" CACHE STRING "collect or use; empty: neither")
set(folder ${CMAKE_BINARY_DIR}/profile)
if(LINEBOUNCE_PROFILE STREQUAL "collect")
  set(options -fprofile-generate=${folder})
  target_sources(linebounce PRIVATE cmake/write_profile_at_exit.cpp)
  target_link_options(linebounce PRIVATE -fprofile-generate -Wl,--wrap=_exit)
elseif(LINEBOUNCE_PROFILE STREQUAL "use")
  set(options -fprofile-use=${folder} -fprofile-partial-training -Wno-missing-profile)
endif()
if(LINEBOUNCE_PROFILE)
  foreach(library lb_coherence lb_models lb_workloads lb_results lb_sim)
    target_compile_options(${library} PRIVATE ${options})
    set_target_properties(${library} PROPERTIES CXX_COMPILER_LAUNCHER "")
  endforeach()
endif()
