/* Literals in a long text: no copy, most bytes looked at once. */
#include "platform.h"

#include "literals.h"
#include "pairs.h"
#include "seams.h"

static PairTable rare;

/* Of each literal the rarest three letters: two pairs, so that every second byte is enough. 0 when there is no room. */
static int prepare_rare(const uint8_t *wanted)
{
    empty(&rare);
    for (int i = 0; i < plan.literal_count; i++) {
        Text w = literals[i].word;
        size_t best = 0;
        int cost = 1 << 30;
        if (!wanted[i] || w.len < 3)
            continue;
        for (size_t o = 0; o + 3 <= w.len; o++) {
            int a = common((uint8_t)w.at[o]), b = common((uint8_t)w.at[o + 1]), c = common((uint8_t)w.at[o + 2]);
            if (a * b + b * c < cost)
                cost = a * b + b * c, best = o;
        }
        if (!(add_pair(&rare, i, best) && add_pair(&rare, i, best + 1)))
            return 0;
    }
    return 1;
}

#define SEEN(two_letters) (rare.seen[(uint16_t)(two_letters) >> 3] >> ((two_letters) & 7))

/* Literals as they stand in the text. */
static void search_plain(const uint8_t *text, size_t len)
{
    size_t p = 0;
    while (p + 2 <= len) {
        /* eight pairs a step: almost always none of them begins anything */
        for (; p + 16 <= len; p += 16) {
            uint64_t low, high;
            memcpy(&low, text + p, 8), memcpy(&high, text + p + 8, 8);
            if ((SEEN(low) | SEEN(low >> 16) | SEEN(low >> 32) | SEEN(low >> 48) | SEEN(high) | SEEN(high >> 16) |
                 SEEN(high >> 32) | SEEN(high >> 48)) & 1)
                break;
        }
        for (size_t stop = p + 16; p + 2 <= len && p < stop; p += 2) {
            unsigned pair = pair_of(text[p], text[p + 1]);
            if (!in_table(&rare, pair))
                continue;
            for (int e = rare.slots[slot_of(pair)]; e >= 0; e = rare.pairs[e].next) {
                Text w = literals[rare.pairs[e].literal].word;
                size_t o = rare.pairs[e].offset;
                if (p >= o && p - o + w.len <= len && !memcmp(text + p - o, w.at, w.len))
                    found(rare.pairs[e].literal);
            }
        }
    }
}

int search_long(const uint8_t *text, size_t len, const uint8_t *wanted, size_t *work)
{
    if (!prepare_rare(wanted) || !prepare_seams(wanted))
        return 0;
    search_plain(text, len);
    for (int i = 0; i < plan.literal_count; i++) {
        Text w = literals[i].word;
        if (wanted[i] && w.len < 3 && occurs(w, text, len))
            found(i);
    }
    return search_seams(text, len, work);
}
