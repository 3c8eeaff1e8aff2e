// plumb-serial: the engine in one process, without MPI.
#include "main/program.hpp"

int main(int argc, char** argv) {
  return plumb::run_program(
      argc, argv,
      {"plumb-serial", [](int&, char**&, const plumb::WorldNeeds&) { return plumb::make_serial_world(); },
       [] { return plumb::make_serial_world()->info(); }});
}
