// Power of a node by its management controller: DCMI through ipmitool, and Redfish (DSP0268: EnvironmentMetrics, or the
// older Power) through curl, which verifies TLS. Redfish's address, user and password are in a file of curl's
// configuration, readable by its owner only, which PLUMBLINE_REDFISH names; nothing of it is recorded.
#include <fmt/format.h>
#include <sys/stat.h>

#include <cstdlib>
#include <fstream>

#include "core/error.hpp"
#include "energy/tool.hpp"

namespace plumb::energy {

namespace {

Found find_ipmitool(const Place& place) {
  Found found;
  if (!place.named) return {};
  if (!has_program("ipmitool")) return {{}, "there is no ipmitool in the search path"};
  add_tool(
      tool_info("ipmitool", "node", Domain::node), "ipmitool dcmi power reading",
      [](const std::string& output) { return number_before(output, "Instantaneous power reading", "Watts"); }, found);
  return found;
}

double redfish_watts(const std::string& output) {
  const Json document = Json::parse(output, nullptr, false);
  if (document.is_object()) {
    const Json watts = document.value("PowerWatts", Json::object()).value("Reading", Json(nullptr));
    if (watts.is_number()) return watts.get<double>();
    for (const Json& control : document.value("PowerControl", Json::array()))
      if (const Json consumed = control.value("PowerConsumedWatts", Json(nullptr)); consumed.is_number())
        return consumed.get<double>();
  }
  throw Error("the controller's answer has neither PowerWatts.Reading nor PowerControl.PowerConsumedWatts");
}

// Why a file must not be used, or "".
std::string fault_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return fmt::format("PLUMBLINE_REDFISH names {}, which cannot be read", path);
  if ((status.st_mode & 0777) != 0600)
    return fmt::format("{} holds a password: its mode must be 0600, not {:04o}", path, status.st_mode & 0777);
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    const std::string word = line.substr(std::min(line.find_first_not_of(" \t-"), line.size()));
    if (word.starts_with("insecure") || word == "k")
      return path + " has insecure: the controller's certificate must be verified";
  }
  return "";
}

Found find_redfish(const Place& place) {
  Found found;
  if (!place.named) return {};
  const char* file = std::getenv("PLUMBLINE_REDFISH");
  if (file == nullptr) return {{}, "PLUMBLINE_REDFISH must name a file of curl's configuration (url, user, cacert)"};
  if (!has_program("curl")) return {{}, "there is no curl in the search path"};
  const std::string path = file;
  if (path.find('\'') != std::string::npos) return {{}, "the path in PLUMBLINE_REDFISH must not have quotes"};
  if (std::string fault = fault_of(path); !fault.empty()) return {{}, std::move(fault)};
  add_tool(tool_info("redfish", "node", Domain::node),
           "curl --silent --show-error --fail --max-time 8 --config '" + path + "'", redfish_watts, found);
  return found;
}

const RegisteredReader registered_ipmitool("ipmitool", find_ipmitool);
const RegisteredReader registered_redfish("redfish", find_redfish);

}  // namespace

}  // namespace plumb::energy
