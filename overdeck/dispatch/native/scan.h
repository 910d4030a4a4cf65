/* A resumable scan of one JSON object, as strict as json.loads; it notes where the values stand that a call is known by. */
#ifndef OVERDECK_SCAN_H
#define OVERDECK_SCAN_H

#include <stddef.h>
#include <stdint.h>

enum { MAX_DEPTH = 500 };       /* deeper documents are Python's to judge */

enum { VALUE, FIRST_KEY, KEY, COLON, FIRST_ITEM, AFTER, IN_STRING, ESCAPED, UNICODE, IN_UTF8, SCALAR, DONE, BAD };
enum { TOOL_NAME, TOOL_INPUT, AGENT_ID, EVENT_NAME, SESSION_ID, SOURCE, ERROR_KIND, FOLDER, OTHER_KEY, KEYS };
typedef struct {
    size_t start, end;              /* a value's bytes in the document, quotes included; end 0 = absent */
} Span;

typedef struct {
    size_t at, token;               /* next byte to look at; where the current string or scalar began */
    int state, depth, key, is_key, escaped_key, hex_left, utf8_left;
    uint8_t utf8_low, utf8_high;
    uint8_t nesting[MAX_DEPTH / 8 + 1];     /* one bit a level: object or array */
    Span value[KEYS];
} Scan;

#define SCAN_BEGIN ((Scan){.state = VALUE, .key = OTHER_KEY})

/* Scan what has arrived of a document that begins at `bytes`; may be called again with more. Accepts only what json.loads
 * accepts: state is then DONE. */
void scan_until(Scan *scan, const uint8_t *bytes, size_t end);

#endif
