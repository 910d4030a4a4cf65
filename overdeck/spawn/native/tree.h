/* Processes and their children, as /proc lists them. */
#ifndef OVERDECK_TREE_H
#define OVERDECK_TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* Call `each` with `number` on every child of `pid`; `deepest_first` = on its descendants too, they first. */
void for_children(pid_t pid, bool deepest_first, void (*each)(pid_t, int), int number);

#endif
