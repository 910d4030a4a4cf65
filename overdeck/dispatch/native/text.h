/* Text that lies in somebody else's memory, and how the lines of a plan are taken apart. All of it inline: a plan of 200
 * modules calls these some thousand times. */
#ifndef OVERDECK_TEXT_H
#define OVERDECK_TEXT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    const char *at;
    size_t len;
} Text;

#define T(literal) ((Text){literal, sizeof(literal) - 1})

static inline int same(Text a, Text b)
{
    return a.len == b.len && !memcmp(a.at, b.at, a.len);
}

/* The first item of a list, and the list moved past it. */
static inline Text item(Text *list, char separator)
{
    const char *end = memchr(list->at, separator, list->len);
    Text one = {list->at, end ? (size_t)(end - list->at) : list->len};
    size_t passed = one.len + (end != NULL);
    list->at += passed, list->len -= passed;
    return one;
}

/* The next word of a line, and the line moved past it. */
static inline Text word(Text *rest)
{
    return item(rest, ' ');
}

static inline int has(Text list, Text name)
{
    while (list.len >= name.len && list.len)
        if (same(item(&list, ','), name))
            return 1;
    return 0;
}

/* The number a line begins with, and the line moved past it and one blank; 0 where there is none. */
static inline int take_number(Text *rest, uint64_t *out)
{
    uint64_t value = 0;
    size_t i = 0, most = rest->len < 20 ? rest->len : 20;
    const char *at = rest->at;
    for (unsigned digit; i < most && (digit = (unsigned)(at[i] - '0')) < 10; i++)
        value = value * 10 + digit;
    if (!i || i == 20 || (i < rest->len && at[i] != ' '))
        return 0;
    i += i < rest->len;
    rest->at += i, rest->len -= i;
    *out = value;
    return 1;
}

/* The next word of a line, and the line moved past it. */
static inline Text item(Text *list, char separator);
/* With a NUL behind it, in `room`; NULL where it is too long. */
static inline const char *as_string(Text text, char *room, size_t size)
{
    if (text.len >= size)
        return NULL;
    memcpy(room, text.at, text.len);
    room[text.len] = 0;
    return room;
}
#endif
