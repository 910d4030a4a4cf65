#define _GNU_SOURCE
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "background.h"
#include "tree.h"

/* The numbers of spawner.py, which says where they come from. */
#define LINGER_NS 250000000LL
#define BACKGROUND_NS 5000000000LL
#define TERM_TO_KILL_NS 1500000000LL
#define REAP_LIMIT_NS 5000000000LL

static sigset_t nothing_blocked;
static struct pollfd *polled;
static int polled_room;

static const struct task *task;
static struct run *run;
static int running; /* commands that have not been reaped */
static int64_t begin, due;

int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static void told(int number) { (void)number; }

void run_setup(void) {
    /* Handlers, not SIG_IGN: an exec puts them back to what a hook should find. */
    struct sigaction noted = {.sa_handler = told};
    sigset_t child_signal;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    sigaction(SIGCHLD, &noted, NULL);
    sigaction(SIGPIPE, &noted, NULL);
    sigemptyset(&nothing_blocked);
    sigemptyset(&child_signal);
    sigaddset(&child_signal, SIGCHLD); /* delivered in ppoll alone: no end of a child can be missed between two looks */
    sigprocmask(SIG_SETMASK, &child_signal, NULL);
    streams_setup();
}

static void signal_group(pid_t pid, int number) { kill(-pid, number); }

static void send_signal(pid_t pid, int number) { kill(pid, number); }

static pid_t hit[1024]; /* orphans that got SIGKILL in this run; more are killed as well, and counted once more */
static int hits;

static struct child *child_of(pid_t pid) {
    for (int i = 0; i < task->count; i++)
        if (run->children[i].pid == pid) return &run->children[i];
    return NULL;
}

static void kill_leftover(pid_t pid, int number) {
    kill(pid, number);
    if (child_of(pid)) return;
    for (int i = 0; i < hits; i++)
        if (hit[i] == pid) return;
    run->killed++;
    if (hits < (int)(sizeof hit / sizeof *hit)) hit[hits++] = pid;
}

/* Every child that has ended, its cost added up; false when no child is left at all. */
static bool reap(void) {
    for (;;) {
        int status;
        struct rusage usage;
        pid_t pid = wait4(-1, &status, WNOHANG, &usage);
        if (pid < 0) return false;
        if (pid == 0) return true;
        run->user_us += usage.ru_utime.tv_sec * 1000000LL + usage.ru_utime.tv_usec;
        run->system_us += usage.ru_stime.tv_sec * 1000000LL + usage.ru_stime.tv_usec;
        if (usage.ru_maxrss > run->rss_kb) run->rss_kb = usage.ru_maxrss;
        run->voluntary += usage.ru_nvcsw;
        run->involuntary += usage.ru_nivcsw;
        run->minor_faults += usage.ru_minflt;
        run->major_faults += usage.ru_majflt;
        struct child *child = child_of(pid);
        if (!child) {
            run->orphans++;
            continue;
        }
        child->pid = 0;
        child->exit = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        running--;
    }
}

/* Its pid; 0 with `why` where the program does not start. vfork, and nothing between it and exec that a parent would
   mind: posix_spawn asks for the action of all 64 signals in the child, which is on the clock. */
static __attribute__((noinline)) pid_t start(const struct command *command, int in, int out, int err, int *why) {
    volatile int failure = 0;
    pid_t pid = vfork();
    if (pid == 0) {
        setsid(); /* as a client starts a hook: its own session and group */
        if (dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2) {
            sigprocmask(SIG_SETMASK, &nothing_blocked, NULL);
            execve(command->executable, command->argv, task->environ);
        }
        failure = errno;
        _exit(127);
    }
    if (pid > 0 && failure) {
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) continue;
    }
    *why = pid < 0 ? errno : failure;
    return *why ? 0 : pid;
}

/* End what is past its own timeout as the client does: SIGTERM to its tree, later SIGKILL. */
static void enforce(int64_t now) {
    reap();
    due = INT64_MAX;
    for (int i = 0; i < task->count; i++) {
        struct child *child = &run->children[i];
        int64_t limit = task->commands[i].limit_ns;
        if (child->pid == 0 || limit < 0) continue;
        bool known = child->kill_at != 0;
        int64_t at = known ? child->kill_at : begin + limit;
        if (now >= at) {
            for_children(child->pid, true, send_signal, known ? SIGKILL : SIGTERM);
            kill(child->pid, known ? SIGKILL : SIGTERM);
            child->expired = true;
            child->kill_at = at = now + TERM_TO_KILL_NS;
        }
        if (at < due) due = at;
    }
}

/* Whether a command that the client waits for still runs, or still holds stdout or stderr open. */
static bool waited_for(void) {
    for (int i = 0; i < task->count; i++) {
        const struct child *child = &run->children[i];
        if (!child->in_background && (child->pid || child->out.fd >= 0 || child->err.fd >= 0)) return true;
    }
    return false;
}

static void look(int fd, short events, struct pollfd *at) {
    at->fd = fd; /* a negative one is passed over */
    at->events = events;
    at->revents = 0;
}

