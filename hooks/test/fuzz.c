/* The native front behind libFuzzer: plan lines (unsealed, so that it gets past the crc), a NUL, then a payload that arrives
 * in two pieces. */
#include "platform.h"

#include <stdlib.h>

#include "call.h"
#include "payload.h"
#include "plan.h"
#include "route.h"
#include "sealed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = memchr(data, 0, size);
    size_t plan_size = nul ? (size_t)(nul - data) : size;
    forget_plan();
    call.event = T("PreToolUse");
    checked_lines((const char *)data, size, T("overdeck-plan 1"), &plan.crc, plan_line);
    for (const char *at = (const char *)data, *end = at + plan_size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        Text line = {at, stop ? (size_t)(stop - at) : (size_t)(end - at)};
        if (!(line.len >= 6 && !memcmp(line.at, "source", 6)) && !plan_line(line))
            return 0;
        at += line.len + 1;
    }
    size_t len = nul ? size - plan_size - 1 : 0;
    payload = (Payload){.bytes = malloc(len ? len : 1), .len = len, .scan = SCAN_BEGIN};  /* reading past its end is seen */
    if (len)
        memcpy(payload.bytes, nul + 1, len);
    scan_until(&payload.scan, payload.bytes, len / 2);
    scan_until(&payload.scan, payload.bytes, len);
    route(payload.scan.state == DONE && !payload.scan.escaped_key);
    free(payload.bytes);
    return 0;
}
