/* What the spawner answers, held back until a batch is over. */
#ifndef OVERDECK_ANSWER_H
#define OVERDECK_ANSWER_H

#include "run.h"

struct look {
    int64_t at_ns;
    int line; /* which of the batch's machine lines holds */
};

_Noreturn void die(const char *why);
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
void say_run(const struct task *task, struct run *run, struct look before, struct look after);
void flush(void); /* all that was said goes out */

/* Say load, pressure and ticks as the kernel words them, unless the batch's `last` look (none: at_ns 0) is fresh. */
struct look look_at_machine(struct look last);

#endif
