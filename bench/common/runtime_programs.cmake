# Programs that measure the same under several runtimes: bin/peers/NAME-RUNTIME, all of one form, which a command of
# `weir bench` runs. What is not installed is left out. Compiler flags are the same for all; weir's own are its
# library's.
include_guard(GLOBAL)

set(runtime_program_directory ${CMAKE_BINARY_DIR}/bin/peers)
# A small loop across two lines of code takes a third longer than within one, whatever the runtime: so none is.
set(runtime_program_flags -O3 -DNDEBUG -falign-loops=64)
set(runtime_program_destination ${CMAKE_INSTALL_LIBEXECDIR}/weir)

find_package(Threads REQUIRED)

function(weir_runtime_program_options target)
  target_compile_options(${target} PRIVATE ${runtime_program_flags}
    -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
endfunction()

# What all programs of a name share, compiled once, with the flags of an executable.
function(weir_runtime_program_parts name)
  add_library(${name}_shared OBJECT ${ARGN})
  set_target_properties(${name}_shared PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name}_shared PRIVATE -fPIE)
  weir_runtime_program_options(${name}_shared)
endfunction()

# One of them: its source, then the libraries it needs.
function(weir_runtime_program name runtime source)
  set(program ${name}-${runtime})
  add_executable(${program} ${source})
  weir_runtime_program_options(${program})
  target_link_libraries(${program} PRIVATE ${name}_shared Threads::Threads ${ARGN})
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${runtime_program_directory})
  install(TARGETS ${program} RUNTIME DESTINATION ${runtime_program_destination})
  set_property(GLOBAL APPEND PROPERTY WEIR_PROGRAMS_${name} ${program})
endfunction()

# libomp comes with Clang, whatever compiler the rest is built with.
function(weir_libomp_program name source)
  set(program ${runtime_program_directory}/${name}-libomp)
  set(sources ${CMAKE_CURRENT_SOURCE_DIR}/${source} $<TARGET_OBJECTS:${name}_shared>)
  set(dependences ${CMAKE_CURRENT_BINARY_DIR}/${name}-libomp.d)
  file(MAKE_DIRECTORY ${runtime_program_directory})
  # -w: the warnings of interest come from the libgomp variant.
  add_custom_command(OUTPUT ${program}
    COMMAND ${WEIR_LIBOMP_COMPILER} -std=c++20 -w ${runtime_program_flags} -fopenmp
            -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/include -MD -MF ${dependences} -MT ${program}
            ${sources} -o ${program}
    DEPENDS ${sources} DEPFILE ${dependences}
    COMMAND_EXPAND_LISTS VERBATIM)
  add_custom_target(${name}-libomp ALL DEPENDS ${program})
  install(PROGRAMS ${program} DESTINATION ${runtime_program_destination})
  set_property(GLOBAL APPEND PROPERTY WEIR_PROGRAMS_${name} ${name}-libomp)
endfunction()

# Runtimes that are headers alone and that Debian does not have: say where they are if the compiler does not find them
# by itself. Taskflow has task groups since version 4.
set(WEIR_TASKFLOW "" CACHE PATH "Folder that holds taskflow/taskflow.hpp of version 4, for the Taskflow peer")
set(WEIR_LIBFORK "" CACHE PATH "Folder that holds libfork.hpp, for the libfork peer")
set(runtime_header_taskflow taskflow/core/task_group.hpp)
set(runtime_header_libfork libfork.hpp)

# RUNTIME.cpp of the calling folder, if the runtime is there.
function(weir_header_program name runtime)
  string(TOUPPER WEIR_${runtime} folder)
  find_path(${runtime}_include ${runtime_header_${runtime}} HINTS ${${folder}} NO_CACHE)
  if(${runtime}_include)
    weir_runtime_program(${name} ${runtime} ${runtime}.cpp)
    target_include_directories(${name}-${runtime} SYSTEM PRIVATE ${${runtime}_include})
  elseif(${folder})
    message(FATAL_ERROR "${folder} is ${${folder}}: expected a folder that holds ${runtime_header_${runtime}}")
  else()
    message(STATUS "${name}-${runtime} is left out: ${runtime} is not installed, and no -D${folder}=FOLDER given")
  endif()
endfunction()

# weir.cpp, openmp.cpp and, if there is one, onetbb.cpp of the calling folder, under each runtime that is there. Only weir itself is built
# with the sanitizers, as for the kernels' peers.
macro(weir_runtime_programs name)
  weir_runtime_program(${name} weir weir.cpp weir)
  file(RELATIVE_PATH to_libraries ${CMAKE_INSTALL_PREFIX}/${runtime_program_destination} ${CMAKE_INSTALL_FULL_LIBDIR})
  set_target_properties(${name}-weir PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
  find_package(OpenMP COMPONENTS CXX)
  if(OpenMP_CXX_FOUND AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    weir_runtime_program(${name} libgomp openmp.cpp OpenMP::OpenMP_CXX)
  endif()
  if(WEIR_LIBOMP_WORKS)
    weir_libomp_program(${name} openmp.cpp)
  endif()
  find_package(TBB QUIET)
  if(TBB_FOUND AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/onetbb.cpp)
    weir_runtime_program(${name} onetbb onetbb.cpp TBB::tbb)
  endif()
endmacro()
