# Packages an existing build, for ./dev package. `cmake -DLINEBOUNCE_BUILT=DIR` compiles nothing; it installs the contents of
# build directory DIR. Thus the package has the same program that the tests have run.
foreach(component linebounce libraries)
  install(CODE "
    execute_process(COMMAND \"${CMAKE_COMMAND}\" --install \"${LINEBOUNCE_BUILT}\" --strip --component ${component}
      --prefix \"\${CMAKE_INSTALL_PREFIX}\" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  " COMPONENT ${component})
endforeach()
