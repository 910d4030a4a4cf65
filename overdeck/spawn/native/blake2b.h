/* BLAKE2b of 16 bytes without a key (RFC 7693): the hash of spawner.py, so that both say the same of one output. */
#ifndef OVERDECK_BLAKE2B_H
#define OVERDECK_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

#define BLAKE2B_BYTES 16

struct blake2b {
    uint64_t state[8];
    uint64_t counted; /* bytes, of which an output has less than 2^64 */
    size_t held;
    uint8_t block[128];
};

void blake2b_begin(struct blake2b *hash);
void blake2b_add(struct blake2b *hash, const uint8_t *bytes, size_t length);
void blake2b_end(struct blake2b *hash, uint8_t digest[BLAKE2B_BYTES]);

#endif
