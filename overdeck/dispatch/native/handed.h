/* What Python is handed: files without a name, and pipes. */
#ifndef OVERDECK_HANDED_H
#define OVERDECK_HANDED_H

#include "text.h"

/* A descriptor above the standard ones, closed on exec: stdin may have been closed by whoever started us. */
int high(int fd);

/* A pipe of such descriptors; 0 where there is none to be had, and then each end is -1 or open. */
int high_pipe(int ends[2]);

/* The payload as a file that nobody can change: Python reads it as its standard input. -1 where no file can be had. */
int payload_file(void);

/* What is left of a module that failed in Python's own process, as a file for the Python that answers for it: what it
 * said in its last line, then what it printed. -1 where no file can be had. */
int remains_of(Text last_line, Text printed);

#endif
