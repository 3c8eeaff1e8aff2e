# Builds files of device code into the program: plumbline_embed(OUT FILE...) gives the C++ source that holds their texts, made
# anew when one of them changes. As a script (cmake -DOUT=… -DROOT=… -DFILES=… -P embed.cmake) it writes that source.
if(CMAKE_SCRIPT_MODE_FILE)
  set(source "#include \"core/embedded_files.hpp\"\n\nnamespace plumb {\n\nconst std::map<std::string, std::string>& embedded_files() {\n")
  string(APPEND source "  static const std::map<std::string, std::string> files{\n")
  separate_arguments(FILES)
  foreach(file IN LISTS FILES)
    file(READ ${ROOT}/${file} text)
    string(APPEND source "      {\"${file}\",\n")
    string(LENGTH "${text}" length)
    set(begin 0)  # in pieces: compilers need not take longer literals than 64 KiB
    while(begin LESS length)
      string(SUBSTRING "${text}" ${begin} 15000 piece)
      string(APPEND source "R\"EMBEDDED(${piece})EMBEDDED\"\n")
      math(EXPR begin "${begin} + 15000")
    endwhile()
    string(APPEND source "\"\"},\n")
  endforeach()
  file(WRITE ${OUT} "${source}  };\n  return files;\n}\n\n}  // namespace plumb\n")
  return()
endif()

function(plumbline_embed out)
  list(JOIN ARGN " " files)
  list(TRANSFORM ARGN PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE paths)
  add_custom_command(OUTPUT ${out} DEPENDS ${paths} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake VERBATIM
                     COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DROOT=${CMAKE_SOURCE_DIR} "-DFILES=${files}" -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake)
endfunction()
