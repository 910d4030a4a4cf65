/* Lines being written: JSON of ours, put together piece by piece, and what goes to standard output. */
#ifndef OVERDECK_LINE_H
#define OVERDECK_LINE_H

#include "text.h"

/* A line being written: what does not fit is dropped, and `full` says so. */
typedef struct {
    char *at;
    size_t len, room;
    int full;
} Line;

void put(Line *line, Text text);

/* In decimal, with zeros before it up to this width. */
void put_number(Line *line, uint64_t number, int width);

/* Text of ours (ids, causes, paths) as the inside of a JSON string. */
void put_escaped(Line *line, Text text);

/* Now, in UTC with milliseconds. */
void put_time(Line *line);

/* To standard output; returns how much of it the client took. */
size_t say(const char *text, size_t len);

#endif
