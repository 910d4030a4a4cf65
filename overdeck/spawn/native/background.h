/* What a hook says when it wants the client not to wait for it. */
#ifndef OVERDECK_BACKGROUND_H
#define OVERDECK_BACKGROUND_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the first line of `head` is a JSON object whose "async" is true. */
bool asks_for_background(const char *head, size_t length);

#endif
