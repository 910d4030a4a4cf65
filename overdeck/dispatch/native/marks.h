/* The marks a shell takes out of a word: where they stand, and where they spell a letter another way. */
#ifndef OVERDECK_MARKS_H
#define OVERDECK_MARKS_H

#include <stddef.h>
#include <stdint.h>

/* The marks a shell takes out of a word: ' " and \. A literal holds none of them. */
static inline int is_mark(uint8_t c)
{
    static const uint8_t marks[256] = {['\''] = 1, ['"'] = 1, ['\\'] = 1};
    return marks[c];
}

/* Whether the mark at i spells a letter another way: \u00XX, \/, a backslash before a line end (\\\n in JSON), or the
 * quote of $'…' or $"…". Text with any of these skips nothing. */
static inline int spells_otherwise(const uint8_t *s, size_t i, size_t len)
{
    if (s[i] == '\'')
        return i > 0 && s[i - 1] == '$';
    if (s[i] != '\\' || i + 1 == len)
        return 0;
    switch (s[i + 1]) {
    case '/': return 1;
    case '"': return i > 0 && s[i - 1] == '$';
    case 'u': return i + 3 < len && s[i + 2] == '0' && s[i + 3] == '0';
    case '\\': return i + 3 < len && s[i + 2] == '\\' && (s[i + 3] == 'n' || s[i + 3] == 'r');
    default: return 0;
    }
}

#endif
