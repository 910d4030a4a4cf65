/* daemon PROGRAM: a double fork; the grandchild outlives both and then becomes PROGRAM. */
#include <sys/wait.h>
#include <unistd.h>

int main(int count, char **words) {
    (void)count;
    pid_t child = fork();
    if (child == 0) {
        setsid();
        if (fork() == 0) {
            close(0), close(1), close(2);
            usleep(60000);
            execl(words[1], words[1], (char *)NULL);
            _exit(9);
        }
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return 0;
}
