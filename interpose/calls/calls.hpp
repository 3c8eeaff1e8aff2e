// Bodies of the wrappers that generate.py makes, except those of the collectives.
#pragma once

#include "interpose/calls/packing.hpp"
#include "interpose/calls/pass.hpp"
#include "interpose/calls/sends.hpp"
#include "interpose/windows/one_sided.hpp"
#include "interpose/windows/window_creation.hpp"
#include "interpose/windows/window_synchronisation.hpp"
