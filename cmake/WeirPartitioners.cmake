# METIS and Scotch, with which libweir divides graphs. It does without them, too. AUTO: taken where they are found.
#   WEIR_HAS_METIS, WEIR_HAS_SCOTCH        what is taken
#   METIS_INCLUDE_DIR, METIS_LIBRARY       and where it is
#   SCOTCH_INCLUDE_DIR, SCOTCH_LIBRARY
set(WEIR_METIS AUTO CACHE STRING "Divide graphs with METIS: AUTO, ON or OFF")
set(WEIR_SCOTCH AUTO CACHE STRING "Divide graphs with Scotch: AUTO, ON or OFF")
set_property(CACHE WEIR_METIS WEIR_SCOTCH PROPERTY STRINGS AUTO ON OFF)

# weir_partitioner(NAME HEADER SUFFIX): NAME is METIS or SCOTCH, its library the same in small letters.
function(weir_partitioner name header suffix)
  string(TOLOWER ${name} library)
  set(WEIR_HAS_${name} FALSE PARENT_SCOPE)
  if(WEIR_${name} STREQUAL AUTO OR WEIR_${name})
    find_path(${name}_INCLUDE_DIR ${header} PATH_SUFFIXES ${suffix})
    find_library(${name}_LIBRARY ${library})
    mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
    if(${name}_INCLUDE_DIR AND ${name}_LIBRARY)
      set(WEIR_HAS_${name} TRUE PARENT_SCOPE)
    elseif(NOT WEIR_${name} STREQUAL AUTO)
      message(FATAL_ERROR "WEIR_${name} is ${WEIR_${name}}, but ${header} and lib${library} were not found "
        "(Debian: lib${library}-dev)")
    endif()
  endif()
endfunction()
weir_partitioner(METIS metis.h "")
weir_partitioner(SCOTCH scotch.h scotch)
