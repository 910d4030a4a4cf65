#include "platform.h"

#include "pairs.h"
#include "plan.h"

int add_pair(PairTable *table, int literal, size_t offset)
{
    const uint8_t *w = (const uint8_t *)literals[literal].word.at + offset;
    unsigned pair = pair_of(w[0], w[1]);
    if (table->count == sizeof table->pairs / sizeof *table->pairs)
        return 0;
    table->seen[pair >> 3] |= (uint8_t)(1 << (pair & 7));
    int *slot = &table->slots[slot_of(pair)];
    table->pairs[table->count] = (Pair){literal, *slot, offset};
    *slot = table->count++;
    return 1;
}

void empty(PairTable *table)
{
    if (table->count)
        memset(table->seen, 0, sizeof table->seen);
    memset(table->slots, 0xff, sizeof table->slots);
    table->count = 0;
}
