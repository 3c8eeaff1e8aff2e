// Sums over disjoint domains, and metrics of energy.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "measure/energy_meter.hpp"
#include "measure/runner.hpp"

namespace plumb {

namespace {

std::string text_of(const Json& domain, const char* key) {
  const auto found = domain.find(key);
  return found != domain.end() && found->is_string() ? found->get<std::string>() : "";
}

bool has_joules(const Json& domain) {
  return domain.at("joules").is_number();
}

// A node's own meter contains all of its host; RAPL's psys the zones that name it, but no GPU.
bool is_meter(const Json& domain) {
  return domain.at("domain") == "node" && text_of(domain, "reader") != "rapl";
}

// Meters of nodes first; counters before powers, and short intervals before long ones.
bool is_better(const Json& one, const Json& other) {
  const auto rank = [](const Json& domain) {
    return std::make_tuple(!is_meter(domain), text_of(domain, "kind") != "counter", domain.value("interval_s", 0.0));
  };
  return rank(one) < rank(other);
}

bool contains(const Json& outer, const Json& inner) {
  if (outer.at("host") != inner.at("host") || &outer == &inner) return false;
  if (text_of(inner, "within") == text_of(outer, "source")) return true;
  return is_meter(outer) && inner.at("domain") != "node";
}

struct Sum {
  double joules = 0, net = 0, error = 0, mean = 0, peak = 0;
  bool has_net = true;
  Json of = Json::array();

