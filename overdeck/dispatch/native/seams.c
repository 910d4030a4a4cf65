#include "platform.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "literals.h"
#include "marks.h"
#include "pairs.h"
#include "seams.h"

enum { BLOCK = 16, WIDE = 64 };

static PairTable seams;

int prepare_seams(const uint8_t *wanted)
{
    empty(&seams);
    for (int i = 0; i < plan.literal_count; i++)
        for (size_t o = 0; wanted[i] && o + 2 <= literals[i].word.len; o++)
            if (!add_pair(&seams, i, o))
                return 0;
    return 1;
}

/* The marks among the next sixteen bytes, a bit each. */
static unsigned marks_in(const uint8_t *s, size_t len)
{
    unsigned marks = 0;
#ifdef __SSE2__
    if (len >= BLOCK) {
        const __m128i single = _mm_set1_epi8('\''), twice = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
        __m128i v = _mm_loadu_si128((const void *)s);
        return (unsigned)_mm_movemask_epi8(
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, single), _mm_cmpeq_epi8(v, twice)), _mm_cmpeq_epi8(v, slash)));
    }
#endif
    for (size_t i = 0; i < len && i < BLOCK; i++)
        marks |= (unsigned)is_mark(s[i]) << i;
    return marks;
}

static size_t seam_work;
enum { MAX_SEAM_WORK = 64 << 20 };  /* letters compared: a text made to be slow skips nothing instead */

/* Whether a literal, split before `after` of its letters, stands around a seam: marks are passed over both ways. */
static int stands_around(Text w, size_t after, const uint8_t *text, size_t seam, size_t len)
{
    size_t p = seam;
    seam_work += w.len;
    for (size_t k = after; k > 0;) {
        if (!p)
            return 0;
        if (is_mark(text[--p]))
            continue;
        if (text[p] != (uint8_t)w.at[--k])
            return 0;
    }
    p = seam;
    for (size_t k = after; k < w.len; p++) {
        if (p == len)
            return 0;
        if (is_mark(text[p]))
            continue;
        if (text[p] != (uint8_t)w.at[k++])
            return 0;
    }
    return 1;
}

/* What stands around the run of marks that begins at i: one past the run, or 0 when the text may spell letters another
 * way there. */
static size_t search_seam(const uint8_t *text, size_t i, size_t len)
{
    uint8_t before = i ? text[i - 1] : 0;
    for (; i < len && is_mark(text[i]); i++)
        if (spells_otherwise(text, i, len))
            return 0;
    if (i == len)
        return len;
    unsigned pair = pair_of(before, text[i]);
    if (in_table(&seams, pair)) {
        if (seam_work > MAX_SEAM_WORK)
            return 0;
        for (int e = seams.slots[slot_of(pair)]; e >= 0; e = seams.pairs[e].next) {
            Text w = literals[seams.pairs[e].literal].word;
            if (stands_around(w, seams.pairs[e].offset + 1, text, i, len))
                found(seams.pairs[e].literal);
        }
    }
    return i;
}

#ifdef __SSE2__
/* Of 64 bytes, a bit each: backslashes, all marks, dollars, what a backslash must not stand before, and (a superset of)
 * the letters of literals. */
typedef struct {
    uint64_t slash, any, dollar, odd, letter;
} Marks;

static Marks marks_of(const uint8_t *s)
{
    const __m128i single = _mm_set1_epi8('\''), twice = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    const __m128i dollar = _mm_set1_epi8('$'), other = _mm_set1_epi8('/'), code = _mm_set1_epi8('u');
    const __m128i comma = _mm_set1_epi8(',');       /* all of A-Z a-z 0-9 _ . - are above it */
    Marks m = {0, 0, 0, 0, 0};
#define BITS(found) ((uint64_t)(unsigned)_mm_movemask_epi8(found) << part)
    for (int part = 0; part < WIDE; part += 16) {
        __m128i v = _mm_loadu_si128((const void *)(s + part)), is_slash = _mm_cmpeq_epi8(v, slash);
        m.slash |= BITS(is_slash);
        m.any |= BITS(_mm_or_si128(is_slash, _mm_or_si128(_mm_cmpeq_epi8(v, single), _mm_cmpeq_epi8(v, twice))));
        m.odd |= BITS(_mm_or_si128(is_slash, _mm_or_si128(_mm_cmpeq_epi8(v, other), _mm_cmpeq_epi8(v, code))));
        m.dollar |= BITS(_mm_cmpeq_epi8(v, dollar));
        m.letter |= BITS(_mm_cmpgt_epi8(v, comma));
    }
#undef BITS
    return m;
}

/* The bits of these bytes, each moved to the byte behind. */
static uint64_t behind(uint64_t bits, uint64_t bits_before)
{
    return bits << 1 | bits_before >> (WIDE - 1);
}

/* Where the run of marks begins that ends before this place. */
static size_t run_before(const uint8_t *text, size_t end)
{
    while (end && is_mark(text[end - 1]))
        end--;
    return end;
}
#endif

/* Literals that only taking the marks out makes visible (g''it, \rm): looked for where marks stand between two
 * letters that are neighbours in some literal. 0 when the text may spell letters another way. */
static int search_runs(const uint8_t *text, size_t len)
{
    size_t seen = 0, block = 0;
#ifdef __SSE2__
    Marks last = {0, 0, 0, 0, 0};
    uint64_t open = 0;                  /* a run behind a letter reaches into this block */
    for (; block + WIDE <= len; block += WIDE) {
        Marks m = marks_of(text + block);
        if ((m.odd & behind(m.slash, last.slash)) | (m.any & behind(m.dollar, last.dollar))) {
            if (block && spells_otherwise(text, block - 1, len))
                return 0;
            for (uint64_t marks = m.any; marks; marks &= marks - 1)
                if (spells_otherwise(text, block + (size_t)__builtin_ctzll(marks), len))
                    return 0;
        }
        /* a run that begins behind a letter: added to its marks, that bit runs on to the byte behind them */
        uint64_t begun = m.any & ~behind(m.any, last.any) & behind(m.letter, last.letter), ended;
        int over = __builtin_add_overflow(m.any, begun, &ended);
        over |= __builtin_add_overflow(ended, open, &ended);
        open = (uint64_t)over;
        for (ended &= ~m.any & m.letter; ended; ended &= ended - 1)
            if (!search_seam(text, run_before(text, block + (size_t)__builtin_ctzll(ended)), len))
                return 0;
        last = m;
    }
    block = run_before(text, block);    /* a run that reaches over the edge is looked at from its begin */
#endif
    for (; block < len; block += BLOCK)
        for (unsigned marks = marks_in(text + block, len - block); marks; marks &= marks - 1) {
            size_t i = block + (size_t)__builtin_ctz(marks);
            if (i >= seen && !(seen = search_seam(text, i, len)))
                return 0;
        }
    return 1;
}

int search_seams(const uint8_t *text, size_t len, size_t *work)
{
    seam_work = *work;              /* not handed down: that costs every seam a register */
    int told = search_runs(text, len);
    *work = seam_work;
    return told;
}
