// Settings of OpenMP and of the C library that are read once, before main: waiting and big pages.
#pragma once

namespace assay {

/// Starts the program again with the environment that its command wants; does nothing once that is
/// set. A variable the caller has set stays as it is.
///
/// - `bench`: OMP_WAIT_POLICY=active, since waking a sleeping thread costs about 13 microseconds per
///   kernel. Other commands: a short spin (GOMP_SPINCOUNT); libgomp's default makes a busy machine
///   crawl.
/// - GLIBC_TUNABLES: memory in huge pages, and freed memory kept for the next tensor instead of
///   given back and cleared again by the kernel (glibc 2.35 and later; others ignore it).
///   docs/performance.md has what this saves.
void restart_with_process_settings(int argc, char** argv);

}  // namespace assay
