#include "platform.h"

#include <errno.h>
#include <signal.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "line.h"
#include "plan.h"
#include "readable.h"
#include "wait.h"

enum {
    PYTHON_MARGIN_MS = 1500,    /* start and merge, beyond the modules' own total deadline */
    GRACE_MS = 400,             /* after SIGTERM Python still answers for its gates */
    MODULE_GRACE_MS = 50,       /* between SIGTERM and SIGKILL for a module past its deadline (runner.py) */
};

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

Text line_with(const Buffer *said, Text first_word)
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

uint64_t alone_for(const Buffer *word_of)
{
    return number_with(word_of, T("alone "), 0);
}

int all_arrived(const Way *way, const Buffer *word_of, const Buffer *said)
{
    if (way->alone && alone_for(word_of))
        return number_with(word_of, T("said "), UINT64_MAX) == said->len;
    return !way->failed || line_with(word_of, T("fallen")).len > 0;
}

int wait_for(Started *one, struct timespec begun, Buffer *said, Buffer *word_of, Buffer *printed)
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

void kill_orphans(void)
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