/* Feed, drain and reap until all that is waited for is over, with `all` the background too; false at the deadline. */
static bool wait_for(int64_t deadline, bool all) {
    while (all ? running > 0 : waited_for()) {
        int64_t now = now_ns();
        if (now >= due) enforce(now);
        if (now > deadline) return false;
        int64_t left = (due < deadline ? due : deadline) - now + 1;
        struct timespec most = {left > 0 ? left / 1000000000 : 0, left > 0 ? left % 1000000000 : 0};
        look(0, 0, &polled[0]); /* POLLHUP alone: the parent is gone */
        for (int i = 0; i < task->count; i++) {
            look(run->children[i].input, POLLOUT, &polled[1 + 3 * i]);
            look(run->children[i].out.fd, POLLIN, &polled[2 + 3 * i]);
            look(run->children[i].err.fd, POLLIN, &polled[3 + 3 * i]);
        }
        bool closed = false;
        if (ppoll(polled, 1 + 3 * (nfds_t)task->count, &most, &nothing_blocked) < 0) {
            reap();
            continue;
        }
        if (polled[0].revents & (POLLHUP | POLLERR | POLLNVAL)) {
            run->abandoned = true;
            return false;
        }
        for (int i = 0; i < task->count; i++) {
            struct child *child = &run->children[i];
            if (polled[1 + 3 * i].revents) feed(&child->input, task->payload, &child->fed);
            if (polled[2 + 3 * i].revents) {
                drain(&child->out);
                if (child->out.fd < 0)
                    closed = true;
                else if (!child->in_background && asks_for_background(child->out.head, child->out.head_length))
                    child->in_background = child->asked = true;
            }
            if (polled[3 + 3 * i].revents) {
                drain(&child->err);
                closed |= child->err.fd < 0;
            }
        }
        if (closed) reap(); /* what closes its outputs has mostly ended */
    }
    return true;
}

/* Leave nothing behind: orphans may linger a moment (unless `at_once`), then everything is killed. */
static void sweep(bool at_once) {
    int64_t kill_at = 0, give_up = 0;
    hits = 0;
    while (reap()) {
        int64_t now = now_ns();
        if (give_up == 0) {
            kill_at = now + (at_once ? 0 : LINGER_NS);
            give_up = kill_at + REAP_LIMIT_NS;
        }
        if (now >= give_up) return;
        if (now >= kill_at) {
            for (int i = 0; i < task->count; i++)
                if (run->children[i].pid) signal_group(run->children[i].pid, SIGKILL); /* not reaped: still their group */
            for_children(getpid(), false, kill_leftover, SIGKILL);
        }
        int64_t left = now >= kill_at ? 2000000 : kill_at - now + 1;
        struct timespec most = {left / 1000000000, left % 1000000000};
        ppoll(NULL, 0, &most, &nothing_blocked);
    }
}

static void make_pipe(int ends[2], int *why) {
    if (pipe2(ends, O_CLOEXEC) == 0) return;
    *why = errno;
    ends[0] = ends[1] = -1;
    run->failed = -3;
}

void run_task(const struct task *what, struct run *seen) {
    struct child *children = seen->children;
    int (*theirs)[3] = calloc((size_t)what->count, sizeof *theirs);
    task = what;
    memset(seen, 0, sizeof *seen);
    memset(children, 0, (size_t)what->count * sizeof *children);
    run = seen;
    run->children = children;
    running = 0;
    due = 0;
    if (polled_room < 1 + 3 * task->count) {
        polled_room = 1 + 3 * task->count;
        polled = realloc(polled, (size_t)polled_room * sizeof *polled);
    }
    if (!polled || !theirs) _exit(70);
    run->failed = -1;
    if (chdir(task->cwd) < 0) run->why = errno;
    if (task->payload < 0 && !run->why) {
        run->failed = -2;
        run->why = access(task->payload_name, R_OK) < 0 ? errno : EAGAIN;
    }
    for (int i = 0; i < task->count; i++) {
        int in[2], out[2], err[2];
        children[i].in_background = task->commands[i].in_background;
        children[i].exit = STILL_HERE;
        make_pipe(in, &run->why);
        make_pipe(out, &run->why);
        make_pipe(err, &run->why);
        children[i].input = in[1];
        children[i].out.fd = out[0];
        children[i].err.fd = err[0];
        theirs[i][0] = in[0];
        theirs[i][1] = out[1];
        theirs[i][2] = err[1];
        fcntl(in[1], F_SETFL, O_NONBLOCK);
        feed(&children[i].input, task->payload, &children[i].fed); /* before the clock starts, as far as the pipe holds it */
    }
    begin = now_ns();
    for (int i = 0; i < task->count; i++) {
        if (!run->why) {
            children[i].pid = start(&task->commands[i], theirs[i][0], theirs[i][1], theirs[i][2], &run->why);
            if (run->why)
                run->failed = i;
            else
                running++;
        }
        for (int end = 0; end < 3; end++) close_once(&theirs[i][end]);
    }
    run->timed_out = !run->why && !wait_for(begin + task->timeout_ns, false);
    int64_t end = now_ns();
    run->wall_ns = end - begin;
    if (running && !run->timed_out && !run->why) {
        wait_for(end + BACKGROUND_NS, true);
        for (int i = 0; i < task->count; i++) children[i].cut = children[i].pid != 0;
    }
    for (int i = 0; i < task->count; i++) {
        close_once(&children[i].input);
        close_once(&children[i].out.fd);
        close_once(&children[i].err.fd);
    }
    sweep(running > 0 || run->why);
    free(theirs);
}
