/* Literals in a short text: take the marks out, then look. */
#include "platform.h"

#include <sys/types.h>

#include "literals.h"
#include "marks.h"

static uint8_t bare[SHORT_TEXT];

/* The text without marks, in `bare`; its length, or -1 when it may spell letters another way. */
static ssize_t strip(const uint8_t *s, size_t len)
{
    size_t out = 0;
    for (size_t i = 0; i < len; i++) {
        if (!is_mark(s[i]))
            bare[out++] = s[i];
        else if (spells_otherwise(s, i, len))
            return -1;
    }
    return (ssize_t)out;
}

int search_short(const uint8_t *text, size_t len, const uint8_t *wanted)
{
    /* most literals are ruled out by a letter that the text does not have at all */
    uint8_t present[256] = {0};
    ssize_t left = strip(text, len);
    if (left < 0)
        return 0;
    for (ssize_t i = 0; i < left; i++)
        present[bare[i]] = 1;
    for (int i = 0; i < plan.literal_count; i++) {
        Text w = literals[i].word;
        if (!wanted[i] || !present[(uint8_t)w.at[0]] || !present[(uint8_t)w.at[w.len - 1]] ||
            !present[(uint8_t)w.at[w.len / 2]] || modules[literals[i].module].may_act)
            continue;
        if (occurs(w, bare, (size_t)left))
            found(i);
    }
    return 1;
}
