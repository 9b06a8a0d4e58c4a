# cmake --install: the headers, libweir, the weir command, the machine files, and what find_package(weir) and
# pkg-config need to find them.
include(CMakePackageConfigHelpers)

# What libweir itself calls, by pkg-config name. A static library passes it on to whoever links it.
set(WEIR_NEEDS hwloc)
# And what has no file of pkg-config's, by the names of libraries.
set(WEIR_NEEDS_LIBRARIES)
foreach(name metis scotch)
  string(TOUPPER ${name} upper)
  if(WEIR_HAS_${upper})
    list(APPEND WEIR_NEEDS_LIBRARIES ${name})
  endif()
endforeach()

install(TARGETS weir EXPORT weirTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.hpp" PATTERN "*.h")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/bench/eval/ DESTINATION ${CMAKE_INSTALL_DATADIR}/weir/eval FILES_MATCHING PATTERN "*.toml")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/machines/ DESTINATION ${CMAKE_INSTALL_DATADIR}/weir/machines
  FILES_MATCHING PATTERN "*.toml")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(WEIR_BUILD_TOOLS)
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_FULL_BINDIR} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(weir_command PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  install(TARGETS weir_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  # What weir emulate looks for beside its own folder.
  if(TARGET weir_emulator_plugin)
    install(TARGETS weir_emulator_plugin LIBRARY DESTINATION libexec/weir)
    install(TARGETS weir_guest_init RUNTIME DESTINATION libexec/weir)
  endif()
endif()

if(TARGET weir_solver)
  set_target_properties(weir_solver PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS weir_solver EXPORT weirSolverTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/solver/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.hpp")
endif()

set(weir_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/weir)
install(EXPORT weirTargets NAMESPACE weir:: DESTINATION ${weir_cmake_dir})
if(TARGET weir_solver)
  install(EXPORT weirSolverTargets NAMESPACE weir:: DESTINATION ${weir_cmake_dir})
endif()
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/weirConfig.cmake.in ${PROJECT_BINARY_DIR}/install/weirConfig.cmake
  INSTALL_DESTINATION ${weir_cmake_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a new minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/install/weirConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/install/weirConfig.cmake ${PROJECT_BINARY_DIR}/install/weirConfigVersion.cmake
  DESTINATION ${weir_cmake_dir})

# weir.pc finds its prefix from where it lies, so that an installed tree can be moved.
file(RELATIVE_PATH weir_pc_to_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" weir_pc_to_prefix "${weir_pc_to_prefix}")
get_target_property(weir_type weir TYPE)
list(TRANSFORM WEIR_NEEDS_LIBRARIES PREPEND " -l" OUTPUT_VARIABLE weir_pc_libraries)
string(JOIN "" weir_pc_libraries ${weir_pc_libraries})
if(weir_type STREQUAL "STATIC_LIBRARY")
  set(weir_pc_requires "Requires: ${WEIR_NEEDS}")
  set(weir_pc_libs "Libs: -L\${libdir} -lweir -pthread${weir_pc_libraries}")
else()
  set(weir_pc_requires "Requires.private: ${WEIR_NEEDS}")
  set(weir_pc_libs "Libs: -L\${libdir} -lweir -pthread\nLibs.private:${weir_pc_libraries}")
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/weir.pc.in ${PROJECT_BINARY_DIR}/install/weir.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/install/weir.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# weir-solver.pc: the solver on top. Only a static one passes on Scotch, which has no file of pkg-config's own.
if(TARGET weir_solver)
  get_target_property(solver_type weir_solver TYPE)
  if(solver_type STREQUAL "STATIC_LIBRARY")
    set(weir_solver_scotch "-lscotch -lscotcherr -lm")
  endif()
  configure_file(${CMAKE_CURRENT_LIST_DIR}/weir-solver.pc.in ${PROJECT_BINARY_DIR}/install/weir-solver.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/install/weir-solver.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
