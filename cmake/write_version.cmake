# Writes plumbline_version.cpp; leaves the file alone when nothing changed, so nothing is rebuilt for it.
set(COMMIT "")
set(DIRTY false)
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --short=10 HEAD OUTPUT_VARIABLE COMMIT
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(COMMIT "")
  else()
    # What is compiled or embedded counts also where git does not know it yet; records, builds and notes beside it do not.
    execute_process(COMMAND ${GIT} -C ${SOURCE} status --porcelain --untracked-files=no OUTPUT_VARIABLE changes ERROR_QUIET)
    execute_process(COMMAND ${GIT} -C ${SOURCE} ls-files --others -- engine benchmarks cmake interpose CMakeLists.txt
                    OUTPUT_VARIABLE untracked ERROR_QUIET)
    string(REGEX MATCH "[^\n]*\\.(cpp|hpp|h|c|cl|cuh|cmake|in|txt|f90)(\n|$)" untracked "${untracked}")
    if(changes OR untracked)
      set(DIRTY true)
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#include "core/version.hpp"

namespace plumb {
const BuildInfo& build_info() {
  static const BuildInfo info{"@VERSION@", "@COMMIT@", @DIRTY@, "@BUILD_TYPE@", "@COMPILER@", "@FLAGS@"};
  return info;
}
}  // namespace plumb
]])
