/* Pairs of neighbouring letters, by which literals are found. */
#ifndef OVERDECK_PAIRS_H
#define OVERDECK_PAIRS_H

#include <stddef.h>
#include <stdint.h>

typedef struct {
    int literal, next;              /* next entry of the same slot, or -1 */
    size_t offset;                  /* where in the literal the pair stands */
} Pair;

/* A bitmap to rule out, chains to look further. */
typedef struct {
    uint8_t seen[65536 / 8];
    int slots[4096], count;
    Pair pairs[1 << 15];
} PairTable;

/* Make room for another search: a call may search twice, in the tool's input and in the whole payload. */
void empty(PairTable *table);

/* Let the pair that stands here in a literal lead to it; 0 when there is no room. */
int add_pair(PairTable *table, int literal, size_t offset);

static inline unsigned pair_of(uint8_t a, uint8_t b)
{
    return (unsigned)a | (unsigned)b << 8;
}

static inline unsigned slot_of(unsigned pair)
{
    return (pair * 40503u & 0xffff) >> 4;
}

static inline int in_table(const PairTable *table, unsigned pair)
{
    return table->seen[pair >> 3] >> (pair & 7) & 1;
}

#endif
