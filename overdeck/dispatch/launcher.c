/* The native front: one hook call, from stdin to one JSON document or nothing.
 *
 *     overdeck-hook EVENT --plan DIR [--by-overdeck]
 *
 * Reads the payload, routes it by the plan of its event, and in the usual case (no module can act) writes one
 * calls line and exits without starting anything. Otherwise it starts Python on the same payload (dispatch/
 * front.py, which routes again and is the reference), waits for it, and answers in the gates' names should Python
 * die or be late. Whatever this file cannot decide for certain it leaves to Python: an accelerator and a guardian,
 * never a second opinion. Always exits 0: every other code means something else to each client.
 *
 * C11 and POSIX; Linux extras (memfd) have portable stand-ins. No allocation but mmap, no locale, nothing of stdio but rename.
 */
#ifdef __linux__
#define _GNU_SOURCE
#else
#define _POSIX_C_SOURCE 200809L
#define _DARWIN_C_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#if defined __BYTE_ORDER__ && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the search reads pairs of letters as little-endian numbers; on this machine use the Python front"
#endif

#ifndef OVERDECK_SOURCE_HASH
#define OVERDECK_SOURCE_HASH "unknown"
#endif
#ifdef __APPLE__
#define MTIME(st) ((st).st_mtimespec)
#define MAP_ANONYMOUS MAP_ANON
#ifndef O_PATH
#define O_PATH O_RDONLY
#endif
#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif
#else
#define MTIME(st) ((st).st_mtim)
#endif

enum {
    IDLE_MS = 2000,                 /* nothing more came */
    TOTAL_MS = 5000,                /* the document was not complete */
    MAX_PAYLOAD = 64 << 20,
    FIRST_READ = 64 << 10,
    MAX_MODULES = 512,
    MAX_LITERALS = 8192,
    MAX_LITERAL = 64,
    MAX_PLAN = 8 << 20,
    MAX_DEPTH = 500,                /* deeper documents are Python's to judge */
    MAX_ANSWER = 8 << 20,           /* more than a verdict of 4 MiB (runner.py) and the texts beside it */
    MAX_NAME = 200,                 /* bytes of a tool or session that go into a log line */
    MAX_CLASS = 40,                 /* bytes of a kind of error */
    MAX_FOLDER = 1024,              /* bytes of a working directory that a native observer was asked for */
    PYTHON_MARGIN_MS = 1500,        /* start and merge, beyond the modules' own total deadline */
    GRACE_MS = 400,                 /* after SIGTERM Python still answers for its gates */
    MODULE_GRACE_MS = 50,           /* between SIGTERM and SIGKILL for a module past its deadline (runner.py) */
    MAX_CAPTURE = 32 << 10,         /* bytes of what a module prints that are kept (runner.py) */
    CODE_NAMES = 16 << 10,
};

typedef struct {
    const char *at;
    size_t len;
} Text;

#define T(literal) ((Text){literal, sizeof(literal) - 1})

/* ---- one call ------------------------------------------------------------------------------------------------ */

typedef struct {
    Text id, tools;
    int gate, main_only, payload_literals;
    int literals;                   /* how many it has; 0 = always run */
    int unsearchable;               /* a literal too long for us: it may always act */
    int asked, may_act;
} Module;

typedef struct {
    Text word;
    int module;
} Literal;

typedef struct {
    int module;
    Text fields, path;
    uint64_t max_bytes;
} Native;

typedef struct {
    Text python, entry, bundle, fires, calls, state, client, named, crc;
    uint64_t total_deadline_ms;
    int stale;
} Plan;

static Plan plan;
static Module modules[MAX_MODULES];
static Literal literals[MAX_LITERALS];
static Native natives[MAX_MODULES];
static int module_count, literal_count, native_count, any_payload_literals;

static Text event;
static char plan_path[4096], plan_folder[4096];
static struct timespec started;
static volatile sig_atomic_t told_to_stop;

/* ---- small things -------------------------------------------------------------------------------------------- */

static int same(Text a, Text b)
{
    return a.len == b.len && !memcmp(a.at, b.at, a.len);
}

static uint64_t ms_since(struct timespec from)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)(now.tv_sec - from.tv_sec) * 1000 + (uint64_t)(now.tv_nsec / 1000000) -
           (uint64_t)(from.tv_nsec / 1000000);
}

static uint64_t us_since(struct timespec from)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)((now.tv_sec - from.tv_sec) * 1000000 + (now.tv_nsec - from.tv_nsec) / 1000);
}

/* A line being written: what does not fit is dropped, and `full` says so. */
typedef struct {
    char *at;
    size_t len, room;
    int full;
} Line;

static void put(Line *line, Text text)
{
    if (text.len > line->room - line->len)
        line->full = 1;
    if (line->full || !text.len)
        return;
    memcpy(line->at + line->len, text.at, text.len);
    line->len += text.len;
}

static void put_number(Line *line, uint64_t number, int width)
{
    char digits[20];
    int n = 0;
    do
        digits[sizeof digits - 1 - (size_t)n++] = (char)('0' + number % 10);
    while ((number /= 10) || n < width);
    put(line, (Text){digits + sizeof digits - n, (size_t)n});
}

/* Text of ours (ids, causes, paths) as the inside of a JSON string. */
static void put_escaped(Line *line, Text text)
{
    static const char hex[] = "0123456789abcdef";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.at[i];
        if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f) {
            char code[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
            put(line, (Text){code, 6});
        } else {
            put(line, (Text){text.at + i, 1});
        }
    }
}

/* UTC with milliseconds, from the civil-from-days algorithm (Hinnant): gmtime_r would pull in locale and zones. */
static void put_time(Line *line)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t days = now.tv_sec / 86400, rest = now.tv_sec % 86400;
    if (rest < 0)
        rest += 86400, days--;
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097;
    int64_t doe = days - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
    int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    int64_t month = mp < 10 ? mp + 3 : mp - 9, year = yoe + era * 400 + (month <= 2);
    put_number(line, (uint64_t)year, 4);
    put(line, T("-")), put_number(line, (uint64_t)month, 2);
    put(line, T("-")), put_number(line, (uint64_t)(doy - (153 * mp + 2) / 5 + 1), 2);
    put(line, T("T")), put_number(line, (uint64_t)(rest / 3600), 2);
    put(line, T(":")), put_number(line, (uint64_t)(rest / 60 % 60), 2);
    put(line, T(":")), put_number(line, (uint64_t)(rest % 60), 2);
    put(line, T(".")), put_number(line, (uint64_t)(now.tv_nsec / 1000000), 3);
    put(line, T("Z"));
}

/* Rename a log that is full. Whoever holds its lock and still finds it under its name is the one to do so: two that rolled
 * would throw away what the first had set aside. */
static void roll(const char *name, int fd, ino_t inode)
{
    char aside[4096 + 2];
    struct stat st;
    size_t len = strlen(name);
    memcpy(aside, name, len), memcpy(aside + len, ".1", 3);
    if (!flock(fd, LOCK_EX | LOCK_NB) && !stat(name, &st) && st.st_ino == inode)
        rename(name, aside);
}

/* End a line that a full disk once cut short, so that it takes no other with it; then ours, in one write(). */
static void write_line(int fd, off_t size, Line *line)
{
    char last = '\n';
    struct stat st;
    for (int tries = 0; tries < 2 && size > 0; tries++) {
        /* a look may fall into the middle of another writer's line: only what stays so is torn */
        struct timespec settle = {0, 2000000};
        if (pread(fd, &last, 1, size - 1) != 1 || last == '\n')
            break;
        if (!tries) {
            nanosleep(&settle, NULL);
            size = fstat(fd, &st) ? 0 : st.st_size;
        }
    }
    if (last != '\n' && line->len < line->room) {
        memmove(line->at + 1, line->at, line->len++);
        line->at[0] = '\n';
    }
    ssize_t written = write(fd, line->at, line->len);
    (void)written;
}

enum { LOG, JOURNAL, SPOOL };

/* One write() on O_APPEND; a full disk, a read-only folder or what is no file loses the line, never the verdict, and
 * nothing is waited for. A full journal is rolled once; a full spool takes no more, for who replays it would lose lines.
 * What was written to a spool that has just been taken away under us (overdeck/capture/spool.py) is written again. */
static void append(Text path, Line *line, int kind, uint64_t max_bytes)
{
    char name[4096];
    struct stat st;
    if (!path.len || path.len >= sizeof name || line->full)
        return;
    memcpy(name, path.at, path.len);
    name[path.len] = 0;
    for (int tries = 0, over = 0; tries < 3 && !over; tries++) {
        int fd = open(name, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (fd < 0 && errno == EWOULDBLOCK)
            continue;               /* it is being taken away: the next look finds another */
        over = 1;
        if (fd < 0)
            return;
        if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
            ;
        } else if (kind == LOG || (uint64_t)st.st_size <= max_bytes) {
            write_line(fd, st.st_size, line);
            over = kind != SPOOL || fstat(fd, &st) || st.st_nlink;
        } else if (kind == JOURNAL) {
            roll(name, fd, st.st_ino);
            over = tries > 0;
            if (over && (uint64_t)st.st_size <= 2 * max_bytes)
                write_line(fd, st.st_size, line);   /* who rolls it has not come to it yet */
        }
        close(fd);
    }
}

static size_t say(const char *text, size_t len)
{
    size_t done = 0;
    while (done < len) {
        ssize_t n = write(1, text + done, len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;                  /* the client is gone: not an error */
        done += (size_t)n;
    }
    return done;
}

/* ---- the plan ------------------------------------------------------------------------------------------------ */

static uint32_t crc_table[8][256];

/* CRC-32 as zlib computes it, eight bytes a step: a plan of 200 modules is checked in 40 us. */
static uint32_t crc32_of(const uint8_t *p, size_t len)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++)
            c = c >> 1 ^ (c & 1 ? 0xedb88320u : 0);
        crc_table[0][i] = c;
    }
    for (int k = 1; k < 8; k++)
        for (int i = 0; i < 256; i++)
            crc_table[k][i] = crc_table[k - 1][i] >> 8 ^ crc_table[0][crc_table[k - 1][i] & 255];
    uint32_t c = 0xffffffffu;
    for (; len >= 8; p += 8, len -= 8) {
        uint32_t a = c ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
        c = crc_table[7][a & 255] ^ crc_table[6][a >> 8 & 255] ^ crc_table[5][a >> 16 & 255] ^ crc_table[4][a >> 24] ^
            crc_table[3][p[4]] ^ crc_table[2][p[5]] ^ crc_table[1][p[6]] ^ crc_table[0][p[7]];
    }
    for (; len; p++, len--)
        c = c >> 8 ^ crc_table[0][(c ^ *p) & 255];
    return ~c;
}

