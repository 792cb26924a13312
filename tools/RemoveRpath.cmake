# cmake -D FILE=PROGRAM -P RemoveRpath.cmake
file(RPATH_REMOVE FILE ${FILE})
