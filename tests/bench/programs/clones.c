/* clones: what is a process and what a thread cannot be told from the ptrace event, only from CLONE_THREAD.
 *
 * A thread with the exit signal SIGCHLD comes as a fork event, and one with CLONE_VFORK as a vfork event; a process
 * without an exit signal comes as a clone event.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define THREAD (CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM)

static volatile int done;

static int leave(void *unused) {
    (void)unused;
    __atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_exit, 0);
    return 0;
}

static void start(int flags) {
    char *stack = malloc(65536);
    if (stack == NULL || clone(leave, stack + 65536, flags, NULL) < 0) exit(3);
}

int main(void) {
    start(THREAD | SIGCHLD);
    start(THREAD | CLONE_VFORK);
    start(THREAD);
    while (__atomic_load_n(&done, __ATOMIC_SEQ_CST) < 3) usleep(200);
    start(0);
    start(CLONE_VFORK);
    start(SIGCHLD);
    start(CLONE_VM | SIGCHLD);
    while (waitpid(-1, NULL, __WALL) > 0) continue;
    return 0;
}
