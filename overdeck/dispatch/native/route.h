/* Which modules of the plan this payload is for. */
#ifndef OVERDECK_ROUTE_H
#define OVERDECK_ROUTE_H

/* Whether a module asked for this call; Module.asked. */
enum { NO, YES, MAYBE };

/* Mark the modules that may act and return how many. A document that is not whole is for every gate to judge. */
int route(int whole_document);

/* Whether a native observer hangs on a regex: then Python logs for all of them. */
int maybe_native(void);

/* Whether the one module that may act can run in Python's own process: a gate or an adviser that leaves nothing behind. */
int may_be_alone(void);

/* What the event's matchers are held against, and what a log line calls its tool. */
int subject_key(void);

#endif
