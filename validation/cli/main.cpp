// The `assay` program: hands the arguments to the command line proper (cli.h), which every test can
// call too.
#include "validation/cli/active_wait.h"
#include "validation/cli/cli.h"

int main(int argc, char** argv) {
  assay::restart_with_active_waiting(argc, argv);
  return assay::run_command_line(argc, argv);
}
