/* The search for literals: whoever has one that stands in the text may act. Two ways, by how long the text is. */
#ifndef OVERDECK_LITERALS_H
#define OVERDECK_LITERALS_H

#include "plan.h"

enum { SHORT_TEXT = 16 << 10 };

/* Let the modules act whose wanted literals (one byte each, in the plan's order) stand in the text, with a shell's marks in
 * them or without. 0 when that cannot be told, because the text may spell letters another way: then any may stand there. */
int search_short(const uint8_t *text, size_t len, const uint8_t *wanted);

/* The same for more than SHORT_TEXT. `work` counts the letters compared in all searches of a call: a text made to be slow
 * is not searched to its end. */
int search_long(const uint8_t *text, size_t len, const uint8_t *wanted, size_t *work);

static inline void found(int literal)
{
    modules[literals[literal].module].may_act = 1;
}

/* How common a byte is in code and prose: the rarer the pair a search looks for, the fewer false stops. */
int common(uint8_t c);

/* Whether this word stands in the text as it is. */
int occurs(Text w, const uint8_t *text, size_t len);

#endif
