/* unreaped PROGRAM: a child that becomes PROGRAM and ends, and that its parent never waits for. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    (void)count;
    siginfo_t about;
    pid_t child = fork();
    if (child == 0) {
        execl(words[1], words[1], (char *)NULL);
        _exit(9);
    }
    return waitid(P_PID, (id_t)child, &about, WEXITED | WNOWAIT);
}
