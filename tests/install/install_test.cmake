# Installs weir into an empty folder, moves it, and builds and runs the consumer there: with find_package, and with
# pkg-config. Run by ctest as
#   cmake -D SOURCE=... -D WORK=... -D BUILD=... -D CXX=... -D GENERATOR=... -D SHARED=... -P install_test.cmake
# SHARED=ON builds a shared libweir first; otherwise what BUILD holds is installed.

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE out ERROR_VARIABLE complaints OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "install: '${command}' ended with ${status}:\n${out}\n${complaints}")
  endif()
  set(output "${out}" PARENT_SCOPE)
endfunction()

function(expect_file path)
  if(NOT EXISTS ${path})
    message(FATAL_ERROR "install: ${path} was not installed")
  endif()
endfunction()

function(expect_output wanted)
  if(NOT output STREQUAL wanted)
    message(FATAL_ERROR "install: expected '${wanted}', got '${output}'")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK})
set(prefix "${WORK}/moved prefix")
if(SHARED)
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/weir -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${CXX} -D CMAKE_BUILD_TYPE=Release
    -D BUILD_SHARED_LIBS=ON -D WEIR_BUILD_TESTS=OFF -D WEIR_BUILD_TOOLS=${TOOLS})
  run(${CMAKE_COMMAND} --build ${WORK}/weir)
  set(BUILD ${WORK}/weir)
endif()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
file(RENAME ${WORK}/prefix ${prefix})

# Everything is there.
file(GLOB_RECURSE public RELATIVE ${SOURCE}/include ${SOURCE}/include/*.hpp ${SOURCE}/include/*.h)
foreach(header IN LISTS public)
  expect_file("${prefix}/include/${header}")
endforeach()
file(GLOB machines RELATIVE ${SOURCE} ${SOURCE}/machines/*.toml)
foreach(machine IN LISTS machines)
  expect_file("${prefix}/share/weir/${machine}")
endforeach()
file(GLOB_RECURSE pkg_config_file "${prefix}/weir.pc")
expect_file("${pkg_config_file}")
if(TOOLS)
  run("${prefix}/bin/weir" --help)
  if(EMULATOR)
    expect_file("${prefix}/libexec/weir/emulator-plugin.so")
    expect_file("${prefix}/libexec/weir/guest-init")
  endif()
endif()

# find_package
run(${CMAKE_COMMAND} -S ${SOURCE}/tests/install/consumer -B ${WORK}/consumer -G ${GENERATOR} -D CMAKE_CXX_COMPILER=${CXX}
  "-DCMAKE_PREFIX_PATH=${prefix}" -D CMAKE_BUILD_TYPE=Release)
run(${CMAKE_COMMAND} --build ${WORK}/consumer)
run(${WORK}/consumer/consumer)
expect_output("sum 499500")

# pkg-config. It quotes the space in the prefix for a shell, so a shell runs the compiler.
get_filename_component(pkg_config_dir "${pkg_config_file}" DIRECTORY)
get_filename_component(library_dir "${pkg_config_dir}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} "${pkg_config_dir}")
run(pkg-config --modversion weir)
expect_output("${VERSION}")
run(sh -c "eval \"set -- $(pkg-config --cflags --libs weir)\" && exec \"${CXX}\" -std=c++20 \"${SOURCE}/tests/install/consumer/main.cpp\" -o \"${WORK}/by-pkg-config\" \"$@\"")
set(ENV{LD_LIBRARY_PATH} "${library_dir}")
run(${WORK}/by-pkg-config)
expect_output("sum 499500")
file(REMOVE_RECURSE ${WORK})
