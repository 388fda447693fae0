// The `assay` program: hands the arguments to the command line proper (cli.h), which every test can
// call too.
#include "validation/cli/process_settings.h"
#include "validation/cli/cli.h"

int main(int argc, char** argv) {
  assay::restart_with_process_settings(argc, argv);
  return assay::run_command_line(argc, argv);
}
