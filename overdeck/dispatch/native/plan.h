/* The plan of one event: which modules there are, what each asks for, and which Python knows the rest. plan.c owns it. */
#ifndef OVERDECK_PLAN_H
#define OVERDECK_PLAN_H

#include "text.h"

enum { MAX_MODULES = 512, MAX_LITERALS = 8192, MAX_LITERAL = 64 };

typedef struct {
    Text id, tools;
    int gate, main_only, payload_literals;
    int literals;                   /* how many it has; 0 = always run */
    int unsearchable;               /* a literal too long for us: it may always act */
    int asked, may_act;
} Module;

typedef struct {
    Text word;
    int module;
} Literal;

typedef struct {
    int module;
    Text fields, path;
    uint64_t max_bytes;
} Native;

typedef struct {
    Text python, entry, bundle, fires, calls, state, client, named, crc;
    uint64_t total_deadline_ms;
    int stale;
    int module_count, literal_count, native_count, any_payload_literals;
} Plan;

extern Plan plan;
extern Module modules[MAX_MODULES];
extern Literal literals[MAX_LITERALS];
extern Native natives[MAX_MODULES];

/* Read the plan of this call's event; 0 where there is none that can be used, and then nothing is known of one. */
int load_plan(void);

/* Without a plan, the recipe beside it still says which Python can make one. */
int load_recipe(void);

/* One line of a plan whose crc fits; 0 when it is not understood. */
int plan_line(Text line);

/* As it was before any plan was read. */
void forget_plan(void);

#endif
