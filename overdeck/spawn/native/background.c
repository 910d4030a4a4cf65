#include "background.h"

#include <string.h>

struct text {
    const char *at, *end;
    int depth;
};

static void skip_space(struct text *t) {
    while (t->at < t->end && memchr(" \t\r\n", *t->at, 4)) t->at++;
}

static bool take(struct text *t, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(t->end - t->at) < length || memcmp(t->at, word, length) != 0) return false;
    t->at += length;
    return true;
}

static bool hexadecimal(struct text *t, int digits) {
    for (; digits > 0; digits--, t->at++)
        if (t->at >= t->end || *t->at == 0 || !strchr("0123456789abcdefABCDEF", *t->at)) return false;
    return true;
}

static bool string(struct text *t) {
    if (!take(t, "\"")) return false;
    while (t->at < t->end) {
        char letter = *t->at++;
        if (letter == '"') return true;
        if ((unsigned char)letter < ' ') return false;
        if (letter != '\\') continue;
        if (t->at >= t->end) return false;
        letter = *t->at++;
        if (letter == 'u' ? !hexadecimal(t, 4) : !(letter && strchr("\"\\/bfnrt", letter))) return false;
    }
    return false;
}

static bool digits(struct text *t) {
    const char *from = t->at;
    while (t->at < t->end && *t->at >= '0' && *t->at <= '9') t->at++;
    return t->at > from;
}

static bool number(struct text *t) {
    if (take(t, "NaN") || take(t, "Infinity") || take(t, "-Infinity")) return true; /* as Python's json does */
    take(t, "-");
    if (!take(t, "0") && !digits(t)) return false;
    if (t->at + 1 < t->end && *t->at == '.' && t->at[1] >= '0' && t->at[1] <= '9') {
        t->at++;
        digits(t);
    }
    if (t->at < t->end && (*t->at == 'e' || *t->at == 'E')) {
        t->at++;
        if (!take(t, "+")) take(t, "-");
        if (!digits(t)) return false;
    }
    return true;
}

static bool value(struct text *t);

static bool array(struct text *t) {
    skip_space(t);
    if (take(t, "]")) return true;
    while (value(t)) {
        skip_space(t);
        if (take(t, "]")) return true;
        if (!take(t, ",")) return false;
    }
    return false;
}

/* The rest of an object; `asked` becomes what its last "async" is. */
static bool object(struct text *t, bool *asked) {
    skip_space(t);
    if (take(t, "}")) return true;
    for (;;) {
        skip_space(t);
        const char *key = t->at;
        if (!string(t)) return false;
        bool async = t->at - key == 7 && memcmp(key, "\"async\"", 7) == 0;
        skip_space(t);
        if (!take(t, ":")) return false;
        skip_space(t);
        const char *from = t->at;
        if (!value(t)) return false;
        if (async) *asked = t->at - from == 4 && memcmp(from, "true", 4) == 0;
        skip_space(t);
        if (take(t, "}")) return true;
        if (!take(t, ",")) return false;
    }
}

static bool value(struct text *t) {
    bool inner = false, known;
    skip_space(t);
    if (t->at >= t->end || ++t->depth > 300) return false; /* more does not fit into the head */
    if (*t->at == '"')
        known = string(t);
    else if (take(t, "{"))
        known = object(t, &inner);
    else if (take(t, "["))
        known = array(t);
    else
        known = take(t, "true") || take(t, "false") || take(t, "null") || number(t);
    t->depth--;
    return known;
}

bool asks_for_background(const char *head, size_t length) {
    const char *newline = memchr(head, '\n', length);
    struct text line = {head, newline ? newline : head + length, 0};
    bool asked = false;
    skip_space(&line);
    if (!take(&line, "{") || !object(&line, &asked)) return false;
    skip_space(&line);
    return asked && line.at == line.end;
}