/* Owned by the user or root, not writable by others (a private group of the user's own counts as the user). */
static int trusted(const struct stat *st)
{
    uid_t uid = geteuid();
    if (st->st_uid != 0 && st->st_uid != uid)
        return 0;
    if (st->st_mode & 02)
        return 0;
    return !(st->st_mode & 020) || (st->st_gid == (gid_t)uid && st->st_gid == getegid());
}

/* The number a line begins with, and the line moved past it and one blank; 0 where there is none. */
static int take_number(Text *rest, uint64_t *out)
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
static Text item(Text *list, char separator);

static Text word(Text *rest)
{
    return item(rest, ' ');
}

/* The first item of a list, and the list moved past it. */
static Text item(Text *list, char separator)
{
    const char *end = memchr(list->at, separator, list->len);
    Text one = {list->at, end ? (size_t)(end - list->at) : list->len};
    size_t passed = one.len + (end != NULL);
    list->at += passed, list->len -= passed;
    return one;
}

static int has(Text list, Text name)
{
    while (list.len >= name.len && list.len)
        if (same(item(&list, ','), name))
            return 1;
    return 0;
}

enum { NO, YES, MAYBE };

/* Whether a module's tools= asks for this subject: by name or "*"; "?" is a regex for Python to decide. */
static int asks_for(Text tools, Text subject)
{
    int answer = NO;
    while (tools.len) {
        Text one = item(&tools, '|');
        if (same(one, subject) || (one.len == 1 && *one.at == '*'))
            return YES;
        if (one.len == 1 && *one.at == '?')
            answer = MAYBE;
    }
    return answer;
}

static int module_named(Text id)
{
    /* A module's lines follow its own, so the last one is almost always meant. */
    for (int i = module_count - 1; i >= 0; i--)
        if (same(modules[i].id, id))
            return i;
    return -1;
}

/* stat of a source. Those of one folder of modules stand together, so a path's first part is walked once for all of
 * them: 200 modules cost a tenth less. */
static int stat_source(const char *path, size_t len, struct stat *st)
{
    static char folder[4096];
    static size_t folder_len;
    static int fd = -1;
    size_t shared = len;
    for (int parts = 0; shared && (parts += path[shared - 1] == '/') < 2;)
        shared--;
    if (!shared || shared != folder_len || memcmp(path, folder, shared)) {
        if (fd >= 0)
            close(fd);
        fd = -1;
        memcpy(folder, path, folder_len = shared);
        folder[shared] = 0;
    } else if (fd >= 0 || (fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC)) >= 0) {
        return fstatat(fd, path + shared, st, 0);
    }
    return stat(path, st);
}

static int source_is_fresh(Text line)
{
    uint64_t mtime, size, inode;
    char path[4096];
    if (!take_number(&line, &mtime) || !take_number(&line, &size) || !take_number(&line, &inode) ||
        line.len >= sizeof path)
        return 0;
    memcpy(path, line.at, line.len);
    path[line.len] = 0;
    struct stat st;
    if (stat_source(path, line.len, &st))
        return !mtime && !size && !inode;
    uint64_t seen = (uint64_t)MTIME(st).tv_sec * 1000000000u + (uint64_t)MTIME(st).tv_nsec;
    return seen == mtime && (uint64_t)st.st_size == size && (uint64_t)st.st_ino == inode;
}

/* One line of a plan whose crc fits; 0 when it is not understood. */
static int plan_line(Text line)
{
    Text key = word(&line);
    if (same(key, T("source"))) {
        if (!plan.stale && !source_is_fresh(line))
            plan.stale = 1;
    } else if (same(key, T("module"))) {
        if (module_count == MAX_MODULES)
            return 0;
        Module *m = &modules[module_count++];
        m->id = word(&line);
        Text cls = word(&line), flags = word(&line);
        m->gate = same(cls, T("gate"));
        m->main_only = has(flags, T("main-only"));
        m->payload_literals = has(flags, T("payload-literals"));
        any_payload_literals |= m->payload_literals;
        if (line.len < 6 || memcmp(line.at, "tools=", 6))
            return 0;
        m->tools = (Text){line.at + 6, line.len - 6};
    } else if (same(key, T("literals"))) {
        int of = module_named(word(&line));
        while (line.len) {
            Text one = word(&line);
            if (of < 0 || literal_count == MAX_LITERALS || !one.len)
                return 0;
            modules[of].unsearchable |= one.len > MAX_LITERAL;
            literals[literal_count++] = (Literal){one, of};
            modules[of].literals++;
        }
    } else if (same(key, T("native"))) {
        Native *n = &natives[native_count];
        if (native_count == MAX_MODULES || (n->module = module_named(word(&line))) < 0)
            return 0;
        n->fields = word(&line);
        if (!take_number(&line, &n->max_bytes))
            return 0;
        n->path = line;
        native_count++;
    } else if (same(key, T("total-deadline-ms"))) {
        return take_number(&line, &plan.total_deadline_ms) && !line.len && plan.total_deadline_ms <= 600000;
    } else if (same(key, T("event"))) {
        return same(line, event);
    } else {
        Text *into = same(key, T("python"))   ? &plan.python
                     : same(key, T("entry"))  ? &plan.entry
                     : same(key, T("bundle")) ? &plan.bundle
                     : same(key, T("fires"))  ? &plan.fires
                     : same(key, T("calls"))  ? &plan.calls
                     : same(key, T("state"))  ? &plan.state
                     : same(key, T("client")) ? &plan.client
                                              : NULL;
        if (into)
            *into = line;
        else if (same(key, T("named")))
            plan.named = line;                /* the client's own name of the event */
        else
            return same(key, T("details"));   /* of what only Python needs, behind the seal */
    }
    return 1;
}

/* Check the seal of "HEADER LENGTH\n…crc XXXXXXXX\n" at the start of these bytes; `each` sees every line inside. */
static int checked_lines(const char *bytes, size_t size, Text header, Text *seal, int (*each)(Text))
{
    uint64_t length;
    Text stated = {bytes + header.len + 1, 8};
    if (size < header.len + 23 || memcmp(bytes, header.at, header.len) || bytes[header.len] != ' ' ||
        bytes[header.len + 9] != '\n' || !take_number(&stated, &length) || length > size ||
        length < header.len + 23)
        return 0;
    const char *end = bytes + length - 13;
    if (memcmp(end, "crc ", 4) || end[12] != '\n' || end[-1] != '\n')
        return 0;
    static const char hex[] = "0123456789abcdef";
    uint32_t crc = crc32_of((const uint8_t *)bytes, (size_t)(end - bytes));
    for (int i = 0; i < 8; i++)
        if (end[4 + i] != hex[crc >> (28 - 4 * i) & 15])
            return 0;
    *seal = (Text){end + 4, 8};
    const char *at = bytes + header.len + 10;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop || !each((Text){at, (size_t)(stop - at)}))
            return 0;
        at = stop + 1;
    }
    return 1;
}

/* How much of a sealed file is sealed, by its first line; the rest is Python's alone. All of it for any other file. */
static size_t sealed_part(const char *bytes, size_t got, size_t all)
{
    uint64_t length;
    const char *end = memchr(bytes, '\n', got < 64 ? got : 64);
    Text stated = {end ? end - 8 : bytes, 8};
    if (!end || end - bytes < 9 || end[-9] != ' ' || !take_number(&stated, &length) || length > all)
        return all;
    return length;
}

/* The bytes of a file of ours, in memory of our own (a mapped file can be cut short under us); NULL when it is missing,
 * not ours, empty or too big. */
static const char *read_own(const char *path, size_t *size)
{
    static char small[128 << 10];
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    char *bytes = NULL;
    *size = 0;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && trusted(&st) && st.st_size > 0 && st.st_size <= MAX_PLAN) {
        size_t all = (size_t)st.st_size, wanted = all < 4096 ? all : 4096;
        bytes = small;
        if (all > sizeof small)
            bytes = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        while (bytes != MAP_FAILED && *size < wanted) {
            ssize_t n = read(fd, bytes + *size, wanted - *size);
            if (n <= 0 && !(n < 0 && errno == EINTR))
                break;
            *size += n > 0 ? (size_t)n : 0;
            if (*size == wanted && *size <= 4096)
                wanted = sealed_part(bytes, *size, all);
        }
        if (bytes == MAP_FAILED || *size < wanted)
            bytes = NULL;
    }
    close(fd);
    return bytes;
}

static int load_plan(void)
{
    size_t size;
    struct stat folder;
    if (stat(plan_folder, &folder) || !trusted(&folder))
        return 0;
    const char *bytes = read_own(plan_path, &size);
    if (bytes && checked_lines(bytes, size, T("overdeck-plan 1"), &plan.crc, plan_line) && plan.python.len && plan.entry.len &&
        plan.calls.len)
        return 1;
    module_count = literal_count = native_count = 0;
    plan = (Plan){0};
    return 0;
}

static int recipe_line(Text line)
{
    Text key = word(&line);
    if (same(key, T("python")))
        plan.python = line;
    else if (same(key, T("entry")))
        plan.entry = line;
    else if (same(key, T("client")))
        plan.client = line;
    else if (same(key, T("calls")))
        plan.calls = line;
    else if (same(key, T("state")))
        plan.state = line;
    return 1;
}

