# The Debian package, made by `cpack -G DEB`. It has the files of ./dev install below /usr, and depends on the system's
# packages for libraries.
set(CPACK_PACKAGE_CONTACT "Linebounce's maintainers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "cycle-level simulator of cache coherence")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL linebounce)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_LINEBOUNCE_PACKAGE_NAME linebounce)
set(CPACK_DEBIAN_LINEBOUNCE_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_LINEBOUNCE_DESCRIPTION
  "Shows which cache lines bounce on multiprocessor machines, what every transfer costs, and which lock or layout would cost less.")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# linebounce-cc needs a compiler, linebounce-record --binary needs qemu-user, linebounce lock --patch needs patch.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "gcc | clang")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "qemu-user, patch")
include(CPack)
