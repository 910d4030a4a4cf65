/* The document on standard input that this call is about. payload.c owns it. */
#ifndef OVERDECK_PAYLOAD_H
#define OVERDECK_PAYLOAD_H

#include "scan.h"
#include "text.h"

typedef struct {
    uint8_t *bytes;
    size_t len, room;
    int cut;                        /* reading ended by one of our bounds, not by the client */
    Scan scan;
} Payload;

extern Payload payload;

/* Read one document: until it is complete, end of file, 2 s of silence, 5 s in all, or 64 MiB. 0 = not complete. */
int read_payload(void);

/* A top-level value that is a plain string (no escapes): its inside. Empty and 0 for anything else. */
int plain_string(int key, Text *out);

#endif
