/* Literals that only taking a shell's marks out makes visible (g''it, \rm). */
#ifndef OVERDECK_SEAMS_H
#define OVERDECK_SEAMS_H

#include <stddef.h>
#include <stdint.h>

/* Before a search: which literals are wanted. 0 when there is no room for all of them. */
int prepare_seams(const uint8_t *wanted);

/* Let the modules act whose literals stand around the seams of this text. 0 when the text may spell letters another way, or
 * `work`, the letters compared in all searches of a call, got too much. */
int search_seams(const uint8_t *text, size_t len, size_t *work);

#endif
