#include "platform.h"

#include "literals.h"

int common(uint8_t c)
{
    static const char order[] = "zqxjkvbwpygfmcudlhrsinoate ";
    const char *at = c >= 'A' && c <= 'Z' ? strchr(order, c + 32) : c ? strchr(order, c) : NULL;
    int rank = at ? (int)(at - order) + 4 : c >= '0' && c <= '9' ? 8 : 3;
    return c >= 'A' && c <= 'Z' ? rank / 3 : rank;
}

int occurs(Text w, const uint8_t *text, size_t len)
{
    size_t o = w.len == 2 && common((uint8_t)w.at[1]) < common((uint8_t)w.at[0]);  /* by its rarer letter */
    const uint8_t *p = text + o, *end = text + len;
    for (; p < end && (p = memchr(p, w.at[o], (size_t)(end - p))); p++)
        if ((size_t)(end - p) >= w.len - o && !memcmp(p - o, w.at, w.len))
            return 1;
    return 0;
}
