# Packages an existing build in a second, with the program that the tests have run: cmake -DLINEBOUNCE_BUILT=DIR compiles
# nothing and installs the contents of that build directory (./dev package).
foreach(component linebounce libraries)
  install(CODE "
    execute_process(COMMAND \"${CMAKE_COMMAND}\" --install \"${LINEBOUNCE_BUILT}\" --strip --component ${component}
      --prefix \"\${CMAKE_INSTALL_PREFIX}\" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  " COMPONENT ${component})
endforeach()
