/* Waiting, and being told to stop while we wait. */
#ifndef OVERDECK_READABLE_H
#define OVERDECK_READABLE_H

#include <signal.h>

/* Whether SIGTERM came. */
extern volatile sig_atomic_t told_to_stop;

/* From here on SIGTERM is let through only while we wait. */
void hold_sigterm(void);

/* Wait until one of these descriptors (or -1) can be read. SIGTERM is let through only here, so that none is missed
 * between a look at `told_to_stop` and the wait. Returns how many are ready; 0 at the end of the time or on a signal; -1
 * where there is nothing to wait for. */
int wait_readable(const int *fds, int count, int ms, int *ready);

#endif
