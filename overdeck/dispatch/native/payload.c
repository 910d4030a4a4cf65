#include "platform.h"

#include <errno.h>
#include <unistd.h>

#include "call.h"
#include "clock.h"
#include "payload.h"
#include "readable.h"

enum {
    IDLE_MS = 2000,             /* nothing more came */
    TOTAL_MS = 5000,            /* the document was not complete */
    MAX_PAYLOAD = 64 << 20,
    FIRST_READ = 64 << 10,
};

Payload payload = {.scan = {.state = VALUE, .key = OTHER_KEY}};

/* Room for the payload: address space that costs nothing until it is touched; where there is too little, less of it. */
static void make_room(void)
{
    static uint8_t spare[FIRST_READ];
    const size_t huge = 2 << 20;
    for (size_t room = MAX_PAYLOAD + FIRST_READ; room >= 1 << 20; room /= 4) {
        uint8_t *raw =
            mmap(NULL, room + 2 * huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (raw == MAP_FAILED)
            continue;
        /* Past the first 64 KiB huge pages pay (page faults cost more than the scan): that byte stands on an edge. */
        uintptr_t edge = ((uintptr_t)raw + FIRST_READ + huge - 1) / huge * huge;
        payload.bytes = (uint8_t *)(edge - FIRST_READ);
        payload.room = room;
#ifdef MADV_HUGEPAGE
        madvise(payload.bytes + FIRST_READ, room - FIRST_READ, MADV_HUGEPAGE);
#endif
        return;
    }
    payload.bytes = spare, payload.room = sizeof spare;
}

int read_payload(void)
{
    const int in = 0;
    int bom_checked = 0, ready;
    make_room();
    for (;;) {
        int left = TOTAL_MS - (int)ms_since(call.started), wait = left < IDLE_MS ? left : IDLE_MS;
        if (payload.scan.state == DONE || wait < 0)
            wait = 0;
        int n = wait_readable(&in, 1, wait, &ready);
        if (n < 0)
            return payload.scan.state == DONE;  /* there is no stdin */
        if (n == 0 || payload.len == payload.room) {
            payload.cut = payload.scan.state != DONE || n > 0;
            return !payload.cut;
        }
        size_t room = payload.len < FIRST_READ ? FIRST_READ - payload.len : 256 << 10;
        if (room > payload.room - payload.len)
            room = payload.room - payload.len;
        ssize_t got = read(0, payload.bytes + payload.len, room);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return payload.scan.state == DONE;
        payload.len += (size_t)got;
        if (!bom_checked) {
            if (payload.bytes[0] == 0xef && payload.len < 3)
                continue;
            bom_checked = 1;
            if (payload.len >= 3 && !memcmp(payload.bytes, "\xef\xbb\xbf", 3))
                payload.scan.at = 3;
        }
        scan_until(&payload.scan, payload.bytes, payload.len);
    }
}

int plain_string(int key, Text *out)
{
    Span span = payload.scan.value[key];
    *out = (Text){"", 0};
    if (span.end < span.start + 2 || payload.bytes[span.start] != '"')
        return 0;
    Text inside = {(const char *)payload.bytes + span.start + 1, span.end - span.start - 2};
    if (memchr(inside.at, '\\', inside.len))
        return 0;
    *out = inside;
    return 1;
}
