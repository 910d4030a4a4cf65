/* What this call was started with. call.c owns it. */
#ifndef OVERDECK_CALL_H
#define OVERDECK_CALL_H

#include <time.h>

#include "text.h"

typedef struct {
    Text event;
    struct timespec started;        /* of CLOCK_MONOTONIC */
    char plan_folder[4096], plan_path[4096];
} Call;

extern Call call;

/* Take event and folder from the command line; 0 where it does not name both. */
int arguments(int argc, char **argv);

/* The state folder, from where the plans stand: <state>/plans/<client>. Empty for any other layout. */
Text state_folder(void);

/* Whether this is a call of our own making: OVERDECK_INERT equals the token in a 0600 file of ours. */
int inert(void);

#endif
