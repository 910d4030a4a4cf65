/* Hearing a Python that was started: what it answers and says of itself, until it ends or its time does. */
#ifndef OVERDECK_WAIT_H
#define OVERDECK_WAIT_H

#include <time.h>

#include "start.h"
#include "text.h"

typedef struct {
    char *at;
    size_t len, room;
} Buffer;

enum { WAITING, TOLD_TO_STOP, KILLED };

/* Wait for both pipes to end, or for the end of a module that runs in Python's own process. Past the deadline Python is
 * told to stop, which it answers (a module alone does not); then it is killed. `begun` is when the first Python was started:
 * one that answers for what has failed in another has what is left of the time. Returns how far that went. */
int wait_for(Started *one, struct timespec begun, Buffer *said, Buffer *word_of, Buffer *printed);

/* The line that begins with this word, of what Python said of itself ("hello", "done FRAGMENT"). */
Text line_with(const Buffer *said, Text first_word);

/* "alone MS" and the deadline of a module that runs in Python's own process, in ms; 0 while there is none. */
uint64_t alone_for(const Buffer *word_of);

/* Whether "done" may be believed. A module in Python's own process may have turned the answer elsewhere, so what arrived
 * must be as long as what was sent; and a Python that answers for a module that failed must say that it did so, since the
 * plan it has read may know of no such module any more. */
int all_arrived(const Way *way, const Buffer *word_of, const Buffer *said);

/* SIGKILL everything below us: what was left when Python was killed (we are its orphans' reaper). Linux /proc. */
void kill_orphans(void);

#endif
