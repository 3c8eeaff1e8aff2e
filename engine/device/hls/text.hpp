// The kernels that an HLS text declares.
#pragma once

#include <string>
#include <vector>

namespace plumb::hls {

struct Declared {
  std::string name;
  std::vector<std::string> parameters;  // names
};

// Functions with C linkage that `text` itself defines, in its order. `preprocessed`: the preprocessor's output, with
// its line markers; `file`: the text's name in them. Throws Error for a name that is defined twice.
std::vector<Declared> kernels_in(const std::string& preprocessed, const std::string& file);

}  // namespace plumb::hls
