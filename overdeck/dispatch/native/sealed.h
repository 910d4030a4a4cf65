/* Files of ours: whose they are, and plans and recipes that carry a checksum. */
#ifndef OVERDECK_SEALED_H
#define OVERDECK_SEALED_H

#include <sys/stat.h>

#include "text.h"

/* Owned by the user or root, not writable by others (a private group of the user's own counts as the user). */
int trusted(const struct stat *st);

/* The bytes of a file of ours, in memory of our own (a mapped file can be cut short under us), of a sealed one only as far
 * as its seal goes; NULL when it is missing, not ours, empty or too big. */
const char *read_own(const char *path, size_t *size);

/* Check the seal of "HEADER LENGTH\n…crc XXXXXXXX\n" at the start of these bytes; `each` sees every line inside. 0 where
 * the seal is broken, or `each` said so. */
int checked_lines(const char *bytes, size_t size, Text header, Text *seal, int (*each)(Text));

#endif
