#include "blake2b.h"

#include <string.h>

static const uint64_t IV[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

static const uint8_t SIGMA[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4}, {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13}, {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11}, {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5}, {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static inline uint64_t right(uint64_t word, unsigned by) { return word >> by | word << (64 - by); }

#define MIX(a, b, c, d, x, y)          \
    do {                               \
        v[a] += v[b] + (x);            \
        v[d] = right(v[d] ^ v[a], 32); \
        v[c] += v[d];                  \
        v[b] = right(v[b] ^ v[c], 24); \
        v[a] += v[b] + (y);            \
        v[d] = right(v[d] ^ v[a], 16); \
        v[c] += v[d];                  \
        v[b] = right(v[b] ^ v[c], 63); \
    } while (0)

/* Hashing is on the clock of a run that prints: whole blocks are taken from where they were read to. */
static void compress(struct blake2b *hash, const uint8_t *block, int last) {
    uint64_t v[16], words[16];
    memcpy(words, block, sizeof words);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    for (int i = 0; i < 16; i++) words[i] = __builtin_bswap64(words[i]);
#endif
    memcpy(v, hash->state, sizeof hash->state);
    memcpy(v + 8, IV, sizeof IV);
    v[12] ^= hash->counted;
    if (last) v[14] = ~v[14];
#pragma GCC unroll 12
    for (int round = 0; round < 12; round++) {
        const uint8_t *s = SIGMA[round % 10];
        MIX(0, 4, 8, 12, words[s[0]], words[s[1]]);
        MIX(1, 5, 9, 13, words[s[2]], words[s[3]]);
        MIX(2, 6, 10, 14, words[s[4]], words[s[5]]);
        MIX(3, 7, 11, 15, words[s[6]], words[s[7]]);
        MIX(0, 5, 10, 15, words[s[8]], words[s[9]]);
        MIX(1, 6, 11, 12, words[s[10]], words[s[11]]);
        MIX(2, 7, 8, 13, words[s[12]], words[s[13]]);
        MIX(3, 4, 9, 14, words[s[14]], words[s[15]]);
    }
    for (int i = 0; i < 8; i++) hash->state[i] ^= v[i] ^ v[i + 8];
}

void blake2b_begin(struct blake2b *hash) {
    memcpy(hash->state, IV, sizeof IV);
    hash->state[0] ^= 0x01010000 ^ BLAKE2B_BYTES;
    hash->counted = 0;
    hash->held = 0;
}

void blake2b_add(struct blake2b *hash, const uint8_t *bytes, size_t length) {
    while (length > 0) { /* a full block is compressed only when more follows */
        if (hash->held == 0 && length > sizeof hash->block) {
            hash->counted += sizeof hash->block;
            compress(hash, bytes, 0);
            bytes += sizeof hash->block;
            length -= sizeof hash->block;
            continue;
        }
        if (hash->held == sizeof hash->block) {
            hash->counted += hash->held;
            compress(hash, hash->block, 0);
            hash->held = 0;
            continue;
        }
        size_t piece = sizeof hash->block - hash->held;
        if (piece > length) piece = length;
        memcpy(hash->block + hash->held, bytes, piece);
        hash->held += piece;
        bytes += piece;
        length -= piece;
    }
}

void blake2b_end(struct blake2b *hash, uint8_t digest[BLAKE2B_BYTES]) {
    hash->counted += hash->held;
    memset(hash->block + hash->held, 0, sizeof hash->block - hash->held);
    compress(hash, hash->block, 1);
    for (int i = 0; i < BLAKE2B_BYTES; i++) digest[i] = (uint8_t)(hash->state[i / 8] >> 8 * (i % 8));
}
