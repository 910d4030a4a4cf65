/* Time that has passed since a moment of CLOCK_MONOTONIC. */
#ifndef OVERDECK_CLOCK_H
#define OVERDECK_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t ms_since(struct timespec from)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)(now.tv_sec - from.tv_sec) * 1000 + (uint64_t)(now.tv_nsec / 1000000) -
           (uint64_t)(from.tv_nsec / 1000000);
}

static inline uint64_t us_since(struct timespec from)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)((now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000);
}

#endif