/* Without a plan, the recipe beside it still says which Python can make one. */
static int load_recipe(void)
{
    struct stat trust;
    if (stat(plan_folder, &trust) || !trusted(&trust))
        return 0;
    char path[4096 + 8];
    size_t folder = strlen(plan_folder), size;
    Text seal;
    memcpy(path, plan_folder, folder);
    memcpy(path + folder, "/recipe", 8);
    const char *bytes = read_own(path, &size);
    return bytes && checked_lines(bytes, size, T("overdeck-recipe 1"), &seal, recipe_line) && plan.python.len &&
           plan.entry.len;
}

/* ---- the payload: a resumable scan as strict as json.loads -------------------------------------------------------- */

static uint8_t *payload;
static size_t payload_len, payload_room;

enum { VALUE, FIRST_KEY, KEY, COLON, FIRST_ITEM, AFTER, IN_STRING, ESCAPED, UNICODE, IN_UTF8, SCALAR, DONE, BAD };
enum { TOOL_NAME, TOOL_INPUT, AGENT_ID, EVENT_NAME, SESSION_ID, SOURCE, ERROR_KIND, FOLDER, OTHER_KEY, KEYS };
static const Text key_names[OTHER_KEY] = {
    {"tool_name", 9}, {"tool_input", 10}, {"agent_id", 8}, {"hook_event_name", 15}, {"session_id", 10}, {"source", 6},
    {"error", 5}, {"cwd", 3},
};

typedef struct {
    size_t start, end;              /* a value's bytes in the payload, quotes included; end 0 = absent */
} Span;

static struct Scan {
    size_t at, token;               /* next byte to look at; where the current string or scalar began */
    int state, depth, key, is_key, escaped_key, hex_left, utf8_left;
    uint8_t utf8_low, utf8_high;
    uint8_t nesting[MAX_DEPTH / 8 + 1];     /* one bit a level: object or array */
    Span value[KEYS];
} scan = {.state = VALUE, .key = OTHER_KEY};

