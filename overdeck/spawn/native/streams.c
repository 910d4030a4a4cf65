#define _GNU_SOURCE
#include "streams.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define CHUNK (1 << 16)

static uint8_t chunk[CHUNK];

/* All of it in memory now, so that the floor does not move later. */
void streams_setup(void) { memset(chunk, 0, sizeof chunk); }

void close_once(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

void feed(int *pipe, int payload, off_t *fed) {
    for (;;) {
        ssize_t piece = pread(payload, chunk, CHUNK, *fed);
        if (piece <= 0) break;
        ssize_t written = write(*pipe, chunk, (size_t)piece);
        if (written < 0 && errno == EAGAIN) return;
        if (written < 0) break; /* a reader that leaves early is no error */
        *fed += written;
        if (written == piece && piece < CHUNK) break; /* the end of a file; no second look */
    }
    close_once(pipe);
}

void drain(struct output *output) {
    ssize_t piece = read(output->fd, chunk, CHUNK);
    if (piece < 0 && errno == EINTR) return;
    if (piece <= 0) {
        close_once(&output->fd);
        return;
    }
    if (output->length == 0) blake2b_begin(&output->hash);
    blake2b_add(&output->hash, chunk, (size_t)piece);
    output->length += (uint64_t)piece;
    size_t head = HEAD_BYTES - output->head_length;
    if (head > (size_t)piece) head = (size_t)piece;
    memcpy(output->head + output->head_length, chunk, head);
    output->head_length += head;
}
