/* signals: prints what a parent sees of a child that gets signals, is stopped, is continued, and dies of one. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t children, queued, value;

static void on_child(int number, siginfo_t *about, void *context) {
    (void)number, (void)context;
    if (about->si_code == CLD_STOPPED || about->si_code == CLD_CONTINUED || about->si_code == CLD_KILLED) children++;
}

static void on_queued(int number, siginfo_t *about, void *context) {
    (void)number, (void)context;
    queued++;
    value += about->si_value.sival_int;
}

int main(void) {
    struct sigaction child_action = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction queued_action = {.sa_sigaction = on_queued, .sa_flags = SA_SIGINFO};
    int status, ready[2];
    char byte;
    sigaction(SIGCHLD, &child_action, NULL);
    sigaction(SIGRTMIN, &queued_action, NULL);
    if (pipe(ready) != 0) return 1;
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0); /* an orphaned group, as the leader's is, is not stopped by SIGTSTP */
        if (write(ready[1], "x", 1) != 1) _exit(1);
        for (;;) pause();
    }
    if (read(ready[0], &byte, 1) != 1) return 1;
    kill(child, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    printf("stopped %d by %d\n", WIFSTOPPED(status), WSTOPSIG(status) == SIGSTOP);
    kill(child, SIGCONT);
    waitpid(child, &status, WCONTINUED);
    printf("continued %d\n", WIFCONTINUED(status));
    kill(child, SIGTSTP);
    waitpid(child, &status, WUNTRACED);
    printf("stopped %d by tty %d\n", WIFSTOPPED(status), WSTOPSIG(status) == SIGTSTP);
    kill(child, SIGTERM); /* pending until it is continued */
    kill(child, SIGCONT);
    while (waitpid(child, &status, 0) == child && !WIFSIGNALED(status)) continue;
    printf("killed %d by %d, SIGCHLD seen %d\n", WIFSIGNALED(status), WTERMSIG(status), children > 0);
    for (int i = 1; i <= 3; i++) sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i});
    while (queued < 3) pause();
    printf("queued %d with %d\n", (int)queued, (int)value);
    fflush(stdout);
    raise(SIGTRAP); /* no event of ptrace's, though it looks like one */
    return 0;
}
