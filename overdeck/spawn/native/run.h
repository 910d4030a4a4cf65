/* One run: commands started together, from before their spawn until nothing of them is left (see ../spawner.py). */
#ifndef OVERDECK_RUN_H
#define OVERDECK_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "streams.h"

#define STILL_HERE (-1000) /* in place of an exit code: never seen to exit */

struct command {
    int64_t limit_ns; /* its own timeout; negative = none */
    bool in_background; /* not waited for */
    char *executable;
    char **argv;
};

struct task {
    char *cwd, *payload_name;
    int payload; /* a regular file, open; -1 = it cannot be opened */
    int64_t timeout_ns;
    char **environ; /* with room behind its `variables` for what is drawn */
    int variables;
    int count;
    struct command *commands;
};

struct child { /* one command of a run that is on its way */
    pid_t pid; /* 0 = over, or never started */
    bool in_background, asked, expired, cut; /* asked = it is in the background because it printed that it wants it */
    int exit;
    int64_t kill_at; /* SIGKILL follows then the SIGTERM of its timeout; 0 = it got none */
    int input; /* the payload's pipe; -1 = closed */
    off_t fed;
    struct output out, err;
};

struct run {
    int64_t wall_ns;
    int64_t user_us, system_us, rss_kb, voluntary, involuntary, minor_faults, major_faults;
    int orphans, killed;
    bool timed_out, abandoned;
    int failed, why; /* the command that could not be started and its errno; why 0 = none; -1 = the cwd, -2 = the payload, -3 = a pipe */
    struct child *children;
};

/* Once, at the start. */
void run_setup(void);

/* Start `task` and wait as a client would. `run->children` has room for its commands; `abandoned` = the parent is gone,
   and all that ran is killed. */
void run_task(const struct task *task, struct run *run);

int64_t now_ns(void); /* the monotonic clock */

#endif