static int in_object(void)
{
    return scan.nesting[(scan.depth - 1) >> 3] >> ((scan.depth - 1) & 7) & 1;
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

static void value_ends(size_t end)
{
    if (scan.depth == 1)
        scan.value[scan.key].end = end;
}

static void string_ends(size_t end)             /* end: past the closing quote */
{
    if (!scan.is_key) {
        value_ends(end);
        return;
    }
    if (scan.depth != 1)
        return;
    scan.key = OTHER_KEY;
    Text name = {(const char *)payload + scan.token + 1, end - scan.token - 2};
    for (int k = 0; k < OTHER_KEY; k++)
        if (same(name, key_names[k]))
            scan.key = k;
    if (memchr(name.at, '\\', name.len))
        scan.escaped_key = 1;
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
static size_t plain_until(size_t p, size_t end)
{
#ifdef __SSE2__
    while (p + WIDE < end) {            /* one byte more: what an escape at the end of the block escapes */
        size_t block = p;
        p += WIDE;
        for (uint64_t stops = stops_in(payload + block); stops;) {
            int at = __builtin_ctzll(stops);
            const uint8_t *c = payload + block + at;
            if (*c != '\\' || !usual_escape(c[1]))
                return block + (size_t)at;
            p += at == WIDE - 1;
            stops &= ~(3ull << at);
        }
    }
#endif
    while (p < end && payload[p] >= 0x20 && payload[p] < 0x80 && payload[p] != '"') {
        if (payload[p] == '\\' && (p + 1 == end || !usual_escape(payload[p + 1])))
            break;
        p += 1 + (payload[p] == '\\');
    }
    return p;
}

/* What may follow a first byte of UTF-8: how many bytes, and the range of the next one; 0 for none. */
static int utf8_sequence(uint8_t c)
{
    scan.utf8_low = 0x80, scan.utf8_high = 0xbf;
    if (c >= 0xc2 && c <= 0xdf)
        return 1;
    if (c >= 0xe0 && c <= 0xef) {
        if (c == 0xe0)
            scan.utf8_low = 0xa0;
        if (c == 0xed)
            scan.utf8_high = 0x9f;
        return 2;
    }
    if (c >= 0xf0 && c <= 0xf4) {
        if (c == 0xf0)
            scan.utf8_low = 0x90;
        if (c == 0xf4)
            scan.utf8_high = 0x8f;
        return 3;
    }
    return 0;
}

/* Inside a string from p on; returns where it stopped, with scan.state saying why. */
static size_t scan_string(size_t p, size_t end)
{
    while (p < end) {
        p = plain_until(p, end);
        if (p == end)
            return p;
        uint8_t c = payload[p++];
        if (c == '"') {
            string_ends(p);
            scan.state = scan.is_key ? COLON : AFTER;
            return p;
        }
        if (c == '\\') {
            scan.state = ESCAPED;
            return p;
        } else if (c >= 0x80 && (scan.utf8_left = utf8_sequence(c))) {
            scan.state = IN_UTF8;
            return p;
        } else {
            scan.state = BAD;
            return p;
        }
    }
    return p;
}

static void opens(uint8_t c, size_t at)
{
    if (scan.depth == MAX_DEPTH) {
        scan.state = BAD;
        return;
    }
    if (scan.depth == 1)
        scan.value[scan.key] = (Span){at, 0};
    uint8_t bit = (uint8_t)(1 << (scan.depth & 7));
    if (c == '{')
        scan.nesting[scan.depth >> 3] |= bit;
    else
        scan.nesting[scan.depth >> 3] &= (uint8_t)~bit;
    scan.depth++;
    scan.state = c == '{' ? FIRST_KEY : FIRST_ITEM;
}

static void closes(size_t end)
{
    scan.depth--;
    value_ends(end);
    scan.state = scan.depth ? AFTER : DONE;
}

/* Scan what has arrived; may be called again with more. Accepts only what json.loads accepts. */
static void scan_until(size_t end)
{
    size_t p = scan.at;
    while (p < end && scan.state != BAD) {
        if (scan.state == IN_STRING) {
            p = scan_string(p, end);
            continue;
        }
        uint8_t c = payload[p];
        switch (scan.state) {
        case ESCAPED:
            p++;
            if (c == 'u')
                scan.state = UNICODE, scan.hex_left = 4;
            else
                scan.state = c && strchr("\"\\/bfnrt", c) ? IN_STRING : BAD;
            continue;
        case UNICODE:
            p++;
            if (!((c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f')))
                scan.state = BAD;
            else if (!--scan.hex_left)
                scan.state = IN_STRING;
            continue;
        case IN_UTF8:
            p++;
            if (c < scan.utf8_low || c > scan.utf8_high)
                scan.state = BAD;
            else if (!--scan.utf8_left)
                scan.state = IN_STRING;
            scan.utf8_low = 0x80, scan.utf8_high = 0xbf;
            continue;
        case SCALAR:
            if (c != ',' && c != ']' && c != '}' && c != ' ' && c != '\n' && c != '\r' && c != '\t') {
                p++;
                continue;
            }
            if (!scalar_is_valid(payload + scan.token, p - scan.token)) {
                scan.state = BAD;
                continue;
            }
            value_ends(p);
            scan.state = AFTER;
        }
        if (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
            p++;
            continue;
        }
        size_t here = p++;
        switch (scan.state) {
        case FIRST_KEY:
            if (c == '}') {
                closes(p);
                break;
            }
            __attribute__((fallthrough));
        case KEY:
            scan.token = here, scan.is_key = 1;
            scan.state = c == '"' ? IN_STRING : BAD;
            break;
        case COLON:
            scan.state = c == ':' ? VALUE : BAD;
            break;
        case FIRST_ITEM:
            if (c == ']') {
                closes(p);
                break;
            }
            __attribute__((fallthrough));
        case VALUE:
            if (!scan.depth && c != '{') {
                scan.state = BAD;
            } else if (c == '{' || c == '[') {
                opens(c, here);
            } else {
                if (scan.depth == 1)
                    scan.value[scan.key] = (Span){here, 0};
                scan.token = here, scan.is_key = 0;
                scan.state = c == '"' ? IN_STRING : SCALAR;
            }
            break;
        case AFTER:
            if (c == ',')
                scan.state = in_object() ? KEY : VALUE;
            else if (c == (in_object() ? '}' : ']'))
                closes(p);
            else
                scan.state = BAD;
            break;
        default:                    /* something behind the document */
            scan.state = BAD;
        }
    }
    scan.at = p;
}

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
        payload = (uint8_t *)(edge - FIRST_READ);
        payload_room = room;
#ifdef MADV_HUGEPAGE
        madvise(payload + FIRST_READ, room - FIRST_READ, MADV_HUGEPAGE);
#endif
        return;
    }
    payload = spare, payload_room = sizeof spare;
}

/* Wait until one of these descriptors (or -1) can be read. SIGTERM is let through only here, so that none is missed
 * between a look at `told_to_stop` and the wait. Returns how many are ready; 0 at the end of the time or on a signal. */
static int wait_readable(const int *fds, int count, int ms, int *ready)
{
    sigset_t open_mask;
    struct timespec limit = {ms / 1000, ms % 1000 * 1000000L};
    sigemptyset(&open_mask);
#ifdef __linux__
    struct pollfd polled[3];            /* not select: a client may leave us more than a thousand open files */
    for (int i = 0; i < count; i++)
        polled[i] = (struct pollfd){fds[i], POLLIN, 0};
    int n = ppoll(polled, (nfds_t)count, &limit, &open_mask);
    for (int i = 0; i < count; i++)
        ready[i] = n > 0 && polled[i].revents;
#else
    fd_set set;
    int last = -1;
    FD_ZERO(&set);
    for (int i = 0; i < count; i++)
        if (fds[i] >= FD_SETSIZE) {
            return -1;
        } else if (fds[i] >= 0) {
            FD_SET(fds[i], &set);
            last = fds[i] > last ? fds[i] : last;
        }
    int n = pselect(last + 1, &set, NULL, NULL, &limit, &open_mask);
    for (int i = 0; i < count; i++)
        ready[i] = n > 0 && fds[i] >= 0 && FD_ISSET(fds[i], &set);
#endif
    return n > 0 ? n : n < 0 && errno != EINTR ? -1 : 0;
}

static int cut_short;               /* reading ended by one of our bounds, not by the client */

/* Read one document: until it is complete, end of file, 2 s of silence, 5 s in all, or 64 MiB. 0 = not complete. */
static int read_payload(void)
{
    const int in = 0;
    int bom_checked = 0, ready;
    make_room();
    for (;;) {
        int left = TOTAL_MS - (int)ms_since(started), wait = left < IDLE_MS ? left : IDLE_MS;
        if (scan.state == DONE || wait < 0)
            wait = 0;
        int n = wait_readable(&in, 1, wait, &ready);
        if (n < 0)
            return scan.state == DONE;  /* there is no stdin */
        if (n == 0 || payload_len == payload_room) {
            cut_short = scan.state != DONE || n > 0;
            return !cut_short;
        }
        size_t room = payload_len < FIRST_READ ? FIRST_READ - payload_len : 256 << 10;
        if (room > payload_room - payload_len)
            room = payload_room - payload_len;
        ssize_t got = read(0, payload + payload_len, room);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return scan.state == DONE;
        payload_len += (size_t)got;
        if (!bom_checked) {
            if (payload[0] == 0xef && payload_len < 3)
                continue;
            bom_checked = 1;
            if (payload_len >= 3 && !memcmp(payload, "\xef\xbb\xbf", 3))
                scan.at = 3;
        }
        scan_until(payload_len);
    }
}

/* A top-level value that is a plain string (no escapes): its inside. Empty and 0 for anything else. */
static int plain_string(int key, Text *out)
{
    Span span = scan.value[key];
    *out = (Text){"", 0};
    if (span.end < span.start + 2 || payload[span.start] != '"')
        return 0;
    Text inside = {(const char *)payload + span.start + 1, span.end - span.start - 2};
    if (memchr(inside.at, '\\', inside.len))
        return 0;
    *out = inside;
    return 1;
}

/* ---- routing and prefilter --------------------------------------------------------------------------------------- */

static void found(int literal)
{
    modules[literals[literal].module].may_act = 1;
}

static void all_found(const uint8_t *wanted)
{
    for (int i = 0; i < literal_count; i++)
        if (wanted[i])
            found(i);
}

/* The marks a shell takes out of a word: ' " and \. A literal holds none of them. */
static int is_mark(uint8_t c)
{
    static const uint8_t marks[256] = {['\''] = 1, ['"'] = 1, ['\\'] = 1};
    return marks[c];
}

enum { BLOCK = 16 };

/* The marks among the next sixteen bytes, a bit each. */
static unsigned marks_in(const uint8_t *s, size_t len)
{
    unsigned marks = 0;
#ifdef __SSE2__
    if (len >= BLOCK) {
        const __m128i single = _mm_set1_epi8('\''), twice = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
        __m128i v = _mm_loadu_si128((const void *)s);
        return (unsigned)_mm_movemask_epi8(
            _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(v, single), _mm_cmpeq_epi8(v, twice)), _mm_cmpeq_epi8(v, slash)));
    }
#endif
    for (size_t i = 0; i < len && i < BLOCK; i++)
        marks |= (unsigned)is_mark(s[i]) << i;
    return marks;
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

/* ---- literals in a long text: no copy, most bytes looked at once ---- */

typedef struct {
    int literal, next;              /* next entry of the same slot, or -1 */
    size_t offset;                  /* where in the literal the pair stands */
} Pair;

/* Pairs of neighbouring letters, by which literals are found: a bitmap to rule out, chains to look further. */
typedef struct {
    uint8_t seen[65536 / 8];
    int slots[4096], count;
    Pair pairs[1 << 15];
} PairTable;

static PairTable rare, seams;

static unsigned pair_of(uint8_t a, uint8_t b)
{
    return (unsigned)a | (unsigned)b << 8;
}

static unsigned slot_of(unsigned pair)
{
    return (pair * 40503u & 0xffff) >> 4;
}

static int add_pair(PairTable *table, int literal, size_t offset)
{
    const uint8_t *w = (const uint8_t *)literals[literal].word.at + offset;
    unsigned pair = pair_of(w[0], w[1]);
    if (table->count == sizeof table->pairs / sizeof *table->pairs)
        return 0;
    table->seen[pair >> 3] |= (uint8_t)(1 << (pair & 7));
    int *slot = &table->slots[slot_of(pair)];
    table->pairs[table->count] = (Pair){literal, *slot, offset};
    *slot = table->count++;
    return 1;
}

/* How common a byte is in code and prose: the rarer the pair a search looks for, the fewer false stops. */
static int common(uint8_t c)
{
    static const char order[] = "zqxjkvbwpygfmcudlhrsinoate ";
    const char *at = c >= 'A' && c <= 'Z' ? strchr(order, c + 32) : c ? strchr(order, c) : NULL;
    int rank = at ? (int)(at - order) + 4 : c >= '0' && c <= '9' ? 8 : 3;
    return c >= 'A' && c <= 'Z' ? rank / 3 : rank;
}

/* Of each literal the rarest three letters (two pairs, so that every second byte is enough), and all its pairs for
 * the seams that marks leave. 0 when there is no room. */
static int prepare_tables(const uint8_t *wanted)
{
    memset(rare.slots, 0xff, sizeof rare.slots);
    memset(seams.slots, 0xff, sizeof seams.slots);
    for (int i = 0; i < literal_count; i++) {
        Text w = literals[i].word;
        if (!wanted[i])
            continue;
        for (size_t o = 0; o + 2 <= w.len; o++)
            if (!add_pair(&seams, i, o))
                return 0;
        size_t best = 0;
        int cost = 1 << 30;
        for (size_t o = 0; o + 3 <= w.len; o++) {
            int a = common((uint8_t)w.at[o]), b = common((uint8_t)w.at[o + 1]), c = common((uint8_t)w.at[o + 2]);
            if (a * b + b * c < cost)
                cost = a * b + b * c, best = o;
        }
        if (w.len >= 3 && !(add_pair(&rare, i, best) && add_pair(&rare, i, best + 1)))
            return 0;
    }
    return 1;
}

static int in_table(const PairTable *table, unsigned pair)
{
    return table->seen[pair >> 3] >> (pair & 7) & 1;
}

#define SEEN(two_letters) (rare.seen[(uint16_t)(two_letters) >> 3] >> ((two_letters) & 7))

/* Literals as they stand in the text. */
static void search_plain(const uint8_t *text, size_t len)
{
    size_t p = 0;
    while (p + 2 <= len) {
        /* eight pairs a step: almost always none of them begins anything */
        for (; p + 16 <= len; p += 16) {
            uint64_t low, high;
            memcpy(&low, text + p, 8), memcpy(&high, text + p + 8, 8);
            if ((SEEN(low) | SEEN(low >> 16) | SEEN(low >> 32) | SEEN(low >> 48) | SEEN(high) | SEEN(high >> 16) |
                 SEEN(high >> 32) | SEEN(high >> 48)) & 1)
                break;
        }
        for (size_t stop = p + 16; p + 2 <= len && p < stop; p += 2) {
            unsigned pair = pair_of(text[p], text[p + 1]);
            if (!in_table(&rare, pair))
                continue;
            for (int e = rare.slots[slot_of(pair)]; e >= 0; e = rare.pairs[e].next) {
                Text w = literals[rare.pairs[e].literal].word;
                size_t o = rare.pairs[e].offset;
                if (p >= o && p - o + w.len <= len && !memcmp(text + p - o, w.at, w.len))
                    found(rare.pairs[e].literal);
            }
        }
    }
}

static size_t seam_work;
enum { MAX_SEAM_WORK = 64 << 20 };  /* letters compared: a text made to be slow skips nothing instead */

/* Whether a literal, split before `after` of its letters, stands around a seam: marks are passed over both ways. */
static int stands_around(Text w, size_t after, const uint8_t *text, size_t seam, size_t len)
{
    size_t p = seam;
    seam_work += w.len;
    for (size_t k = after; k > 0;) {
        if (!p)
            return 0;
        if (is_mark(text[--p]))
            continue;
        if (text[p] != (uint8_t)w.at[--k])
            return 0;
    }
    p = seam;
    for (size_t k = after; k < w.len; p++) {
        if (p == len)
            return 0;
        if (is_mark(text[p]))
            continue;
        if (text[p] != (uint8_t)w.at[k++])
            return 0;
    }
    return 1;
}

/* What stands around the run of marks that begins at i: one past the run, or 0 when the text may spell letters another
 * way there. */
static size_t search_seam(const uint8_t *text, size_t i, size_t len)
{
    uint8_t before = i ? text[i - 1] : 0;
    for (; i < len && is_mark(text[i]); i++)
        if (spells_otherwise(text, i, len))
            return 0;
    if (i == len)
        return len;
    unsigned pair = pair_of(before, text[i]);
    if (in_table(&seams, pair)) {
        if (seam_work > MAX_SEAM_WORK)
            return 0;
        for (int e = seams.slots[slot_of(pair)]; e >= 0; e = seams.pairs[e].next) {
            Text w = literals[seams.pairs[e].literal].word;
            if (stands_around(w, seams.pairs[e].offset + 1, text, i, len))
                found(seams.pairs[e].literal);
        }
    }
    return i;
}

#ifdef __SSE2__
/* Of 64 bytes, a bit each: backslashes, all marks, dollars, what a backslash must not stand before, and (a superset of)
 * the letters of literals. */
typedef struct {
    uint64_t slash, any, dollar, odd, letter;
} Marks;

static Marks marks_of(const uint8_t *s)
{
    const __m128i single = _mm_set1_epi8('\''), twice = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\');
    const __m128i dollar = _mm_set1_epi8('$'), other = _mm_set1_epi8('/'), code = _mm_set1_epi8('u');
    const __m128i comma = _mm_set1_epi8(',');       /* all of A-Z a-z 0-9 _ . - are above it */
    Marks m = {0, 0, 0, 0, 0};
#define BITS(found) ((uint64_t)(unsigned)_mm_movemask_epi8(found) << part)
    for (int part = 0; part < WIDE; part += 16) {
        __m128i v = _mm_loadu_si128((const void *)(s + part)), is_slash = _mm_cmpeq_epi8(v, slash);
        m.slash |= BITS(is_slash);
        m.any |= BITS(_mm_or_si128(is_slash, _mm_or_si128(_mm_cmpeq_epi8(v, single), _mm_cmpeq_epi8(v, twice))));
        m.odd |= BITS(_mm_or_si128(is_slash, _mm_or_si128(_mm_cmpeq_epi8(v, other), _mm_cmpeq_epi8(v, code))));
        m.dollar |= BITS(_mm_cmpeq_epi8(v, dollar));
        m.letter |= BITS(_mm_cmpgt_epi8(v, comma));
    }
#undef BITS
    return m;
}

/* The bits of these bytes, each moved to the byte behind. */
static uint64_t behind(uint64_t bits, uint64_t bits_before)
{
    return bits << 1 | bits_before >> (WIDE - 1);
}

/* Where the run of marks begins that ends before this place. */
static size_t run_before(const uint8_t *text, size_t end)
{
    while (end && is_mark(text[end - 1]))
        end--;
    return end;
}
#endif

/* Literals that only taking the marks out makes visible (g''it, \rm): looked for where marks stand between two
 * letters that are neighbours in some literal. 0 when the text may spell letters another way. */
static int search_seams(const uint8_t *text, size_t len)
{
    size_t seen = 0, block = 0;
#ifdef __SSE2__
    Marks last = {0, 0, 0, 0, 0};
    uint64_t open = 0;                  /* a run behind a letter reaches into this block */
    for (; block + WIDE <= len; block += WIDE) {
        Marks m = marks_of(text + block);
        if ((m.odd & behind(m.slash, last.slash)) | (m.any & behind(m.dollar, last.dollar))) {
            if (block && spells_otherwise(text, block - 1, len))
                return 0;
            for (uint64_t marks = m.any; marks; marks &= marks - 1)
                if (spells_otherwise(text, block + (size_t)__builtin_ctzll(marks), len))
                    return 0;
        }
        /* a run that begins behind a letter: added to its marks, that bit runs on to the byte behind them */
        uint64_t begun = m.any & ~behind(m.any, last.any) & behind(m.letter, last.letter), ended;
        int over = __builtin_add_overflow(m.any, begun, &ended);
        over |= __builtin_add_overflow(ended, open, &ended);
        open = (uint64_t)over;
        for (ended &= ~m.any & m.letter; ended; ended &= ended - 1)
            if (!search_seam(text, run_before(text, block + (size_t)__builtin_ctzll(ended)), len))
                return 0;
        last = m;
    }
    block = run_before(text, block);    /* a run that reaches over the edge is looked at from its begin */
#endif
    for (; block < len; block += BLOCK)
        for (unsigned marks = marks_in(text + block, len - block); marks; marks &= marks - 1) {
            size_t i = block + (size_t)__builtin_ctz(marks);
            if (i >= seen && !(seen = search_seam(text, i, len)))
                return 0;
        }
    return 1;
}

static void search_long(const uint8_t *text, size_t len, const uint8_t *wanted)
{
    if (!prepare_tables(wanted)) {
        all_found(wanted);
        return;
    }
    search_plain(text, len);
    for (int i = 0; i < literal_count; i++) {
        Text w = literals[i].word;
        if (!wanted[i] || w.len >= 3)
            continue;
        size_t o = w.len == 2 && common((uint8_t)w.at[1]) < common((uint8_t)w.at[0]);  /* by its rarer letter */
        const uint8_t *p = text + o, *end = text + len;
        for (; p < end && (p = memchr(p, w.at[o], (size_t)(end - p))); p++)
            if ((size_t)(end - p) >= w.len - o && !memcmp(p - o, w.at, w.len)) {
                found(i);
                break;
            }
    }
    if (!search_seams(text, len))
        all_found(wanted);
}

/* ---- literals in a short text: take the marks out, then look ---- */

static uint8_t bare[16 << 10];

/* The text without marks, in `bare`; its length, or -1 when it may spell letters another way. */
static ssize_t strip(const uint8_t *s, size_t len)
{
    size_t out = 0;
    for (size_t i = 0; i < len; i++) {
        if (!is_mark(s[i]))
            bare[out++] = s[i];
        else if (spells_otherwise(s, i, len))
            return -1;
    }
    return (ssize_t)out;
}

/* Short texts: most literals are ruled out by a letter that the text does not have at all. */
static void search_short(const uint8_t *text, size_t len, const uint8_t *wanted)
{
    uint8_t present[256] = {0};
    for (size_t i = 0; i < len; i++)
        present[text[i]] = 1;
    for (int i = 0; i < literal_count; i++) {
        Text w = literals[i].word;
        if (!wanted[i] || !present[(uint8_t)w.at[0]] || !present[(uint8_t)w.at[w.len - 1]] ||
            !present[(uint8_t)w.at[w.len / 2]] || modules[literals[i].module].may_act)
            continue;
        size_t o = w.len == 2 && common((uint8_t)w.at[1]) < common((uint8_t)w.at[0]);  /* by its rarer letter */
        const uint8_t *p = text + o, *end = text + len;
        for (; p < end && (p = memchr(p, w.at[o], (size_t)(end - p))); p++)
            if ((size_t)(end - p) >= w.len - o && !memcmp(p - o, w.at, w.len)) {
                found(i);
                break;
            }
    }
}

/* Let every asked module whose literal occurs in this text act; `whole` picks those that look at the payload. */
static void prefilter(const uint8_t *text, size_t len, int whole)
{
    static uint8_t wanted[MAX_LITERALS];
    int any = 0;
    for (int i = 0; i < literal_count; i++) {
        const Module *m = &modules[literals[i].module];
        wanted[i] = m->asked && m->payload_literals == whole;
        any |= wanted[i];
    }
    if (!any)
        return;
    if (len > sizeof bare) {
        search_long(text, len, wanted);
        return;
    }
    ssize_t left = strip(text, len);
    if (left < 0)
        all_found(wanted);
    else
        search_short(bare, (size_t)left, wanted);
}

/* Whether a native observer hangs on a regex: then Python logs for all of them. */
static int maybe_native(void)
{
    for (int i = 0; i < native_count; i++)
        if (modules[natives[i].module].asked == MAYBE)
            return 1;
    return 0;
}

/* What the event's matchers are held against, and what a log line calls its tool. */
static int subject_key(void)
{
    return same(event, T("SessionStart")) ? SOURCE : TOOL_NAME;
}

/* Mark the modules that may act and return how many. A document that is not whole is for every gate to judge. */
static int route(int whole_document)
{
    int survivors = 0, subagent = scan.value[AGENT_ID].end != 0;
    Text subject;
    int known = plain_string(subject_key(), &subject);
    for (int i = 0; i < module_count; i++) {
        Module *m = &modules[i];
        if (!whole_document) {
            m->may_act = m->gate;
            continue;
        }
        m->asked = m->main_only && subagent ? NO : known ? asks_for(m->tools, subject) : YES;
        m->may_act = m->asked && (!m->literals || m->unsearchable);
    }
    if (whole_document) {
        Span input = scan.value[TOOL_INPUT];
        prefilter(payload + input.start, input.end - input.start, 0);
        if (any_payload_literals)
            prefilter(payload, payload_len, 1);
    }
    for (int i = 0; i < native_count; i++)
        modules[natives[i].module].may_act = modules[natives[i].module].asked == MAYBE;   /* Python knows, and logs */
    for (int i = 0; i < module_count; i++)
        survivors += modules[i].may_act;
    return survivors;
}

/* Whether the one module that may act can run in Python's own process: a gate or an adviser that leaves nothing behind. */
static int may_be_alone(void)
{
    int i = 0;
    while (i < module_count && !modules[i].may_act)
        i++;
    if (i == module_count)
        return 0;
    const Module *m = &modules[i];
    Text line = {m->id.at + m->id.len + 1, (size_t)(m->tools.at - m->id.at) - m->id.len - 1};
    Text cls = word(&line), flags = word(&line);
    return (same(cls, T("gate")) || same(cls, T("adviser"))) && !has(flags, T("background"));
}

/* ---- records ------------------------------------------------------------------------------------------------------- */

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
        const uint32_t who_and_when[] = {(uint32_t)getpid(), (uint32_t)started.tv_nsec, (uint32_t)now.tv_sec,
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
    put(line, T("\",\"event\":\"")), put(line, event);
    put(line, T("\",\"tool\":")), put_name(line, subject_key());
    put(line, T(",\"session\":")), put_name(line, SESSION_ID);
    put(line, scan.value[AGENT_ID].end ? T(",\"sub\":true") : T(",\"sub\":false"));
    put(line, T(",\"in\":")), put_number(line, payload_len, 1);
}

/* The calls line; `rest` is what Python said of the modules it ran ("ran" and perhaps "err"). */
static void record_call(size_t out, Text rest)
{
    static char room[512 << 10];
    Line line = {room, 0, sizeof room, 0};
    put(&line, T("{\"ts\":\"")), put_time(&line);
    put(&line, T("\",\"v\":1,\"plan\":\"")), put(&line, plan.crc), put(&line, T("\","));
    put_call(&line);
    put(&line, T(",\"out\":")), put_number(&line, out, 1);
    put(&line, T(",\"us\":")), put_number(&line, us_since(started), 1);
    put(&line, T(",")), put(&line, rest), put(&line, T("}\n"));
    append(plan.calls, &line, LOG, 0);
}

/* Native observers: event, tool, session, sizes and the kind of error; folder and agent where the config asks for them.
 * With an id the file is a spool, which somebody replays. An observer of the event log has what its event is called there
 * as the first of its fields: "type=tool.done". */
static void observe(void)
{
    for (int i = 0; i < native_count; i++) {
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
            put(&line, T(",\"event\":\"")), put(&line, event), put(&line, T("\""));
        if (has(n->fields, T("tool")))
            put(&line, T(",\"tool\":")), put_name(&line, subject_key());
        if (has(n->fields, T("session")))
            put(&line, T(",\"session\":")), put_name(&line, SESSION_ID);
        if (has(n->fields, T("sub")))
            put(&line, scan.value[AGENT_ID].end ? T(",\"sub\":true") : T(",\"sub\":false"));
        if (has(n->fields, T("in")))
            put(&line, T(",\"in\":")), put_number(&line, payload_len, 1);
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

static void record_error(Text cause)
{
    char room[4096], path[4096];
    Line line = {room, 0, sizeof room, 0}, name = {path, 0, sizeof path, 0};
    put(&name, plan.state), put(&name, T("/errors/overdeck.jsonl"));
    put(&line, T("{\"ts\":\"")), put_time(&line), put(&line, T("\",\"event\":\"")), put(&line, event);
    put(&line, T("\",\"module\":\"overdeck\",\"cause\":\"")), put_escaped(&line, cause), put(&line, T("\",\"trace\":\"\"}\n"));
    if (plan.state.len && !name.full)
        append((Text){name.at, name.len}, &line, LOG, 0);
}

/* ---- Python ---------------------------------------------------------------------------------------------------------- */

typedef struct {
    char *at;
    size_t len, room;
} Buffer;

static char answer_room[MAX_ANSWER + 1], control_room[256 << 10];

/* A descriptor above the standard ones, closed on exec: stdin may have been closed by whoever started us. */
static int high(int fd)
{
    if (fd < 0)
        return fd;
    int moved = fcntl(fd, F_DUPFD_CLOEXEC, 4);
    close(fd);
    return moved;
}

static int write_all(int fd, const uint8_t *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return 0;
        bytes += n, len -= (size_t)n;
    }
    return 1;
}

/* A file of ours without a name, for where there is no memfd (or none is allowed). */
static int nameless_file(void)
{
    char path[4096];
    Line name = {path, 0, sizeof path - 1, 0};
    put(&name, plan.state.len ? plan.state : T("/tmp")), put(&name, T("/.payload-")), put_number(&name, (uint64_t)getpid(), 1);
    if (name.full)
        return -1;
    path[name.len] = 0;
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0)
        unlink(path);
    return high(fd);
}

/* The payload as a file that nobody can change: Python reads it as its standard input. */
static int payload_file(void)
{
    int fd = -1;
#ifdef __linux__
    fd = high(memfd_create("payload", MFD_CLOEXEC | MFD_ALLOW_SEALING));
#endif
    if (fd < 0)
        fd = nameless_file();
    if (fd >= 0 && (!write_all(fd, payload, payload_len) || lseek(fd, 0, SEEK_SET))) {
        close(fd);
        return -1;
    }
#ifdef __linux__
    if (fd >= 0)
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
#endif
    return fd;
}

static int high_pipe(int ends[2])
{
    if (pipe(ends))
        return 0;
    ends[0] = high(ends[0]), ends[1] = high(ends[1]);
    return ends[0] >= 0 && ends[1] >= 0;
}

/* The environment without what loads code into a program before its first line. */
static char **harmless_environment(void)
{
    static char *kept[4096];
    extern char **environ;
    static const Text banned[] = {{"LD_", 3}, {"DYLD_", 5}, {"GLIBC_TUNABLES=", 15}, {"MALLOC_", 7}, {"PYTHON", 6}};
    size_t n = 0;
    for (char **e = environ; *e && n + 1 < sizeof kept / sizeof *kept; e++) {
        int bad = 0;
        for (size_t i = 0; i < sizeof banned / sizeof *banned; i++)
            bad |= !strncmp(*e, banned[i].at, banned[i].len);
        if (!bad)
            kept[n++] = *e;
    }
    return kept;
}

static const char *as_string(Text text, char *room, size_t size)
{
    if (text.len >= size)
        return NULL;
    memcpy(room, text.at, text.len);
    room[text.len] = 0;
    return room;
}

/* Whether the bundle may be started: ours, and there. Anything else about it shows when it does not say hello. */
static int bundle_is_ours(void)
{
    char path[4096];
    struct stat st;
    return !plan.stale && plan.bundle.len && as_string(plan.bundle, path, sizeof path) && !stat(path, &st) && trusted(&st);
}

/* How Python is started. */
typedef struct {
    int bundled, observed, cut;
    int alone;                      /* the one module that may act may run in Python's own process */
    const char *failed;             /* "error:MS" or "timeout:MS": it did so, and this is how it ended */
    int remains;                    /* a file of what that module said and printed, or -1 */
} Way;

/* The command that runs the reference front; 0 when a path is too long. */
static int python_command(char **argv, const Way *way, int piped)
{
    static char python[4096], entry[4096], event_name[64], marker[32] = "--front=", failed[64] = "--failed=";
    if (!as_string(plan.python, python, sizeof python) || !as_string(event, event_name, sizeof event_name) ||
        !as_string(way->bundled ? plan.bundle : plan.entry, entry, sizeof entry))
        return 0;
    as_string(plan.crc.len && !plan.stale ? plan.crc : T("-"), marker + 8, sizeof marker - 8);
    char *fixed[] = {python, "-I", "-S", entry, event_name, "--plan", plan_folder};
    int n = sizeof fixed / sizeof *fixed;
    memcpy(argv, fixed, sizeof fixed);
    if (way->cut)
        argv[n++] = "--cut";
    if (way->observed)
        argv[n++] = "--observed";
    if (piped && way->alone)
        argv[n++] = "--alone";
    if (piped && way->failed) {
        as_string((Text){way->failed, strlen(way->failed)}, failed + 9, sizeof failed - 9);
        argv[n++] = failed;
    }
    if (piped)
        argv[n++] = marker;
    argv[n] = NULL;
    return 1;
}

enum { HANDED = 5 };                /* descriptors that Python is given, from 0 on: the last is -1 but for what remains */

/* Start `argv` on these descriptors. 0, or what stood in the way. */
static int spawn_python(char **argv, const int from[HANDED], pid_t *pid)
{
    posix_spawn_file_actions_t moves;
    posix_spawnattr_t attributes;
    sigset_t term, none;
    sigemptyset(&none), sigemptyset(&term), sigaddset(&term, SIGTERM), sigaddset(&term, SIGALRM);
    int failed = posix_spawn_file_actions_init(&moves);
    if (failed)
        return failed;
    if (!(failed = posix_spawnattr_init(&attributes))) {
        for (int to = 0; to < HANDED && from[to] >= 0 && !failed; to++)
            failed = posix_spawn_file_actions_adddup2(&moves, from[to], to);
        if (!failed)
            failed = posix_spawnattr_setsigdefault(&attributes, &term);
        if (!failed)
            failed = posix_spawnattr_setsigmask(&attributes, &none);
        if (!failed)
            failed = posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
        if (!failed)
            failed = posix_spawn(pid, argv[0], &moves, &attributes, argv, harmless_environment());
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&moves);
    return failed;
}

#ifdef __linux__
/* The same below a process that does nothing else: the parent which a module in Python's own process sees. A module may
 * kill its parent, and the front that answers for it must not be that. */
static int spawn_below_keeper(char **argv, const int from[HANDED], pid_t *pid, pid_t *keeper)
{
    struct {
        pid_t pid;
        int failed;
    } made = {0, EMFILE};
    int told[2] = {-1, -1};
    if (high_pipe(told) && (*keeper = fork()) == 0) {
        made.failed = spawn_python(argv, from, &made.pid);
        ssize_t written = write(told[1], &made, sizeof made);
        while (written == (ssize_t)sizeof made && !made.failed && waitpid(made.pid, NULL, 0) < 0 && errno == EINTR)
            ;
        _exit(0);
    }
    close(told[1]);
    ssize_t n = -1;
    while (*keeper > 0 && (n = read(told[0], &made, sizeof made)) < 0 && errno == EINTR)
        ;
    if (n != (ssize_t)sizeof made)
        made.failed = EAGAIN;
    close(told[0]);
    if (*keeper > 0 && made.failed)
        while (waitpid(*keeper, NULL, 0) < 0 && errno == EINTR)
            ;
    *pid = made.pid;
    return made.failed;
}
#endif

/* Where no process can be made: become the reference front. Better than no gate at all. Returns only if it fails. */
static void become_python(int file, int observed, int cut)
{
    char *argv[14];
    sigset_t none;
    const Way way = {.observed = observed, .cut = cut, .remains = -1};
    if (!python_command(argv, &way, 0) || dup2(file, 0) != 0)
        return;
    sigemptyset(&none);
    signal(SIGTERM, SIG_DFL), sigprocmask(SIG_SETMASK, &none, NULL);
    execve(argv[0], argv, harmless_environment());
}

enum { NOT_THERE = -1, NOT_POSSIBLE = -2 };

/* A Python that was started: the ends of what it is heard by, or -1. */
typedef struct {
    pid_t pid, child;               /* child: which of ours to wait for, it or its keeper */
    int answer, control, printed;
    uint64_t ran_ms;                /* how long a module was alone in it */
} Started;

/* Start the reference front on the payload: its pid, NOT_THERE (no such Python), or NOT_POSSIBLE. */
static Started start_python(const Way *way)
{
    char *argv[14];
    int out[2] = {-1, -1}, word_of[2] = {-1, -1}, printed[2] = {-1, -1}, failed = EMFILE;
    int file = payload_file(), null = high(open("/dev/null", O_RDWR));
    Started one = {NOT_POSSIBLE, 0, -1, -1, -1, 0};
    if (file >= 0 && null >= 0 && high_pipe(out) && high_pipe(word_of) && (!way->alone || high_pipe(printed)) &&
        python_command(argv, way, 1)) {
        const int from[HANDED] = {file, out[1], way->alone ? printed[1] : null, word_of[1], way->remains};
#ifdef __linux__
        if (way->alone)
            failed = spawn_below_keeper(argv, from, &one.pid, &one.child);
        else
#endif
            failed = spawn_python(argv, from, &one.pid), one.child = one.pid;
    }
    if (failed == ENOENT || failed == EACCES || failed == ENOEXEC || failed == ENOTDIR)
        one.pid = NOT_THERE;
    else if (failed && !way->alone)
        become_python(file, way->observed, way->cut);
    if (failed && one.pid != NOT_THERE)
        one.pid = NOT_POSSIBLE;
    close(file), close(null), close(out[1]), close(word_of[1]), close(printed[1]);
    one.answer = out[0], one.control = word_of[0], one.printed = printed[0];
    return one;
}

/* Read some; 0 at the end of the pipe or when there is no more room. */
static int drain(int fd, Buffer *into)
{
    if (into->len == into->room)
        return 0;
    ssize_t n = read(fd, into->at + into->len, into->room - into->len);
    if (n < 0)
        return errno == EINTR || errno == EAGAIN;
    into->len += (size_t)n;
    return n > 0;
}

/* The line that begins with this word, of what Python said of itself ("hello", "done FRAGMENT"). */
static Text line_with(const Buffer *said, Text first_word)
{
    const char *at = said->at, *end = said->at + said->len;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop)
            break;
        if ((size_t)(stop - at) >= first_word.len && !memcmp(at, first_word.at, first_word.len))
            return (Text){at, (size_t)(stop - at)};
        at = stop + 1;
    }
    return (Text){"", 0};
}

