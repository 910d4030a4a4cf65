/* killed_early N: N children, each killed as soon as it has a pid, mostly before its first instruction. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    for (int left = count > 1 ? atoi(words[1]) : 0; left > 0; left--) {
        pid_t child = fork();
        if (child == 0) {
            for (;;) pause();
        }
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    return 0;
}
