// A model of an H200: it runs all cubes of a launch, with the values in memory, and then replays what each warp asked
// of memory, for all multiprocessors together: sectors of 32 bytes, in lines of 128, go through an L1 of each
// multiprocessor and one L2, which forget the line that was used least recently.
//
// A multiprocessor holds as many cubes as registers, units and shared memory allow, and gets a new one when one ends.
// Its warps take turns. A turn is so many loads, or goes up to a barrier: the loads of a turn are in flight together.
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

enum { MULTIPROCESSORS = 132, REGISTERS = 65536, UNITS = 2048, MOST_CUBES = 32, LINE = 128, SECTOR = 32 };
enum { SHARED_MEMORY = 227 << 10, OF_SYSTEM = 1 << 10, UNIFIED = 256 << 10, MOST_WARPS = 32, MOST_SHARED = 1 << 18 };
enum { BARRIER = ATOMIC + 1 };

static size_t setting(const char *name, size_t otherwise) {
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

// What warps ask for.

struct access {
    uint64_t line;
    uint8_t sectors, kind, is_first;  // of an instruction
};
struct trace {
    struct access *list;
    size_t count, capacity, at;
};

static void add(struct trace *trace, struct access access) {
    if (trace->count == trace->capacity) {
        trace->capacity = trace->capacity ? 2 * trace->capacity : 1024;
        trace->list = realloc(trace->list, trace->capacity * sizeof *trace->list);
    }
    trace->list[trace->count++] = access;
}

static struct counts *counted;

// Words of the same bank of shared memory are read in turns.
static void ask_shared(int size, uint32_t active, const uint64_t *addresses) {
    uint64_t words[WARP][WARP];
    int of_bank[WARP] = {0}, most = 0;
    EACH_LANE(active) {
        for (uint64_t word = addresses[lane] / 4; addresses[lane] && word * 4 < addresses[lane] + size; word++) {
            int bank = word % WARP, at = 0;
            while (at < of_bank[bank] && words[bank][at] != word) at++;
            if (at == of_bank[bank] && at < WARP) words[bank][of_bank[bank]++] = word;
            most = MAX(most, of_bank[bank]);
        }
    }
    counted->shared += most;
}

static int is_shared(const struct warp *warp, uint64_t address) {
    return address - (uint64_t)warp->shared < MOST_SHARED;
}

void ask(struct warp *warp, int space, int kind, int size, uint32_t active, const uint64_t *addresses) {
    if (space == SHARED || (space == GENERIC && is_shared(warp, addresses[__builtin_ctz(active)])))
        return ask_shared(size, active, addresses);
    struct trace *trace = warp->trace;
    size_t first = trace->count;
    EACH_LANE(active) {
        uint64_t line = addresses[lane] / LINE;
        if (!line) continue;
        size_t at = trace->count;
        while (at > first && trace->list[at - 1].line != line) at--;
        if (at == first) {
            add(trace, (struct access){line, 0, kind, at == trace->count && trace->count == first});
            at = trace->count;
        }
        trace->list[at - 1].sectors |= 1 << addresses[lane] % LINE / SECTOR;
    }
    int is_store = kind != LOAD;
    *(is_store ? &counted->stores : &counted->loads) += trace->count > first;
    counted->lines[is_store] += trace->count - first;
    for (; first < trace->count; first++)
        counted->sectors[is_store] += __builtin_popcount(trace->list[first].sectors);
}

// The units that go on to a block.
static uint32_t going_to(const struct warp *warp, uint32_t units, uint16_t block) {
    uint32_t found = 0;
    EACH_LANE(units) found |= (uint32_t)(warp->next[lane] == block) << lane;
    return found;
}

// Runs a warp until its units have ended or are at a barrier, and returns whether they have ended. Units that go on to
// different blocks run one after the other, and together again from the block on where all their ways meet.
static int run_warp(const struct code *code, struct warp *warp) {
    for (;;) {
        struct group *group = &warp->groups[warp->waiting];
        uint16_t block = group->block, join = code->joins[block];
        uint32_t units = group->units;
        if (block == group->end) {
            warp->waiting--;
            continue;
        }
        if (block == code->last) return 1;
        code->blocks[block](warp, units);
        counted->instructions += code->costs[block];
        counted->of_units += code->costs[block] * __builtin_popcount(units);

        uint16_t next = warp->next[__builtin_ctz(units)];
        if (next >= BARRIER_BEFORE) {
            group->block = next - BARRIER_BEFORE;
            return 0;
        }
        uint32_t together = going_to(warp, units, next);
        if (together == units) {
            group->block = next;
            continue;
        }
        group->block = join;
        if (join == group->end) warp->waiting--;  // the group below waits there
        for (; units; units &= ~together) {
            next = warp->next[__builtin_ctz(units)];
            together = going_to(warp, units, next);
            if (next != join) warp->groups[++warp->waiting] = (struct group){together, next, join};
        }
    }
}

// A cube: what its warps have asked for, and have not been given yet.
struct cube {
    struct trace warps[MOST_WARPS];
    uint32_t count, running, at_barrier;
    uint8_t waits[MOST_WARPS];
};

static void run_cube(const struct launch *launch, uint64_t number, struct cube *cube) {
    static char *units, *shared;
    static size_t unit_bytes;
    const struct code *code = launch->code;
    uint32_t total = launch->size[0] * launch->size[1] * launch->size[2], warps = (total + WARP - 1) / WARP;
    if (unit_bytes < warps * WARP * code->unit_size) {
        unit_bytes = warps * WARP * code->unit_size;
        free(units);
        units = aligned_alloc(64, (unit_bytes + 63) / 64 * 64);
    }
    if (!shared) shared = aligned_alloc(MOST_SHARED, MOST_SHARED);
    struct warp running[MOST_WARPS];
    for (uint32_t i = 0; i < warps; i++) {
        struct warp *warp = &running[i];
        *warp = (struct warp){
            .first = i * WARP,
            .units = units + i * WARP * code->unit_size,
            .shared = shared,
            .parameters = launch->parameters,
            .trace = &cube->warps[i],
        };
        uint32_t units = MIN(total - i * WARP, WARP);
        warp->groups[0] = (struct group){~0u >> (WARP - units), 0, NO_BLOCK};
        memcpy(warp->size, launch->size, sizeof warp->size);
        memcpy(warp->cubes, launch->cubes, sizeof warp->cubes);
        warp->cube[0] = number % launch->cubes[0];
        warp->cube[1] = number / launch->cubes[0] % launch->cubes[1];
        warp->cube[2] = number / launch->cubes[0] / launch->cubes[1];
        cube->warps[i].count = cube->warps[i].at = 0;
        cube->waits[i] = 0;
    }
    cube->count = warps;
    cube->running = cube->at_barrier = 0;
    counted->warps += warps;
    for (uint32_t ended = 0; ended < warps;) {
        ended = 0;
        for (uint32_t i = 0; i < warps; i++) {
            int has_ended = run_warp(code, &running[i]);
            ended += has_ended;
            if (!has_ended) add(&cube->warps[i], (struct access){.kind = BARRIER});
        }
    }
    for (uint32_t i = 0; i < warps; i++) cube->running += cube->warps[i].count > 0;
}

// Caches.

struct line {
    uint64_t number;
    uint32_t newer, older, chained;
    uint8_t valid, dirty;
};
struct cache {
    struct line *lines;  // of which line 0 begins and ends the list
    uint32_t *chains, count, used, mask;
};

static void empty(struct cache *cache, size_t bytes) {
    uint32_t chains = 1;
    cache->count = bytes / LINE;
    while (chains < 2 * cache->count) chains *= 2;
    cache->mask = chains - 1;
    free(cache->lines);
    free(cache->chains);
    cache->lines = calloc(cache->count + 1, sizeof *cache->lines);
    cache->chains = calloc(chains, sizeof *cache->chains);
    cache->used = 0;
}

static uint32_t *chain(struct cache *cache, uint64_t number) {
    return &cache->chains[(number * 0x9E3779B97F4A7C15u >> 32) & cache->mask];
}

static void unlink_line(struct cache *cache, uint32_t at) {
    struct line *line = &cache->lines[at];
    cache->lines[line->newer].older = line->older;
    cache->lines[line->older].newer = line->newer;
}

// The line, as the newest. If it was not there, it is there without sectors, and `lost` is how many dirty sectors left.
static struct line *touch(struct cache *cache, uint64_t number, int *lost) {
    struct line *lines = cache->lines;
    uint32_t at = *chain(cache, number);
    while (at && lines[at].number != number) at = lines[at].chained;
    if (at) {
        unlink_line(cache, at);
    } else {
        if (cache->used < cache->count) {
            at = ++cache->used;
        } else {
            at = lines[0].newer;  // the oldest
            unlink_line(cache, at);
            *lost += __builtin_popcount(lines[at].dirty);
            uint32_t *link = chain(cache, lines[at].number);
            while (*link != at) link = &lines[*link].chained;
            *link = lines[at].chained;
        }
        lines[at] = (struct line){.number = number, .chained = *chain(cache, number)};
        *chain(cache, number) = at;
    }
    lines[at].older = lines[0].older;
    lines[at].newer = 0;
    lines[lines[0].older].newer = at;
    lines[0].older = at;
    return &lines[at];
}

static void get(struct cache *l1, struct cache *l2, const struct access *access) {
    int lost = 0, is_store = access->kind != LOAD, there = 0;
    uint8_t asked = access->sectors;
    struct line *line;
    if (!is_store) {
        line = touch(l1, access->line, &lost);
        there = line->valid & asked;
        line->valid |= asked;
        asked &= ~there;
    }
    counted->hits[is_store] += __builtin_popcount(there);
    if (!asked) return;
    lost = 0;
    line = touch(l2, access->line, &lost);
    counted->written += lost;
    if (is_store) {
        counted->l2_written += __builtin_popcount(asked);
        line->dirty |= asked;
    } else {
        counted->l2_read += __builtin_popcount(asked);
        counted->l2_hits += __builtin_popcount(asked & line->valid);
        counted->read += __builtin_popcount(asked & ~line->valid);
    }
    line->valid |= asked;
}

// Multiprocessors.

struct multiprocessor {
    struct cube *cubes[MOST_CUBES];
    uint32_t next_cube, next_warp;
    struct cache l1;
};

// Gives a warp its turn. Returns whether it has ended with it.
static int take_turn(struct multiprocessor *processor, struct cache *l2, struct cube *cube, uint32_t number,
                     int loads) {
    struct trace *trace = &cube->warps[number];
    for (; trace->at < trace->count; trace->at++) {
        struct access *access = &trace->list[trace->at];
        if (access->kind == BARRIER) {
            if (++trace->at == trace->count) return 1;
            cube->waits[number] = 1;
            cube->at_barrier++;
            return 0;
        }
        if (access->is_first && loads-- == 0) return 0;
        get(&processor->l1, l2, access);
    }
    return 1;
}

static void turn(struct multiprocessor *processor, struct cache *l2, uint32_t resident, int loads) {
    for (uint32_t tries = 0; tries < resident * MOST_WARPS; tries++) {
        struct cube *cube = processor->cubes[processor->next_cube];
        uint32_t number = processor->next_warp;
        if (!cube || ++processor->next_warp >= cube->count) {
            processor->next_warp = 0;
            processor->next_cube = (processor->next_cube + 1) % resident;
        }
        if (!cube || cube->waits[number] || cube->warps[number].at == cube->warps[number].count) continue;
        cube->running -= take_turn(processor, l2, cube, number, loads);
        if (cube->at_barrier >= cube->running) {
            memset(cube->waits, 0, sizeof cube->waits);
            cube->at_barrier = 0;
        }
        return;
    }
}

static uint32_t resident_cubes(const struct launch *launch, size_t shared) {
    uint32_t units = launch->size[0] * launch->size[1] * launch->size[2], warps = (units + WARP - 1) / WARP;
    uint32_t registers = (launch->code->registers + 7) / 8 * 8 * WARP * warps;
    uint32_t cubes = MIN(MOST_CUBES, UNITS / (WARP * warps));
    cubes = MIN(cubes, REGISTERS / registers);
    cubes = MIN(cubes, SHARED_MEMORY / (shared + OF_SYSTEM) + !shared);
    return MAX(cubes, 1);
}

// What a multiprocessor's memory has left for its L1.
static size_t l1_bytes(size_t shared) {
    static const int choices[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    int choice = 0;
    while (choice < 9 && (size_t)choices[choice] << 10 < shared) choice++;
    return UNIFIED - ((size_t)choices[choice] << 10);
}

void run(const struct launch *launch, struct counts *counts) {
    static struct multiprocessor processors[MULTIPROCESSORS];
    static struct cache l2;
    static struct cube cubes[MULTIPROCESSORS][MOST_CUBES];
    counted = counts;
    *counts = (struct counts){0};
    uint64_t next = 0, total = (uint64_t)launch->cubes[0] * launch->cubes[1] * launch->cubes[2], running = 0;
    size_t shared = launch->code->shared + launch->shared;
    int loads = setting("LOADS_OF_A_TURN", 8);
    counts->resident = resident_cubes(launch, shared);
    counts->l1 = setting("L1_BYTES", l1_bytes(counts->resident * (shared + OF_SYSTEM)));
    empty(&l2, setting("L2_BYTES", 50 << 20));
    for (int i = 0; i < MULTIPROCESSORS; i++) {
        empty(&processors[i].l1, counts->l1);
        processors[i].next_cube = processors[i].next_warp = 0;
        memset(processors[i].cubes, 0, sizeof processors[i].cubes);
    }
    for (uint32_t slot = 0; slot < counts->resident; slot++) {  // a cube each, then another
        for (int i = 0; i < MULTIPROCESSORS && next < total; i++, running++) {
            processors[i].cubes[slot] = &cubes[i][slot];
            run_cube(launch, next++, &cubes[i][slot]);
        }
    }
    while (running) {
        for (int i = 0; i < MULTIPROCESSORS; i++) {
            struct multiprocessor *processor = &processors[i];
            turn(processor, &l2, counts->resident, loads);
            for (uint32_t slot = 0; slot < counts->resident; slot++) {
                if (!processor->cubes[slot] || processor->cubes[slot]->running) continue;
                processor->cubes[slot] = NULL;
                running--;
                if (next < total) {
                    processor->cubes[slot] = &cubes[i][slot];
                    run_cube(launch, next++, &cubes[i][slot]);
                    running++;
                }
            }
        }
    }
}
