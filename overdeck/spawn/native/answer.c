#define _GNU_SOURCE
#include "answer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MACHINE_NS 100000000LL /* what is made of it is the difference of many runs; PSI moves every 2 s */
#define ROOM (1 << 17)

void die(const char *why) {
    fprintf(stderr, "overdeck's spawner: %s\n", why);
    exit(70);
}

static char held[ROOM];
static size_t held_length;

void flush(void) {
    for (size_t from = 0; from < held_length;) {
        ssize_t written = write(1, held + from, held_length - from);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) exit(70);
        from += (size_t)written;
    }
    held_length = 0;
}

void say(const char *format, ...) {
    va_list arguments;
    for (;;) {
        va_start(arguments, format);
        int length = vsnprintf(held + held_length, ROOM - held_length, format, arguments);
        va_end(arguments);
        if (length < 0) die("what it has to say cannot be written");
        if ((size_t)length < ROOM - held_length) {
            held_length += (size_t)length;
            return;
        }
        if (held_length == 0) die("an answer has no room");
        flush();
    }
}

static void say_bytes(const char *bytes, size_t length) {
    if (ROOM - held_length <= 2 * length) flush();
    for (size_t i = 0; i < length; i++) {
        held[held_length++] = "0123456789abcdef"[(unsigned char)bytes[i] >> 4];
        held[held_length++] = "0123456789abcdef"[bytes[i] & 15];
    }
}

/* Whether its stdout counts: the client throws away what the others print. */
static bool heard(const struct child *child) { return !child->in_background && !child->expired; }

/* The first bytes of several outputs, as one. */
static void say_heads(const struct run *run, int count, bool errors) {
    size_t left = HEAD_BYTES;
    say("\"");
    for (int i = 0; i < count; i++) {
        if (!errors && !heard(&run->children[i])) continue;
        const struct output *output = errors ? &run->children[i].err : &run->children[i].out;
        size_t piece = output->head_length < left ? output->head_length : left;
        say_bytes(output->head, piece);
        left -= piece;
    }
    say("\",");
}

static bool was_expired(const struct child *child) { return child->expired; }
static bool was_cut(const struct child *child) { return child->cut; }
static bool has_asked(const struct child *child) { return child->asked; }

/* The indices of the children of which `is` holds. */
static void say_which(const struct run *run, int count, bool (*is)(const struct child *)) {
    const char *comma = "";
    say("[");
    for (int i = 0; i < count; i++)
        if (is(&run->children[i])) {
            say("%s%d", comma, i);
            comma = ",";
        }
    say("],");
}

void say_run(const struct task *task, struct run *run, struct look before, struct look after) {
    unsigned long long printed = 0;
    say("[%lld,%lld,%lld,%lld,%lld,%lld,%lld,%lld,[", (long long)run->wall_ns, (long long)run->user_us,
        (long long)run->system_us, (long long)run->rss_kb, (long long)run->voluntary, (long long)run->involuntary,
        (long long)run->minor_faults, (long long)run->major_faults);
    for (int i = 0; i < task->count; i++) {
        const struct child *child = &run->children[i];
        if (child->cut || child->exit == STILL_HERE)
            say(i ? ",null" : "null");
        else
            say(i ? ",%d" : "%d", child->exit);
        if (heard(child)) printed += child->out.length;
    }
    say("],\"");
    for (int i = 0; i < task->count; i++) {
        uint8_t digest[BLAKE2B_BYTES];
        if (!heard(&run->children[i]) || run->children[i].out.length == 0) continue;
        blake2b_end(&run->children[i].out.hash, digest);
        say_bytes((const char *)digest, sizeof digest);
    }
    say("\",%llu,", printed);
    say_heads(run, task->count, false);
    say_heads(run, task->count, true);
    say("%d,%d,%s,[%d,%d],", run->orphans, run->killed, run->timed_out ? "true" : "false", run->failed, run->why);
    say_which(run, task->count, was_expired);
    say_which(run, task->count, was_cut);
    say_which(run, task->count, has_asked);
    say("%lld,%d,%lld,%d]\n", (long long)before.at_ns, before.line, (long long)after.at_ns, after.line);
}

static int open_once(const char *file) { return open(file, O_RDONLY | O_CLOEXEC); }

static void say_first_line(int fd, const char *comma) {
    char line[512];
    ssize_t length = fd < 0 ? -1 : pread(fd, line, sizeof line, 0);
    char *end = length > 0 ? memchr(line, '\n', (size_t)length) : NULL;
    say("%s\"%.*s\"", comma, end ? (int)(end - line) : 0, line); /* words and numbers: nothing that JSON would mind */
}

struct look look_at_machine(struct look last) {
    static int load = -2, pressure = -2, ticks = -2;
    static int64_t read_at;
    struct look found = {now_ns(), last.line};
    if (load == -2) {
        load = open_once("/proc/loadavg");
        pressure = open_once("/proc/pressure/cpu");
        ticks = open_once("/proc/stat");
    }
    if (last.at_ns && found.at_ns - read_at < MACHINE_NS) return found;
    read_at = found.at_ns;
    found.line = last.at_ns ? last.line + 1 : 0;
    say("{\"machine\":[");
    say_first_line(load, "");
    say_first_line(pressure, ",");
    say_first_line(ticks, ",");
    say("]}\n");
    return found;
}
