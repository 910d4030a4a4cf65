#include "platform.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "scan.h"
#include "text.h"

static const Text key_names[OTHER_KEY] = {
    {"tool_name", 9}, {"tool_input", 10}, {"agent_id", 8}, {"hook_event_name", 15}, {"session_id", 10}, {"source", 6},
    {"error", 5}, {"cwd", 3},
};

static int in_object(const Scan *scan)
{
    return scan->nesting[(scan->depth - 1) >> 3] >> ((scan->depth - 1) & 7) & 1;
}

/* true, false, null, a JSON number, or the constants Python accepts. */
static int scalar_is_valid(const uint8_t *s, size_t len)
{
    static const Text words[] = {{"true", 4}, {"false", 5}, {"null", 4}, {"NaN", 3}, {"Infinity", 8}, {"-Infinity", 9}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (same(words[i], (Text){(const char *)s, len}))
            return 1;
    size_t i = 0;
#define DIGITS(from)                                                                                                   \
    size_t from = i;                                                                                                   \
    while (i < len && s[i] >= '0' && s[i] <= '9')                                                                      \
        i++;                                                                                                           \
    if (i == from)                                                                                                     \
        return 0;
    if (i < len && s[i] == '-')
        i++;
    if (i < len && s[i] == '0') {
        i++;
    } else {
        DIGITS(whole)
        if (i - whole > 4000)
            return 0;               /* Python refuses to convert integers this long: let it say so */
    }
    if (i < len && s[i] == '.') {
        i++;
        DIGITS(fraction)
    }
    if (i < len && (s[i] == 'e' || s[i] == 'E')) {
        i++;
        if (i < len && (s[i] == '+' || s[i] == '-'))
            i++;
        DIGITS(exponent)
    }
    return i == len;
}

static void value_ends(Scan *scan, size_t end)
{
    if (scan->depth == 1)
        scan->value[scan->key].end = end;
}

static void string_ends(Scan *scan, const uint8_t *bytes, size_t end)   /* end: past the closing quote */
{
    if (!scan->is_key) {
        value_ends(scan, end);
        return;
    }
    if (scan->depth != 1)
        return;
    scan->key = OTHER_KEY;
    Text name = {(const char *)bytes + scan->token + 1, end - scan->token - 2};
    for (int k = 0; k < OTHER_KEY; k++)
        if (same(name, key_names[k]))
            scan->key = k;
    if (memchr(name.at, '\\', name.len))
        scan->escaped_key = 1;
}

/* What may stand behind a backslash without a turn through the state machine. */
static int usual_escape(uint8_t c)
{
    static const uint8_t usual[256] = {['n'] = 1, ['"'] = 1, ['\\'] = 1, ['t'] = 1, ['r'] = 1, ['/'] = 1, ['b'] = 1, ['f'] = 1};
    return usual[c];
}

#ifdef __SSE2__
enum { WIDE = 64 };

/* Which of 64 bytes a string cannot simply contain: quote, backslash, control, non-ASCII; a bit each. */
static uint64_t stops_in(const uint8_t *s)
{
    const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), space = _mm_set1_epi8(0x20);
    uint64_t stops = 0;
    for (int part = 0; part < WIDE; part += 16) {
        __m128i v = _mm_loadu_si128((const void *)(s + part));
        /* signed compare: bytes from 0x80 on are negative, so "less than blank" finds them with the controls */
        __m128i stop = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, quote), _mm_cmpeq_epi8(v, slash)),
                                    _mm_cmplt_epi8(v, space));
        stops |= (uint64_t)(unsigned)_mm_movemask_epi8(stop) << part;
    }
    return stops;
}
#endif

/* The first byte at or after p that a string cannot simply contain and that begins no usual escape. */
static size_t plain_until(const uint8_t *bytes, size_t p, size_t end)
{
#ifdef __SSE2__
    while (p + WIDE < end) {            /* one byte more: what an escape at the end of the block escapes */
        size_t block = p;
        p += WIDE;
        for (uint64_t stops = stops_in(bytes + block); stops;) {
            int at = __builtin_ctzll(stops);
            const uint8_t *c = bytes + block + at;
            if (*c != '\\' || !usual_escape(c[1]))
                return block + (size_t)at;
            p += (size_t)(at == WIDE - 1);
            stops &= ~(3ull << at);
        }
    }
#endif
    while (p < end && bytes[p] >= 0x20 && bytes[p] < 0x80 && bytes[p] != '"') {
        if (bytes[p] == '\\' && (p + 1 == end || !usual_escape(bytes[p + 1])))
            break;
        p += 1 + (bytes[p] == '\\');
    }
    return p;
}

