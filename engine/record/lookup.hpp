// Access to records that may be incomplete: of killed runs, of later layouts, edited by hand. Nothing here throws: a
// missing value, or one of another type, reads as null, empty text or none.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.hpp"

namespace plumb::lookup {

// The member at the end of a path of keys; null if any is missing. Refers into `value`, or to a static null.
const Json& at(const Json& value, std::string_view key);
const Json& at(const Json& value, std::initializer_list<const char*> path);

// The value if it is an array (or an object), otherwise an empty one. For loops.
const Json& list(const Json& value);
const Json& table(const Json& value);

std::string text(const Json& value, const std::string& otherwise = "");
std::optional<double> number(const Json& value);
std::optional<std::uint64_t> count(const Json& value);  // of non-negative integers
std::vector<double> numbers(const Json& value);         // of an array, ignoring other types

// Any scalar as text: "yes" and "no" for booleans, "-" for null.
std::string words(const Json& value);

// "2026-11-21T10:30:00Z" (fractions of a second are dropped); none for other text.
std::optional<std::chrono::sys_seconds> moment(const Json& value);

// In the order of the record, without duplicates.
std::vector<std::string> host_names(const Json& record);
std::vector<std::string> device_names(const Json& record);

// Seconds of one count from a member of the case's summary ("median_s"); none without samples.
std::optional<double> seconds_per_count(const Json& measured, const char* member);

// Seconds of one count of the case, of the slowest rank in each repetition; empty without samples.
std::vector<double> seconds_of_slowest_rank(const Json& measured);

}  // namespace plumb::lookup
