// What a launch does on the modelled GPU: `gpu.c` runs it, and `driver.c` writes it down.
#include <stddef.h>
#include <stdint.h>

#include "warp.h"

struct launch {
    const struct code *code;
    uint32_t cubes[3], size[3];
    size_t shared;  // bytes that the launch adds to the shared memory of a cube
    void **parameters;
};

struct counts {
    uint64_t warps, instructions, of_units;       // instructions of warps, and of their units
    uint64_t loads, stores, sectors[2], lines[2];  // of global memory; loads and stores apart
    uint64_t shared;                               // turns of the shared memory
    uint64_t hits[2];                              // sectors that L1 had
    uint64_t l2_read, l2_written, l2_hits;         // sectors between L1 and L2, and of those read the ones that L2 had
    uint64_t read, written;                        // sectors between L2 and memory
    uint32_t resident;                             // cubes on a multiprocessor
    uint32_t l1;                                   // bytes of its L1
};

void run(const struct launch *launch, struct counts *counts);
