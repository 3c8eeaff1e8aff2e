// Power of FPGA boards by their vendors' tools: AMD's xbutil (XRT, "examine --report electrical") and Intel's fpgainfo
// (OPAE, "fpgainfo power").
#include <fmt/format.h>

#include "core/error.hpp"
#include "energy/tool.hpp"

namespace plumb::energy {

namespace {

// "power_consumption_watts": "25.103", text or number by version.
double board_watts(const std::string& output) {
  const Json document = Json::parse(output.substr(std::min(output.find('{'), output.size())), nullptr, false);
  const Json none = Json::array();
  if (document.is_object())
    for (const Json& device : document.value("devices", none)) {
      const Json electrical = device.value("electrical", Json::object());
      if (!electrical.contains("power_consumption_watts")) continue;
      const Json& watts = electrical["power_consumption_watts"];
      return watts.is_string() ? std::atof(watts.get<std::string>().c_str()) : watts.get<double>();
    }
  throw Error("xbutil's report has no power_consumption_watts");
}

Found find_xbutil(const Place& place) {
  Found found;
  if (!place.named) return {};
  if (!has_program("xbutil")) return {{}, "there is no xbutil in the search path: source XRT's setup.sh"};
  try {
    const std::string output = output_of("xbutil examine --format JSON --output /dev/stdout --force");
    const Json document = Json::parse(output.substr(std::min(output.find('{'), output.size())), nullptr, false);
    const Json host =
        document.is_object() ? document.value("system", Json::object()).value("host", Json::object()) : Json::object();
    for (const Json& device : host.value("devices", Json::array())) {
      const std::string address = device.value("bdf", "");
      const bool is_address = address.find_first_not_of("0123456789abcdefABCDEF:.") == std::string::npos;
      if (!address.empty() && is_address)
        add_tool(
            tool_info("xbutil", address, Domain::device),
            "xbutil examine --device " + address + " --report electrical --format JSON --output /dev/stdout --force",
            board_watts, found);
    }
  } catch (const Error& error) {
    found.reason = error.what();
  }
  if (found.sensors.empty() && found.reason.empty()) found.reason = "xbutil lists no board";
  return found;
}

double fpgainfo_watts(const std::string& output) {
  for (const char* words : {"Total Input Power", "Board Power", "Total Power"}) {
    try {
      return number_before(output, words, "Watts");
    } catch (const Error&) {
      continue;
    }
  }
  throw Error("fpgainfo prints no Total Input Power or Board Power in Watts");
}

Found find_fpgainfo(const Place& place) {
  Found found;
  if (!place.named) return {};
  if (!has_program("fpgainfo")) return {{}, "there is no fpgainfo in the search path: install OPAE"};
  add_tool(tool_info("fpgainfo", "board", Domain::device), "fpgainfo power", fpgainfo_watts, found);
  return found;
}

const RegisteredReader registered_xbutil("xbutil", find_xbutil);
const RegisteredReader registered_fpgainfo("fpgainfo", find_fpgainfo);

}  // namespace

}  // namespace plumb::energy
