/* A command's three streams: the payload on its way in, and both outputs on their way out. */
#ifndef OVERDECK_STREAMS_H
#define OVERDECK_STREAMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "blake2b.h"

#define HEAD_BYTES 400 /* how much of stdout and stderr travels back */

struct output {
    int fd; /* -1 = closed */
    uint64_t length;
    size_t head_length;
    struct blake2b hash;
    char head[HEAD_BYTES];
};

void streams_setup(void); /* once, at the start */
void close_once(int *fd);

/* Write what fits of the file `payload` from `*fed` on; closes when all is written or nobody reads. */
void feed(int *pipe, int payload, off_t *fed);

/* Take what is there; closes at end of file. */
void drain(struct output *output);

#endif