/* Read what a module in Python's own process prints: its first part is kept, the rest must not stop it. */
static int drain_printed(int fd, Buffer *into)
{
    static char lost[64 << 10];
    Buffer rest = {lost, 0, sizeof lost};
    return drain(fd, into->len < into->room ? into : &rest);
}

/* The number behind this word, of what Python said of itself; `none` where it said none. */
static uint64_t number_with(const Buffer *word_of, Text first_word, uint64_t none)
{
    Text line = line_with(word_of, first_word);
    uint64_t number = none;
    if (line.len)
        line.at += first_word.len, line.len -= first_word.len;
    return take_number(&line, &number) ? number : none;
}

/* "alone MS" and the deadline of a module that runs in Python's own process, in ms; 0 while there is none. */
static uint64_t alone_for(const Buffer *word_of)
{
    return number_with(word_of, T("alone "), 0);
}

/* Whether "done" may be believed. A module in Python's own process may have turned the answer elsewhere, so what arrived
 * must be as long as what was sent; and a Python that answers for a module that failed must say that it did so, since the
 * plan it has read may know of no such module any more. */
static int all_arrived(const Way *way, const Buffer *word_of, const Buffer *said)
{
    if (way->alone && alone_for(word_of))
        return number_with(word_of, T("said "), UINT64_MAX) == said->len;
    return !way->failed || line_with(word_of, T("fallen")).len > 0;
}

