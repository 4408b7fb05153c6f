# What `cmake --install` puts in place: the binary, and the client library for other programs as a
# shared library with its headers, a CMake package (`find_package(sluice)`, target sluice::client)
# and a pkg-config file (`sluice-client`).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(client_folder ${PROJECT_SOURCE_DIR}/src/client)
set(exports_script ${client_folder}/exports.map)

# The objects of the client, and of the libraries below it what those need.
add_library(sluice_client_shared SHARED $<TARGET_OBJECTS:sluice_client>)
add_library(sluice::client ALIAS sluice_client_shared)
target_link_libraries(sluice_client_shared PRIVATE sluice_json sluice_domain CURL::libcurl Threads::Threads)
target_link_options(sluice_client_shared PRIVATE
  -Wl,--version-script=${exports_script} -Wl,--as-needed -Wl,--exclude-libs,ALL)
target_include_directories(sluice_client_shared INTERFACE
  $<BUILD_INTERFACE:${client_folder}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(sluice_client_shared INTERFACE cxx_std_20)
set_target_properties(sluice_client_shared PROPERTIES
  OUTPUT_NAME sluice-client
  EXPORT_NAME client
  LINKER_LANGUAGE CXX
  LINK_DEPENDS ${exports_script}
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR})

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/sluice)
set(pkg_config_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
# From the .pc file to the prefix, so that an installation can be moved.
file(RELATIVE_PATH prefix_from_pkg_config /${pkg_config_folder} /)
string(REGEX REPLACE "/$" "" prefix_from_pkg_config ${prefix_from_pkg_config})
configure_file(${PROJECT_SOURCE_DIR}/cmake/sluice-client.pc.in
               ${CMAKE_CURRENT_BINARY_DIR}/sluice-client.pc @ONLY)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/sluice-config.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/sluice-config.cmake
  INSTALL_DESTINATION ${package_folder})
# Before 1.0 a minor version may change what programs see.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/sluice-config-version.cmake
  VERSION ${PROJECT_VERSION}
  COMPATIBILITY SameMinorVersion)

# The manual page and the completion scripts are what the binary prints.
set(manual ${CMAKE_BINARY_DIR}/share/sluice.1)
set(completions)
set(print_completions)
foreach(shell IN ITEMS bash zsh fish)
  list(APPEND completions ${CMAKE_BINARY_DIR}/share/sluice.${shell})
  list(APPEND print_completions COMMAND sluice completion ${shell} > ${CMAKE_BINARY_DIR}/share/sluice.${shell})
endforeach()
add_custom_command(OUTPUT ${manual} ${completions}
  COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/share
  COMMAND sluice __man > ${manual}
  ${print_completions}
  DEPENDS sluice)
add_custom_target(sluice_share ALL DEPENDS ${manual} ${completions})
install(FILES ${manual} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${CMAKE_BINARY_DIR}/share/sluice.bash
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME sluice)
install(FILES ${CMAKE_BINARY_DIR}/share/sluice.zsh
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _sluice)
install(FILES ${CMAKE_BINARY_DIR}/share/sluice.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

install(TARGETS sluice RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS sluice_client_shared EXPORT sluice-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${client_folder}/include/sluice
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp")
install(EXPORT sluice-targets NAMESPACE sluice:: DESTINATION ${package_folder})
install(FILES
  ${CMAKE_CURRENT_BINARY_DIR}/sluice-config.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/sluice-config-version.cmake
  DESTINATION ${package_folder})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/sluice-client.pc DESTINATION ${pkg_config_folder})
