/* overdeck's native spawner: batches of runs in, one JSON line a run out (what ../spawner.py does a run at a time).

   A batch is a length in decimal, a newline, and that many bytes: fields that end with NUL, read in order by
   `read_batch`. Nothing is written before the batch is over, so that between two runs nobody else wakes up; then a line
   for each run that was made, `[...]`, and before it a line `{"machine":[...]}` where the machine was looked at anew. The
   last line is `{"floor_kb":N}`. A batch ends early after a run that failed, or when its time is up; runs without a line
   were not made. The first line of all, `"HASH"`, says which source this was built from. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "answer.h"
#include "run.h"

#ifndef OVERDECK_SOURCE_HASH
#define OVERDECK_SOURCE_HASH "unknown"
#endif

/* --- the request --- */

static char *field, *fields_end;

static char *text(void) {
    char *at = field, *end = at < fields_end ? memchr(at, 0, (size_t)(fields_end - at)) : NULL;
    if (!end) die("a request ends in the middle");
    field = end + 1;
    return at;
}

static long long number(void) { return strtoll(text(), NULL, 10); }

static void *room(long long count, size_t size) {
    void *memory = calloc((size_t)count + 1, size);
    if (!memory) die("no memory");
    return memory;
}

static char **texts(long long count, long long spare) {
    char **found = room(count + spare, sizeof *found);
    for (long long i = 0; i < count; i++) found[i] = text();
    return found;
}

struct batch {
    int64_t budget_ns;
    bool machine;
    int tasks;
    struct task *task;
};

static void read_task(struct task *task, int drawn) {
    task->cwd = text();
    task->payload_name = text();
    task->payload = open(task->payload_name, O_RDONLY | O_CLOEXEC);
    task->timeout_ns = number();
    task->variables = (int)number();
    task->environ = texts(task->variables, drawn);
    task->count = (int)number();
    task->commands = room(task->count, sizeof *task->commands);
    for (int i = 0; i < task->count; i++) {
        struct command *command = &task->commands[i];
        command->limit_ns = number();
        command->in_background = number() != 0;
        command->executable = text();
        int words = (int)number();
        command->argv = texts(words, 0);
    }
}

static void free_batch(struct batch *batch) {
    for (int i = 0; i < batch->tasks; i++) {
        for (int j = 0; j < batch->task[i].count; j++) free(batch->task[i].commands[j].argv);
        free(batch->task[i].commands);
        if (batch->task[i].payload >= 0) close(batch->task[i].payload);
        free(batch->task[i].environ);
    }
    free(batch->task);
}

static bool read_all(char *into, size_t length) {
    while (length > 0) {
        ssize_t piece = read(0, into, length);
        if (piece < 0 && errno == EINTR) continue;
        if (piece <= 0) return false;
        into += piece;
        length -= (size_t)piece;
    }
    return true;
}

/* The fields of the next batch; false when the parent has closed our stdin. */
static bool read_request(void) {
    static char *buffer;
    static size_t size;
    char digit;
    size_t length = 0;
    while (read_all(&digit, 1) && digit != '\n') length = length * 10 + (size_t)(digit - '0');
    if (length == 0) return false;
    if (length > size) {
        free(buffer);
        buffer = malloc(size = length);
        if (!buffer) die("no memory");
    }
    if (!read_all(buffer, length)) return false;
    field = buffer;
    fields_end = buffer + length;
    return true;
}

/* --- a batch --- */

/* What this process has reached: every child's ru_maxrss starts from it. */
static long floor_kb(void) {
    long found = 0;
    char line[256];
    FILE *status = fopen("/proc/self/status", "re");
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %ld", &found) == 1) break;
    if (status) fclose(status);
    struct rusage ours;
    if (found == 0 && getrusage(RUSAGE_SELF, &ours) == 0) found = ours.ru_maxrss;
    return found;
}

static void read_batch(struct batch *batch, int *runs, int *drawn) {
    batch->budget_ns = number();
    batch->machine = number() != 0;
    *drawn = (int)number();
    batch->tasks = (int)number();
    batch->task = room(batch->tasks, sizeof *batch->task);
    for (int i = 0; i < batch->tasks; i++) read_task(&batch->task[i], *drawn);
    *runs = (int)number();
}

/* Whether there is somebody left to answer. */
static bool serve(void) {
    struct batch batch;
    struct run run = {0};
    int runs, drawn, most = 0;
    bool wanted = true;
    read_batch(&batch, &runs, &drawn);
    for (int i = 0; i < batch.tasks; i++)
        if (batch.task[i].count > most) most = batch.task[i].count;
    run.children = room(most, sizeof *run.children);
    struct look before = {0, 0}, after = {0, 0};
    int64_t over = now_ns() + batch.budget_ns;
    for (int i = 0; i < runs && wanted; i++) {
        long long which = number();
        if (which < 0 || which >= batch.tasks) die("a run of no task");
        struct task *task = &batch.task[which];
        for (int j = 0; j < drawn; j++) task->environ[task->variables + j] = text();
        if (batch.machine) before = look_at_machine(after);
        run_task(task, &run);
        wanted = !run.abandoned;
        if (batch.machine) after = look_at_machine(before);
        say_run(task, &run, before, after);
        if (run.why || run.timed_out || now_ns() >= over) break;
    }
    free(run.children);
    free_batch(&batch);
    if (!wanted) return false;
    say("{\"floor_kb\":%ld}\n", floor_kb());
    flush();
    return true;
}

int main(int count, char **words) {
    if (count == 2 && strcmp(words[1], "--version") == 0) {
        puts("overdeck-spawn " OVERDECK_SOURCE_HASH);
        return 0;
    }
    for (int fd = 0; fd < 3; fd++) /* a pipe that became one of these would be lost in a dup2 */
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) return 70;
    say("\"%s\"\n", OVERDECK_SOURCE_HASH);
    run_setup();
    flush();
    while (read_request())
        if (!serve()) return 0;
    return 0;
}
