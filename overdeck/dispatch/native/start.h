/* Starting Python, the reference front, on the payload. */
#ifndef OVERDECK_START_H
#define OVERDECK_START_H

#include <stdint.h>
#include <sys/types.h>

/* How Python is started. */
typedef struct {
    int bundled, observed, cut;
    int alone;                      /* the one module that may act may run in Python's own process */
    const char *failed;             /* "error:MS" or "timeout:MS": it did so, and this is how it ended */
    int remains;                    /* a file of what that module said and printed, or -1 */
} Way;

enum { NOT_THERE = -1, NOT_POSSIBLE = -2 };

/* A Python that was started: the ends of what it is heard by, or -1. */
typedef struct {
    pid_t pid, child;               /* child: which of ours to wait for, it or its keeper */
    int answer, control, printed;
    uint64_t ran_ms;                /* how long a module was alone in it */
} Started;

/* Whether the bundle may be started: ours, and there. Anything else about it shows when it does not say hello. */
int bundle_is_ours(void);

/* Start the reference front on the payload: its pid, NOT_THERE (no such Python), or NOT_POSSIBLE. Where no process can be
 * made at all, this one becomes Python. */
Started start_python(const Way *way);

#endif
