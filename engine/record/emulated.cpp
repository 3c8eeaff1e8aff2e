#include "record/emulated.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "record/lookup.hpp"

namespace plumb {

using lookup::at;
using lookup::text;

void mark_emulated(Json& value) {
  if (value.is_object() && (value.contains("unit") || value.contains("median_s") || value.contains("seconds")))
    value["emulated"] = true;
  for (Json& inner : value)
    if (inner.is_structured()) mark_emulated(inner);
}

void lift_emulated(Json& record) {
  if (!record.is_object() || record.contains("emulated")) return;
  std::vector<std::string> sentences{text(at(record, {"transport", "emulated"}))};
  for (const Json& rank : lookup::list(at(record, "ranks"))) {
    const std::string platform = text(at(rank, {"device", "platform"}));
    if (platform.find("Emulation") == std::string::npos) continue;
    std::string of_device = fmt::format("{} emulates a board ({})", text(at(rank, {"device", "name"})), platform);
    if (std::find(sentences.begin(), sentences.end(), of_device) == sentences.end())
      sentences.push_back(std::move(of_device));
  }
  std::erase(sentences, "");
  if (sentences.empty()) return;
  record["emulated"] = fmt::format("{}", fmt::join(sentences, "; "));
  for (const char* part : {"cases", "metrics", "set_ups", "parts"})
    if (record.contains(part)) mark_emulated(record[part]);
}

std::string emulated_comment(const Json& record) {
  const std::string sentence = text(at(record, "emulated"));
  return sentence.empty() ? "" : fmt::format("# emulated: {}\n", sentence);
}

}  // namespace plumb