enum { WAITING, TOLD_TO_STOP, KILLED };

/* Wait for both pipes to end, or for the end of a module that runs in Python's own process. Past the deadline Python is
 * told to stop, which it answers (a module alone does not); then it is killed. `begun` is when the first Python was started:
 * one that answers for what has failed in another has what is left of the time. Returns how far that went. */
static int wait_for(Started *one, struct timespec begun, Buffer *said, Buffer *word_of, Buffer *printed)
{
    const uint64_t whole = (plan.total_deadline_ms ? plan.total_deadline_ms : 8000) + PYTHON_MARGIN_MS;
    uint64_t limit = whole, alone = 0, since = 0;
    int stage = WAITING, judged = 0, ready[3];
    while (one->answer >= 0 || one->control >= 0) {
        const int from[] = {one->answer, one->control, one->printed};
        uint64_t spent = ms_since(begun);
        if (told_to_stop && stage == WAITING)
            limit = spent;
        if (spent >= limit) {
            if (stage == KILLED)
                break;
            kill(alone ? -one->pid : one->pid, stage == WAITING ? SIGTERM : SIGKILL);
            if (alone)
                kill(-one->pid, SIGCONT);
            limit = spent + (alone ? MODULE_GRACE_MS : GRACE_MS);
            stage++;
        }
        if (wait_readable(from, 3, (int)(limit - spent) + 1, ready) < 0)
            break;
        if (ready[0] && !drain(one->answer, said))
            close(one->answer), one->answer = -1;
        if (ready[1] && !drain(one->control, word_of))
            close(one->control), one->control = -1;
        if (ready[2] && !drain_printed(one->printed, printed))
            close(one->printed), one->printed = -1;
        if (said->len == said->room || word_of->len == word_of->room)
            break;                      /* more than there can be: it is not our Python that speaks */
        if (!alone && (alone = alone_for(word_of)))
            since = ms_since(begun), limit = since + alone;
        if (alone && !judged && stage == WAITING && (judged = line_with(word_of, T("judged")).len > 0))
            limit = whole;
        if (alone && (line_with(word_of, T("done")).len || line_with(word_of, T("failed")).len))
            break;                      /* it has said all, and what it started may hold the pipes */
    }
    if (alone) {
        one->ran_ms = ms_since(begun) - since;
        const int answer[] = {one->answer, one->printed};
        while (wait_readable(answer, 2, 0, ready) > 0)
            if (!(ready[0] && drain(one->answer, said)) && !(ready[1] && drain_printed(one->printed, printed)))
                break;
        kill(-one->pid, SIGKILL);       /* ended, or to be: whoever is left of its group goes with it */
        kill(one->child, SIGCONT);
    } else if (one->answer >= 0 || one->control >= 0) {
        kill(one->pid, SIGKILL);
    }
    close(one->answer), close(one->control), close(one->printed);
    while (waitpid(one->child, NULL, 0) < 0 && errno == EINTR)
        ;
    return stage;
}

