# ./dev install. The program looks for configs/ and models/protocols/ in the folders above itself (project_root), and its
# companions beside itself: so all of it keeps its shape below lib/linebounce, and bin/ has links.
set(home lib/linebounce)
install(TARGETS linebounce linebounce-record linebounce-probe RUNTIME DESTINATION ${home} COMPONENT linebounce)
install(PROGRAMS ${CMAKE_BINARY_DIR}/linebounce-cc ${CMAKE_BINARY_DIR}/linebounce-c++ DESTINATION ${home} COMPONENT linebounce)
install(DIRECTORY ${CMAKE_BINARY_DIR}/record/ DESTINATION ${home}/record COMPONENT linebounce
  FILES_MATCHING PATTERN *.a PATTERN *.o PATTERN *.so PATTERN liblb_record.a EXCLUDE PATTERN CMakeFiles EXCLUDE)
install(DIRECTORY probe DESTINATION ${home} COMPONENT linebounce FILES_MATCHING PATTERN *.c PATTERN *.h)
install(DIRECTORY configs DESTINATION ${home} COMPONENT linebounce)
install(DIRECTORY programs DESTINATION ${home} COMPONENT linebounce)
install(DIRECTORY teach/lessons teach/assignments DESTINATION ${home}/teach COMPONENT linebounce)
install(FILES teach/new-lesson.md DESTINATION ${home}/teach COMPONENT linebounce)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/build/teach/ DESTINATION share/linebounce/teach COMPONENT linebounce OPTIONAL
  PATTERN lessons.js EXCLUDE)
install(DIRECTORY models/protocols DESTINATION ${home}/models COMPONENT linebounce)
install(FILES install/linebounce.bash DESTINATION share/bash-completion/completions RENAME linebounce COMPONENT linebounce)
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  file(MAKE_DIRECTORY \"\${prefix}/bin\" \"\${prefix}/share/man/man1\")
  foreach(name linebounce linebounce-record linebounce-cc linebounce-c++ linebounce-probe)
    file(CREATE_LINK ../${home}/\${name} \"\${prefix}/bin/\${name}\" SYMBOLIC)
  endforeach()
  execute_process(COMMAND \"${CMAKE_SOURCE_DIR}/install/man_page.sh\" \"${CMAKE_BINARY_DIR}/linebounce\"
    OUTPUT_FILE \"\${prefix}/share/man/man1/linebounce.1\" COMMAND_ERROR_IS_FATAL ANY)
" COMPONENT linebounce)
