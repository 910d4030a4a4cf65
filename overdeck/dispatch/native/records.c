#include "platform.h"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "call.h"
#include "clock.h"
#include "log.h"
#include "payload.h"
#include "plan.h"
#include "records.h"
#include "route.h"

enum {
    MAX_NAME = 200,             /* bytes of a tool or session that go into a log line */
    MAX_CLASS = 40,             /* bytes of a kind of error */
    MAX_FOLDER = 1024,          /* bytes of a working directory that a native observer was asked for */
};

/* A value of the payload as a JSON string, if it is one without escapes and short; else the empty string. */
static void put_text(Line *line, int key, size_t most)
{
    Text name;
    put(line, T("\""));
    if (plain_string(key, &name) && name.len <= most)
        put(line, name);
    put(line, T("\""));
}

static void put_name(Line *line, int key)
{
    put_text(line, key, MAX_NAME);
}

/* What no other line has: 16 random bytes, in hex; where the kernel gives none, who and when. */
static void put_id(Line *line)
{
    static const char hex[] = "0123456789abcdef";
    struct timespec now;
    uint8_t bytes[16];
    if (getentropy(bytes, sizeof bytes)) {
        clock_gettime(CLOCK_REALTIME, &now);
        const uint32_t who_and_when[] = {(uint32_t)getpid(), (uint32_t)call.started.tv_nsec, (uint32_t)now.tv_sec,
                                         (uint32_t)now.tv_nsec};
        memcpy(bytes, who_and_when, sizeof bytes);
    }
    for (size_t i = 0; i < sizeof bytes; i++) {
        char digits[2] = {hex[bytes[i] >> 4], hex[bytes[i] & 15]};
        put(line, (Text){digits, 2});
    }
}

/* A word of the payload that names a class, such as rate_limit; a sentence may hold anything and is left out. */
static void put_class(Line *line, int key)
{
    Text name;
    size_t letters = 0;
    put(line, T("\""));
    if (plain_string(key, &name) && name.len <= MAX_CLASS) {
        while (letters < name.len && ((name.at[letters] >= 'a' && name.at[letters] <= 'z') || name.at[letters] == '_'))
            letters++;
        if (letters == name.len)
            put(line, name);
    }
    put(line, T("\""));
}

static void put_call(Line *line)
{
    put(line, T("\"client\":\"")), put_escaped(line, plan.client);
    put(line, T("\",\"event\":\"")), put(line, call.event);
    put(line, T("\",\"tool\":")), put_name(line, subject_key());
    put(line, T(",\"session\":")), put_name(line, SESSION_ID);
    put(line, payload.scan.value[AGENT_ID].end ? T(",\"sub\":true") : T(",\"sub\":false"));
    put(line, T(",\"in\":")), put_number(line, payload.len, 1);
}

void record_call(size_t out, Text rest)
{
    static char room[512 << 10];
    Line line = {room, 0, sizeof room, 0};
    put(&line, T("{\"ts\":\"")), put_time(&line);
    put(&line, T("\",\"v\":1,\"plan\":\"")), put(&line, plan.crc), put(&line, T("\","));
    put_call(&line);
    put(&line, T(",\"out\":")), put_number(&line, out, 1);
    put(&line, T(",\"us\":")), put_number(&line, us_since(call.started), 1);
    put(&line, T(",")), put(&line, rest), put(&line, T("}\n"));
    append(plan.calls, &line, LOG, 0);
}

void observe(void)
{
    for (int i = 0; i < plan.native_count; i++) {
        const Native *n = &natives[i];
        char room[2560];
        Line line = {room, 0, sizeof room, 0};
        if (modules[n->module].asked != YES)
            continue;
        int spooled = has(n->fields, T("id"));
        put(&line, T("{\"ts\":\"")), put_time(&line), put(&line, T("\""));
        if (n->fields.len > 5 && !memcmp(n->fields.at, "type=", 5)) {
            Text rest = n->fields, type = item(&rest, ',');
            put(&line, T(",\"type\":\"")), put(&line, (Text){type.at + 5, type.len - 5});
            put(&line, T("\",\"source\":\"")), put(&line, modules[n->module].id), put(&line, T("\""));
        }
        if (spooled)
            put(&line, T(",\"id\":\"")), put_id(&line), put(&line, T("\""));
        if (has(n->fields, T("event")))
            put(&line, T(",\"event\":\"")), put(&line, call.event), put(&line, T("\""));
        if (has(n->fields, T("tool")))
            put(&line, T(",\"tool\":")), put_name(&line, subject_key());
        if (has(n->fields, T("session")))
            put(&line, T(",\"session\":")), put_name(&line, SESSION_ID);
        if (has(n->fields, T("sub")))
            put(&line, payload.scan.value[AGENT_ID].end ? T(",\"sub\":true") : T(",\"sub\":false"));
        if (has(n->fields, T("in")))
            put(&line, T(",\"in\":")), put_number(&line, payload.len, 1);
        if (has(n->fields, T("error")))
            put(&line, T(",\"error\":")), put_class(&line, ERROR_KIND);
        if (has(n->fields, T("cwd")))
            put(&line, T(",\"cwd\":")), put_text(&line, FOLDER, MAX_FOLDER);
        if (has(n->fields, T("agent")))
            put(&line, T(",\"agent\":")), put_name(&line, AGENT_ID);
        put(&line, T("}\n"));
        append(n->path, &line, spooled ? SPOOL : JOURNAL, n->max_bytes);
    }
}

void record_error(Text cause)
{
    char room[4096], path[4096];
    Line line = {room, 0, sizeof room, 0}, name = {path, 0, sizeof path, 0};
    put(&name, plan.state), put(&name, T("/errors/overdeck.jsonl"));
    put(&line, T("{\"ts\":\"")), put_time(&line), put(&line, T("\",\"event\":\"")), put(&line, call.event);
    put(&line, T("\",\"module\":\"overdeck\",\"cause\":\"")), put_escaped(&line, cause), put(&line, T("\",\"trace\":\"\"}\n"));
    if (plan.state.len && !name.full)
        append((Text){name.at, name.len}, &line, LOG, 0);
}
