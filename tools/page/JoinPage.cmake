# Pages are written as plain files and shown as one that needs no other: the
# explorer's in lib/Explorer/page, a profile's in tools/profile-page, and here
# what both have.

set(HEDDLE_PAGE_FOLDER ${CMAKE_CURRENT_LIST_DIR})

# Sets `result` to the text of files, which configure again when they change.
function(heddle_read_files result)
  set(all "")
  foreach(file IN LISTS ARGN)
    file(READ ${file} text)
    string(APPEND all "${text}")
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${ARGN})
  set(${result} "${all}" PARENT_SCOPE)
endfunction()

# Sets `result` to an HTML page with a title, the elements of the file BODY, and
# styles and scripts behind those of this folder. What remains to be filled in
# is /* data */: one JSON value, in which no < stands.
function(heddle_join_page result)
  cmake_parse_arguments(PARSE_ARGV 1 page "" "TITLE;BODY" "STYLES;SCRIPTS")
  heddle_read_files(page ${HEDDLE_PAGE_FOLDER}/shell.html)
  heddle_read_files(body ${page_BODY})
  heddle_read_files(mark ${HEDDLE_PAGE_FOLDER}/mark.svg)
  heddle_read_files(css ${HEDDLE_PAGE_FOLDER}/base.css ${page_STYLES})
  heddle_read_files(js ${HEDDLE_PAGE_FOLDER}/parts.js ${page_SCRIPTS})
  string(REPLACE "<!-- title -->" "${page_TITLE}" page "${page}")
  string(REPLACE "<!-- body -->\n" "${body}" page "${page}")
  string(REPLACE "<!-- mark -->\n" "${mark}" page "${page}")
  string(REPLACE "/* page.css */\n" "${css}" page "${page}")
  string(REPLACE "/* page.js */\n" "${js}" page "${page}")
  set(${result} "${page}" PARENT_SCOPE)
endfunction()