  void add(const Json& domain) {
    joules += domain.at("joules").get<double>();
    error += domain.at("error_j").get<double>();
    mean += domain.at("mean_w").get<double>();
    peak += domain.at("peak_w").get<double>();
    has_net = has_net && domain.at("net_j").is_number();
    if (has_net) net += domain.at("net_j").get<double>();
    of.push_back(domain.at("source"));
  }
};

// Rates of all ranks' work: kind, unit of a figure per joule, and its amount in that unit for one count.
struct Amount {
  std::string name, unit;
  double value;
};

std::vector<Amount> amounts_of(const std::vector<Work>& work) {
  double bytes = 0, sent = 0, flops = 0, updates = 0, edges = 0;
  for (const Work& one : work) {
    bytes += static_cast<double>(one.bytes_read) + static_cast<double>(one.bytes_written);
    sent += static_cast<double>(one.bytes_sent);
    flops += one.flops;
    updates += static_cast<double>(one.updates);
    edges += static_cast<double>(one.edges);
  }
  std::vector<Amount> amounts;
  if (flops > 0) amounts.push_back({"flops", "GFLOP", flops / 1e9});
  if (bytes > 0) amounts.push_back({"bytes", "GB", bytes / 1e9});
  if (sent > 0) amounts.push_back({"sent", "GB", sent / 1e9});
  if (updates > 0) amounts.push_back({"updates", "GUP", updates / 1e9});
  if (edges > 0) amounts.push_back({"edges", "GE", edges / 1e9});
  return amounts;
}

Json metric(const std::string& name, double value, const std::string& unit, const std::string& convention,
            const std::string& domain) {
  return to_json(Metric{name, value, unit, convention, {}, false, domain});
}

void add_metrics(Json& list, const EnergyOfCase& energy, const std::string& domain, const Sum& sum, double seconds) {
  const double joules = sum.joules / energy.count, one = seconds / energy.count;
  list.push_back(metric("joules_per_operation", joules, "J", "joules of all ranks over the region's count", domain));
  list.push_back(metric("energy_delay_product", joules * one, "J s", "joules of one count times its seconds", domain));
  for (const Amount& amount : amounts_of(energy.work)) {
    list.push_back(metric(amount.name + "_per_joule", amount.value / joules, amount.unit + "/J",
                          "work of all ranks over the joules of the same region", domain));
    if (sum.has_net && sum.net > 0)
      list.push_back(metric(amount.name + "_per_net_joule", amount.value / (sum.net / energy.count), amount.unit + "/J",
                            "the same over the joules above idle", domain));
    if (energy.best_seconds > 0)
      list.push_back(
          metric(amount.name + "_per_peak_watt", amount.value / energy.best_seconds / sum.peak, amount.unit + "/(W s)",
                 "best timed repetition over the region's peak power (Meyer 2024, tables 3.11, 3.12)", domain));
  }
}

Json domains_of(const EnergyOfCase& energy) {
  Json domains = Json::array();
  for (std::size_t rank = 0; rank < energy.reports.size(); ++rank) {
    if (!energy.reports[rank].is_array()) continue;
    for (const Json& report : energy.reports[rank]) {
      Json domain{{"host", energy.hosts.at(rank)}};
      domain.update(report);
      domains.push_back(std::move(domain));
    }
  }
  return domains;
}

}  // namespace

std::vector<std::size_t> disjoint(const Json& domains) {
  std::map<std::string, std::size_t> first;  // of each host's domain, whose reader is taken: its parts fit together
  const auto place_of = [](const Json& one) {
    return fmt::format("{}/{}", one.at("host").get<int>(), text_of(one, "domain"));
  };
  const auto counts = [](const Json& one) { return has_joules(one) && one.at("domain") != "part"; };
  for (std::size_t i = 0; i < domains.size(); ++i) {
    if (!counts(domains[i])) continue;
    const auto [other, is_new] = first.emplace(place_of(domains[i]), i);
    if (!is_new && is_better(domains[i], domains[other->second])) other->second = i;
  }
  std::map<std::string, std::size_t> best;  // of each thing
  for (std::size_t i = 0; i < domains.size(); ++i) {
    if (!counts(domains[i])) continue;
    const std::string place = place_of(domains[i]);
    if (text_of(domains[first.at(place)], "reader") != text_of(domains[i], "reader")) continue;
    const auto [other, is_new] = best.emplace(place + "/" + text_of(domains[i], "of"), i);
    if (!is_new && is_better(domains[i], domains[other->second])) other->second = i;
  }
  std::vector<std::size_t> outer;
  for (const auto& [thing, i] : best)
    if (std::none_of(best.begin(), best.end(),
                     [&](const auto& other) { return contains(domains[other.second], domains[i]); }))
      outer.push_back(i);
  std::sort(outer.begin(), outer.end());
  return outer;
}

Json to_json(const EnergyOfCase& energy) {
  const double seconds = energy.region.at("seconds").get<double>();
  Json domains = domains_of(energy), sums = Json::array(), metrics = Json::array();
  std::map<std::string, Sum> by_domain;
  Sum together;
  // Of one domain: all its things, though an outer domain contains them.
  for (const char* name : {"device", "package", "dram", "node"}) {
    Json of_domain = Json::array();
    for (const Json& domain : domains)
      if (domain.at("domain") == name) of_domain.push_back(domain);
    for (const std::size_t i : disjoint(of_domain)) by_domain[name].add(of_domain[i]);
  }
  for (const std::size_t i : disjoint(domains)) together.add(domains[i]);
  const auto add_sum = [&](const std::string& name, const Sum& sum) {
    sums.push_back({{"domain", name},
                    {"joules", sum.joules},
                    {"net_j", sum.has_net ? Json(sum.net) : Json(nullptr)},
                    {"error_j", sum.error},
                    {"mean_w", sum.mean},
                    {"peak_w", sum.peak},
                    {"of", sum.of}});
    add_metrics(metrics, energy, name, sum, seconds);
  };
  for (const auto& [name, sum] : by_domain) add_sum(name, sum);
  if (!together.of.empty()) add_sum("together", together);
  Json reason = nullptr;
  if (together.of.empty())
    for (const Json& domain : domains)
      if (reason.is_null()) reason = domain.at("reason");
  return {{"reason", reason}, {"region", energy.region}, {"domains", domains}, {"sums", sums}, {"metrics", metrics}};
}

}  // namespace plumb