/* SIGKILL everything below us: what was left when Python was killed (we are its orphans' reaper). Linux /proc. */
static void kill_orphans(void)
{
#ifdef __linux__
    char path[64], pids[4096];
    Line name = {path, 0, sizeof path - 1, 0};
    put(&name, T("/proc/self/task/")), put_number(&name, (uint64_t)getpid(), 1), put(&name, T("/children"));
    path[name.len] = 0;
    for (int round = 0; round < 50; round++) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : read(fd, pids, sizeof pids);
        close(fd);
        Text list = {pids, n > 0 ? (size_t)n : 0};
        uint64_t pid;
        int any = 0;
        while (list.len && take_number(&list, &pid))
            any |= !kill((pid_t)pid, SIGKILL);
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
        if (!any)
            break;
        struct timespec moment = {0, 1000000};
        nanosleep(&moment, NULL);
    }
#endif
}

/* Whether bytes are one JSON object and nothing else. The scan of the payload is as it was afterwards. */
static int is_one_object(const Buffer *text)
{
    struct Scan kept = scan;
    uint8_t *document = payload;
    scan = (struct Scan){.state = VALUE, .key = OTHER_KEY};
    payload = (uint8_t *)text->at;
    scan_until(text->len);
    int one = scan.state == DONE;
    scan = kept, payload = document;
    return one;
}

/* Answer in the names of the gates that may have had to act: deny before a tool, block after one, else tell. */
static size_t answer_for_gates(Text cause)
{
    char names_room[CODE_NAMES], room[CODE_NAMES + 4096];
    Line names = {names_room, 0, sizeof names_room, 0}, line = {room, 0, sizeof room, 0};
    for (int i = 0; i < module_count; i++)
        if (modules[i].may_act && modules[i].gate) {
            if (names.len)
                put(&names, T(", "));
            put_escaped(&names, modules[i].id);
        }
    int before = same(event, T("PreToolUse")), permission = same(event, T("PermissionRequest"));
    int after = same(event, T("PostToolUse"));
    if (!names.len || !(before || permission || after)) {
        put(&line, T("{\"systemMessage\":\"overdeck: "));
    } else if (same(plan.client, T("gemini"))) {
        before = permission = 0;        /* Gemini CLI knows a flat decision only */
        put(&line, T("{\"decision\":\"deny\",\"reason\":\""));
    } else if (before) {
        put(&line, T("{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\","
                     "\"permissionDecisionReason\":\""));
    } else if (permission) {
        put(&line, T("{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"deny\","
                     "\"message\":\""));
    } else {
        put(&line, T("{\"decision\":\"block\",\"reason\":\""));
    }
    if (names.len)
        put(&line, T("[")), put(&line, (Text){names.at, names.len}), put(&line, T("] could not decide: "));
    put_escaped(&line, cause), put(&line, T("; see: overdeck doctor\""));
    if (names.len && (before || permission))
        put(&line, permission ? T("}}") : T("}"));
    put(&line, T("}\n"));
    return say(line.at, line.len);
}

/* What is left of a module that failed in Python's own process, as a file for the Python that answers for it: what it
 * said in its last line, then what it printed. -1 where no file can be had. */
static int remains_of(Text last_line, const Buffer *printed)
{
    int fd = -1;
#ifdef __linux__
    fd = high(memfd_create("remains", MFD_CLOEXEC));
#endif
    if (fd >= 0 && !(write_all(fd, (const uint8_t *)last_line.at, last_line.len) && write_all(fd, (const uint8_t *)"\n", 1) &&
                     write_all(fd, (const uint8_t *)printed->at, printed->len) && !lseek(fd, 0, SEEK_SET)))
        close(fd), fd = -1;
    return fd;
}

/* Whether a module failed in Python's own process; then `way` says so to the Python that answers for it. */
static int failed_alone(Way *way, const Started *one, int stage, const Buffer *word_of, const Buffer *printed)
{
    static char how[40];
    if (one->pid <= 0 || !alone_for(word_of))
        return 0;
    Text last_line = line_with(word_of, T("failed "));
    if (last_line.len)
        last_line.at += 7, last_line.len -= 7;
    int late = stage != WAITING || same(last_line, T("late"));
    Line text = {how, 0, sizeof how - 1, 0};
    put(&text, late ? T("timeout:") : T("error:")), put_number(&text, one->ran_ms, 1);
    how[text.len] = 0;
    way->failed = how;
    way->remains = remains_of(late ? T("") : last_line, printed);
    return 1;
}

