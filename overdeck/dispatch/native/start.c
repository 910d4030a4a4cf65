#include "platform.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "call.h"
#include "handed.h"
#include "plan.h"
#include "sealed.h"
#include "start.h"

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

int bundle_is_ours(void)
{
    char path[4096];
    struct stat st;
    return !plan.stale && plan.bundle.len && as_string(plan.bundle, path, sizeof path) && !stat(path, &st) && trusted(&st);
}

/* The command that runs the reference front; 0 when a path is too long. */
static int python_command(char **argv, const Way *way, int piped)
{
    static char python[4096], entry[4096], event_name[64], marker[32] = "--front=", failed[64] = "--failed=";
    if (!as_string(plan.python, python, sizeof python) || !as_string(call.event, event_name, sizeof event_name) ||
        !as_string(way->bundled ? plan.bundle : plan.entry, entry, sizeof entry))
        return 0;
    as_string(plan.crc.len && !plan.stale ? plan.crc : T("-"), marker + 8, sizeof marker - 8);
    char *fixed[] = {python, "-I", "-S", entry, event_name, "--plan", call.plan_folder};
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

Started start_python(const Way *way)
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
