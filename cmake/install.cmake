# Defines what is installed by `./dev install`, by the wheel and by the Debian package.
#
# The program looks for configs/ and models/protocols/ in the folders above its own (project_root), and for its companions in
# its own folder. So all of them keep their relative places below lib/linebounce. bin/ has a script for each command that
# starts the program there. It has no links, because a wheel can't hold any.
set(home lib/linebounce)
set(commands linebounce linebounce-record linebounce-cc linebounce-c++ linebounce-probe)

install(TARGETS linebounce linebounce-record linebounce-probe RUNTIME DESTINATION ${home} COMPONENT linebounce)
install(PROGRAMS ${CMAKE_BINARY_DIR}/linebounce-cc ${CMAKE_BINARY_DIR}/linebounce-c++ DESTINATION ${home} COMPONENT linebounce)
install(TARGETS linebounce_systemc LIBRARY DESTINATION ${home} COMPONENT linebounce)
foreach(command ${commands})
  install(PROGRAMS install/launcher.sh DESTINATION bin RENAME ${command} COMPONENT linebounce)
endforeach()
install(TARGETS record_runtime record_operators binary_preload binary_plugin
  LIBRARY DESTINATION ${home}/record COMPONENT linebounce ARCHIVE DESTINATION ${home}/record COMPONENT linebounce)
install(FILES ${CMAKE_BINARY_DIR}/record/libtsan_preinit.o DESTINATION ${home}/record COMPONENT linebounce)
install(FILES ${CMAKE_BINARY_DIR}/record/shared/libtsan.a DESTINATION ${home}/record/shared COMPONENT linebounce)
install(DIRECTORY probe DESTINATION ${home} COMPONENT linebounce FILES_MATCHING PATTERN *.c PATTERN *.h)
install(DIRECTORY configs DESTINATION ${home} COMPONENT linebounce)
install(DIRECTORY programs DESTINATION ${home} COMPONENT linebounce)
install(DIRECTORY teach/lessons teach/assignments teach/slides DESTINATION ${home}/teach COMPONENT linebounce)
install(FILES teach/new-lesson.md DESTINATION ${home}/teach COMPONENT linebounce)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/build/teach/ DESTINATION share/linebounce/teach COMPONENT linebounce OPTIONAL
  PATTERN lessons.js EXCLUDE)
install(DIRECTORY models/protocols DESTINATION ${home}/models COMPONENT linebounce)
install(DIRECTORY litmus/models DESTINATION ${home}/litmus COMPONENT linebounce)
install(FILES install/linebounce.bash DESTINATION share/bash-completion/completions RENAME linebounce COMPONENT linebounce)
install(CODE "
  set(manual \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/share/man/man1\")
  file(MAKE_DIRECTORY \"\${manual}\")
  execute_process(COMMAND \"${CMAKE_SOURCE_DIR}/install/man_page.sh\" \"${CMAKE_BINARY_DIR}/linebounce\"
    OUTPUT_FILE \"\${manual}/linebounce.1\" COMMAND_ERROR_IS_FATAL ANY)
" COMPONENT linebounce)

# A system on which the wheel is installed may lack any shared library. So the wheel includes all but those that every system
# has, with their licenses where the build system's packages have them. The programs find them through DT_RPATH, which also
# applies to libraries that these libraries need (libdw needs libelf). An installation without these files uses the system's
# libraries.
set_target_properties(linebounce linebounce_systemc linebounce-record PROPERTIES INSTALL_RPATH "$ORIGIN/libraries")
set_target_properties(binary_plugin PROPERTIES INSTALL_RPATH "$ORIGIN/../libraries")
foreach(target linebounce linebounce_systemc linebounce-record binary_plugin)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endforeach()
install(CODE "
  set(home \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${home}\")
  file(GET_RUNTIME_DEPENDENCIES RESOLVED_DEPENDENCIES_VAR libraries
    EXECUTABLES \"$<TARGET_FILE:linebounce>\" \"$<TARGET_FILE:linebounce-record>\" 
    MODULES \"$<TARGET_FILE:binary_plugin>\" \"$<TARGET_FILE:linebounce_systemc>\"
    PRE_EXCLUDE_REGEXES \"^ld-linux\" \"^lib(c|m|gcc_s|stdc[+][+])[.]so\")
  file(MAKE_DIRECTORY \"\${home}/libraries/licenses\")
  foreach(library IN LISTS libraries)
    get_filename_component(name \"\${library}\" NAME)
    file(REAL_PATH \"\${library}\" file)
    file(COPY_FILE \"\${file}\" \"\${home}/libraries/\${name}\")
    execute_process(COMMAND sh -c \"dpkg-query --search */\\\${0##*/} | sed 's/:.*//;q'\" \"\${file}\"
      OUTPUT_VARIABLE package OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(package AND EXISTS \"/usr/share/doc/\${package}/copyright\")
      file(COPY_FILE \"/usr/share/doc/\${package}/copyright\" \"\${home}/libraries/licenses/\${package}\")
    endif()
  endforeach()
" COMPONENT libraries)
