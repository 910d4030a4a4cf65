/* Files that lines are appended to by many at once. */
#ifndef OVERDECK_LOG_H
#define OVERDECK_LOG_H

#include "line.h"

enum { LOG, JOURNAL, SPOOL };

/* One write() on O_APPEND; a full disk, a read-only folder or what is no file loses the line, never the verdict, and
 * nothing is waited for. A full journal is rolled once; a full spool takes no more, for who replays it would lose lines. */
void append(Text path, Line *line, int kind, uint64_t max_bytes);

#endif
