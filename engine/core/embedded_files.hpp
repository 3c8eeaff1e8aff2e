// The generated table behind embedded_text().
#pragma once

#include <map>
#include <string>

namespace plumb {

const std::map<std::string, std::string>& embedded_files();

}  // namespace plumb
