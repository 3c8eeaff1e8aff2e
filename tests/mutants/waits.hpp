// Benchmarks that are right, and slow: each case (or one) waits beyond the work, by a share of the time that it took.
#pragma once

namespace plumb::mutants {

// PLUMBLINE_MUTANT_WAITS=WHERE:PERCENT[:KEY] replaces the benchmarks by ones that wait, under their own names. WHERE is
// `queue` (what a device's queue was given is complete so much later), `transport` (the same of an exchange),
// `kernel` (of native) or `run` (the sample); KEY is the key of the case that waits, all where there is none. Waits of
// exchanges that are started long before their messages, as applications' are, add up. Without the variable nothing
// happens. Throws UsageError where it is anything else. To be called in main.
void register_waiting_benchmarks();

}  // namespace plumb::mutants
