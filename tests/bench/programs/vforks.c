/* vforks PROGRAM: three vforks; the second one's exec fails. */
#include <sys/wait.h>
#include <unistd.h>

static void start(const char *program) {
    pid_t child = vfork();
    if (child == 0) {
        execl(program, program, (char *)NULL);
        _exit(9);
    }
    waitpid(child, NULL, 0);
}

int main(int count, char **words) {
    (void)count;
    start(words[1]);
    start("/nonexistent");
    start(words[1]);
    return 0;
}