static void ask_python(int observed, int cut, int alone)
{
    static char printed_room[MAX_CAPTURE];
    Buffer said = {answer_room, 0, sizeof answer_room}, word_of = {control_room, 0, sizeof control_room};
    Buffer printed = {printed_room, 0, sizeof printed_room};
    Text hello, done;
    Started one;
    pid_t pid;
    int stage;
    Way way = {.bundled = bundle_is_ours(), .observed = observed, .cut = cut, .remains = -1};
#ifdef __linux__
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    way.alone = alone && way.bundled;
#else
    (void)alone;
#endif
    struct timespec begun;
    clock_gettime(CLOCK_MONOTONIC, &begun);
    for (;;) {
        said.len = word_of.len = printed.len = 0;
        stage = WAITING;
        one = start_python(&way);
        pid = one.pid;
        if (pid > 0)
            stage = wait_for(&one, begun, &said, &word_of, &printed);
        else
            close(one.answer), close(one.control), close(one.printed);
        hello = line_with(&word_of, T("hello")), done = line_with(&word_of, T("done"));
        if (!all_arrived(&way, &word_of, &said))
            done.len = 0;
        if (way.alone && waitpid(-1, NULL, WNOHANG) >= 0)
            kill_orphans();             /* what the module has started, and what of it is left */
        if (way.alone && !done.len && !told_to_stop && (pid == NOT_POSSIBLE || failed_alone(&way, &one, stage, &word_of, &printed))) {
            way.alone = 0;
            continue;
        }
        if (hello.len || !way.bundled || pid <= 0 || stage != WAITING || told_to_stop)
            break;
        way.bundled = way.alone = 0;    /* a bundle that does not start only costs time: begin again without it */
    }
    close(way.remains);
    if (done.len && (!said.len || is_one_object(&said))) {
        size_t out = say(said.at, said.len);
        if (done.len > 5)
            record_call(out, (Text){done.at + 5, done.len - 5});
        return;
    }
    kill_orphans();
    int stopped = told_to_stop || (stage != WAITING && hello.len);
    int absent = !way.failed && (pid == NOT_THERE || (pid > 0 && !hello.len && !stopped));
    Text cause = absent                ? T("Python did not start, so no gate ran")
                 : way.failed          ? T("it failed, and the Python that was to say how did not")
                 : pid <= 0            ? T("no process and no descriptor could be had for Python")
                 : said.len == said.room ? T("Python answered more than 8 MiB")
                 : done.len            ? T("Python answered something that is not one JSON object")
                 : stopped             ? T("Python was told to stop before it had answered")
                                       : T("Python died under the modules");
    if (absent)
        for (int i = 0; i < module_count; i++)
            modules[i].may_act = 0;     /* nothing ran: the call passes, and the user is told */
    size_t out = answer_for_gates(cause);
    record_error(cause);
    char room[256];
    Line rest = {room, 0, sizeof room, 0};
    put(&rest, T("\"ran\":{},\"err\":\"")), put_escaped(&rest, cause), put(&rest, T("\""));
    record_call(out, (Text){rest.at, rest.len});
}

/* ---- main -------------------------------------------------------------------------------------------------------------- */

static void on_term(int signal_number)
{
    (void)signal_number;
    told_to_stop = 1;
}

/* The state folder, from where the plans stand: <state>/plans/<client>. Empty for any other layout. */
static Text state_folder(void)
{
    char *found = NULL;
    for (char *at = plan_folder; (at = strstr(at, "/plans/")); at++)
        found = at;
    return found ? (Text){plan_folder, (size_t)(found - plan_folder)} : (Text){"", 0};
}

/* Whether this is a call of our own making: OVERDECK_INERT equals the token in a 0600 file of ours. */
static int inert(void)
{
    const char *token = getenv("OVERDECK_INERT");
    char path[4096 + 16];
    Text state = state_folder();
    if (!token || !*token || !state.len)
        return 0;
    memcpy(path, state.at, state.len);
    memcpy(path + state.len, "/inert-token", 13);
    struct stat st;
    if (stat(path, &st) || st.st_uid != geteuid() || (st.st_mode & 077))
        return 0;
    size_t size;
    const char *bytes = read_own(path, &size);
    while (size && (bytes[size - 1] == '\n' || bytes[size - 1] == ' '))
        size--;
    return bytes && size && size == strlen(token) && !memcmp(bytes, token, size);
}

/* No plan, and no recipe to make one from: the call passes, the user is told, the call is counted. */
static void unplanned(void)
{
    static char calls[4096 + 32];
    static const char text[] = "{\"systemMessage\":\"overdeck: no gate ran, there is no plan and no recipe to make "
                               "one; type: overdeck install\"}\n";
    Line path = {calls, 0, sizeof calls, 0};
    Text state = state_folder(), folder = {plan_folder, strlen(plan_folder)};
    plan = (Plan){.state = state, .crc = {"", 0}};
    if (state.len) {
        put(&path, state), put(&path, T("/hook-calls.jsonl"));
        plan.calls = (Text){path.at, path.len};
        plan.client = (Text){state.at + state.len + 7, folder.len - state.len - 7};
    }
    size_t out = say(text, sizeof text - 1);
    record_call(out, T("\"ran\":{},\"err\":\"there is no plan and no recipe to make one\""));
}

static int is_event_name(const char *s)
{
    size_t n = 0;
    for (; s[n]; n++)
        if (!((s[n] | 32) >= 'a' && (s[n] | 32) <= 'z'))
            return 0;
    return n && n < 64;
}

static int arguments(int argc, char **argv)
{
    const char *folder = NULL;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--plan") && i + 1 < argc)
            folder = argv[++i];
        else if (!event.len && is_event_name(argv[i]))
            event = (Text){argv[i], strlen(argv[i])};
    }
    if (!event.len || !folder || folder[0] != '/')
        return 0;
    size_t len = strlen(folder);
    while (len > 1 && folder[len - 1] == '/')
        len--;
    if (len + 80 > sizeof plan_path)
        return 0;
    memcpy(plan_folder, folder, len);
    memcpy(plan_path, folder, len);
    plan_path[len] = '/';
    memcpy(plan_path + len + 1, event.at, event.len);
    memcpy(plan_path + len + 1 + event.len, ".plan", 6);
    return 1;
}

#ifdef OVERDECK_FUZZ
/* Plan lines (unsealed, so that a fuzzer gets past the crc), a NUL, then a payload that arrives in two pieces. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *nul = memchr(data, 0, size);
    size_t plan_size = nul ? (size_t)(nul - data) : size;
    module_count = literal_count = native_count = any_payload_literals = 0;
    memset(modules, 0, sizeof modules);
    memset(&rare, 0, sizeof rare), memset(&seams, 0, sizeof seams);
    plan = (Plan){0};
    event = T("PreToolUse");
    checked_lines((const char *)data, size, T("overdeck-plan 1"), &plan.crc, plan_line);
    for (const char *at = (const char *)data, *end = at + plan_size; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        Text line = {at, stop ? (size_t)(stop - at) : (size_t)(end - at)};
        if (!(line.len >= 6 && !memcmp(line.at, "source", 6)) && !plan_line(line))
            return 0;
        at += line.len + 1;
    }
    payload_len = nul ? size - plan_size - 1 : 0;
    payload = malloc(payload_len ? payload_len : 1);     /* its own block: reading past its end is seen */
    if (payload_len)
        memcpy(payload, nul + 1, payload_len);
    scan = (struct Scan){.state = VALUE, .key = OTHER_KEY};
    scan_until(payload_len / 2);
    scan_until(payload_len);
    route(scan.state == DONE && !scan.escaped_key);
    free(payload);
    return 0;
}
#elif defined OVERDECK_PROBE
/* What the front decides, for tests that hold it against its twin: "whole" or "broken", then who may act. */
int main(int argc, char **argv)
{
    char room[64 << 10];
    Line line = {room, 0, sizeof room, 0};
    clock_gettime(CLOCK_MONOTONIC, &started);
    if (!arguments(argc, argv) || !load_plan())
        return 1;
    int whole = read_payload() && !scan.escaped_key;
    route(whole);
    put(&line, whole ? T("whole") : T("broken"));
    for (int i = 0; i < module_count; i++)
        if (modules[i].may_act)
            put(&line, T(" ")), put(&line, modules[i].id);
    put(&line, T("\n"));
    say(line.at, line.len);
    return 0;
}
#else
int main(int argc, char **argv)
{
    clock_gettime(CLOCK_MONOTONIC, &started);
    if (argc > 1 && !strcmp(argv[1], "--version")) {
        static const char version[] = "overdeck-hook native " OVERDECK_SOURCE_HASH "\n";
        say(version, sizeof version - 1);
        return 0;
    }
    if (!arguments(argc, argv)) {
        static const char text[] = "{\"systemMessage\":\"overdeck: the hook entry names no event or no --plan DIR: "
                                   "overdeck install\"}\n";
        say(text, sizeof text - 1);
        return 0;
    }
    sigset_t term;
    sigemptyset(&term), sigaddset(&term, SIGTERM);
    sigprocmask(SIG_BLOCK, &term, NULL);        /* let through only while we wait: see wait_readable */
    struct sigaction stop = {.sa_handler = on_term};
    sigaction(SIGTERM, &stop, NULL);
    signal(SIGPIPE, SIG_IGN), signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);   /* where a client ignores it, whatever a gate runs seems to have ended well */
    struct rlimit files;
    if (!getrlimit(RLIMIT_NOFILE, &files) && files.rlim_cur < 4096 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;     /* each module takes three of Python's */
        setrlimit(RLIMIT_NOFILE, &files);
    }
    if (inert())
        return 0;
    int planned = load_plan(), startable = planned || load_recipe();
    int complete = read_payload(), whole = complete && !scan.escaped_key;
    if (!startable) {
        unplanned();
        return 0;
    }
    int survivors = planned ? route(whole) : 0;
    Text named;
    int as_told = plain_string(EVENT_NAME, &named) ? same(named, event) || (plan.named.len && same(named, plan.named))
                                                   : !scan.value[EVENT_NAME].end;
    int certain = whole && planned && !plan.stale && as_told, observed = certain && native_count && !maybe_native();
    if (observed)
        observe();
    if (certain && !survivors)
        record_call(0, T("\"ran\":{}"));
    else
        ask_python(observed, cut_short, certain && survivors == 1 && may_be_alone());
    return 0;
}
#endif
