/* torn N: N children, each of which ends right after it has started a thread, mostly before that has run. */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static char stack[65536];

static int run_on(void *unused) {
    (void)unused;
    for (;;) pause();
    return 0;
}

int main(int count, char **words) {
    for (int left = count > 1 ? atoi(words[1]) : 0; left > 0; left--) {
        pid_t child = fork();
        if (child == 0) _exit(clone(run_on, stack + sizeof stack, THREAD, NULL) < 0);
        waitpid(child, NULL, 0);
    }
    return 0;
}
