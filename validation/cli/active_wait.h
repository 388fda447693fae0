// OpenMP threads that spin between kernels instead of sleeping.
#pragma once

namespace assay {

/// `assay bench` starts itself again with OMP_WAIT_POLICY=active: libgomp reads the policy once,
/// before main, and waking a sleeping thread costs about 13 microseconds per kernel. The other
/// commands start again with a short spin (GOMP_SPINCOUNT), since libgomp's default makes a busy
/// machine crawl. Does nothing when one of the variables is set.
void restart_with_active_waiting(int argc, char** argv);

}  // namespace assay
