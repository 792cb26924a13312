# libheddle.so, and what finds it: find_package(Heddle) and pkg-config. Included
# by CMakeLists.txt beside it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# All of the runtime behind the functions of heddle.h. The C++ library is a part
# of it, so that a program of any compiler can load it.
add_library(HeddleFindNoObject OBJECT code/FindNoObject.cpp)
set_target_properties(HeddleFindNoObject PROPERTIES
  POSITION_INDEPENDENT_CODE ON)
add_library(heddle SHARED $<TARGET_OBJECTS:HeddleRuntime>
  $<TARGET_OBJECTS:HeddleFindNoObject>)
target_include_directories(heddle INTERFACE
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(heddle PRIVATE Threads::Threads ${CMAKE_DL_LIBS} m)
target_link_options(heddle PRIVATE -static-libstdc++ -static-libgcc
  LINKER:--version-script=${CMAKE_CURRENT_SOURCE_DIR}/heddle.map
  LINKER:--gc-sections)
if(NOT HEDDLE_SANITIZE)
  target_link_options(heddle PRIVATE LINKER:-z,defs)
endif()
set_target_properties(heddle PROPERTIES
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/heddle.map
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib
  # libheddle-onednn.so is looked for beside it.
  INSTALL_RPATH "$ORIGIN")

install(TARGETS heddle EXPORT HeddleTargets COMPONENT runtime
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(FILES heddle.h heddle_engine.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  COMPONENT runtime)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/Heddle)
install(EXPORT HeddleTargets NAMESPACE Heddle:: FILE HeddleConfig.cmake
  DESTINATION ${package} COMPONENT runtime)
# Before 1.0 a minor version promises nothing to the one before it.
write_basic_package_version_file(HeddleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
# Debian's folder for libraries is one deeper than others.
file(RELATIVE_PATH HEDDLE_PREFIX_OF_PC
  "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}/")
configure_file(heddle.pc.in heddle.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/HeddleConfigVersion.cmake
  DESTINATION ${package} COMPONENT runtime)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/heddle.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT runtime)
if(TARGET heddle-onednn)
  install(TARGETS heddle-onednn COMPONENT runtime
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