/* What may follow a first byte of UTF-8: how many bytes, and the range of the next one; 0 for none. */
static int utf8_sequence(Scan *scan, uint8_t c)
{
    scan->utf8_low = 0x80, scan->utf8_high = 0xbf;
    if (c >= 0xc2 && c <= 0xdf)
        return 1;
    if (c >= 0xe0 && c <= 0xef) {
        if (c == 0xe0)
            scan->utf8_low = 0xa0;
        if (c == 0xed)
            scan->utf8_high = 0x9f;
        return 2;
    }
    if (c >= 0xf0 && c <= 0xf4) {
        if (c == 0xf0)
            scan->utf8_low = 0x90;
        if (c == 0xf4)
            scan->utf8_high = 0x8f;
        return 3;
    }
    return 0;
}

/* Inside a string from p on; returns where it stopped, with scan->state saying why. */
static size_t scan_string(Scan *scan, const uint8_t *bytes, size_t p, size_t end)
{
    while (p < end) {
        p = plain_until(bytes, p, end);
        if (p == end)
            return p;
        uint8_t c = bytes[p++];
        if (c == '"') {
            string_ends(scan, bytes, p);
            scan->state = scan->is_key ? COLON : AFTER;
            return p;
        }
        if (c == '\\') {
            scan->state = ESCAPED;
            return p;
        } else if (c >= 0x80 && (scan->utf8_left = utf8_sequence(scan, c))) {
            scan->state = IN_UTF8;
            return p;
        } else {
            scan->state = BAD;
            return p;
        }
    }
    return p;
}

static void opens(Scan *scan, uint8_t c, size_t at)
{
    if (scan->depth == MAX_DEPTH) {
        scan->state = BAD;
        return;
    }
    if (scan->depth == 1)
        scan->value[scan->key] = (Span){at, 0};
    uint8_t bit = (uint8_t)(1 << (scan->depth & 7));
    if (c == '{')
        scan->nesting[scan->depth >> 3] |= bit;
    else
        scan->nesting[scan->depth >> 3] &= (uint8_t)~bit;
    scan->depth++;
    scan->state = c == '{' ? FIRST_KEY : FIRST_ITEM;
}

static void closes(Scan *scan, size_t end)
{
    scan->depth--;
    value_ends(scan, end);
    scan->state = scan->depth ? AFTER : DONE;
}

void scan_until(Scan *scan, const uint8_t *bytes, size_t end)
{
    size_t p = scan->at;
    while (p < end && scan->state != BAD) {
        if (scan->state == IN_STRING) {
            p = scan_string(scan, bytes, p, end);
            continue;
        }
        uint8_t c = bytes[p];
        switch (scan->state) {
        case ESCAPED:
            p++;
            if (c == 'u')
                scan->state = UNICODE, scan->hex_left = 4;
            else
                scan->state = c && strchr("\"\\/bfnrt", c) ? IN_STRING : BAD;
            continue;
        case UNICODE:
            p++;
            if (!((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f')))
                scan->state = BAD;
            else if (!--scan->hex_left)
                scan->state = IN_STRING;
            continue;
        case IN_UTF8:
            p++;
            if (c < scan->utf8_low || c > scan->utf8_high)
                scan->state = BAD;
            else if (!--scan->utf8_left)
                scan->state = IN_STRING;
            scan->utf8_low = 0x80, scan->utf8_high = 0xbf;
            continue;
        case SCALAR:
            if (c != ',' && c != ']' && c != '}' && c != ' ' && c != '\n' && c != '\r' && c != '\t') {
                p++;
                continue;
            }
            if (!scalar_is_valid(bytes + scan->token, p - scan->token)) {
                scan->state = BAD;
                continue;
            }
            value_ends(scan, p);
            scan->state = AFTER;
        }
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
            p++;
            continue;
        }
        size_t here = p++;
        switch (scan->state) {
        case FIRST_KEY:
            if (c == '}') {
                closes(scan, p);
                break;
            }
            __attribute__((fallthrough));
        case KEY:
            scan->token = here, scan->is_key = 1;
            scan->state = c == '"' ? IN_STRING : BAD;
            break;
        case COLON:
            scan->state = c == ':' ? VALUE : BAD;
            break;
        case FIRST_ITEM:
            if (c == ']') {
                closes(scan, p);
                break;
            }
            __attribute__((fallthrough));
        case VALUE:
            if (!scan->depth && c != '{') {
                scan->state = BAD;
            } else if (c == '{' || c == '[') {
                opens(scan, c, here);
            } else {
                if (scan->depth == 1)
                    scan->value[scan->key] = (Span){here, 0};
                scan->token = here, scan->is_key = 0;
                scan->state = c == '"' ? IN_STRING : SCALAR;
            }
            break;
        case AFTER:
            if (c == ',')
                scan->state = in_object(scan) ? KEY : VALUE;
            else if (c == (in_object(scan) ? '}' : ']'))
                closes(scan, p);
            else
                scan->state = BAD;
            break;
        default:                    /* something behind the document */
            scan->state = BAD;
        }
    }
    scan->at = p;
}
