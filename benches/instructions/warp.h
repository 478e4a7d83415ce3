// How a kernel that `translate.py` has translated runs: warp by warp, block of instructions by block, and what it tells
// of the memory that it asks for.
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <tgmath.h>

enum { WARP = 32, BARRIER_BEFORE = 1 << 15, NO_BLOCK = (1 << 16) - 1 };
enum { LOAD, STORE, ATOMIC };
enum { GLOBAL, SHARED, GENERIC };

// Units of a warp that run a block together, and then others, until they are at the block where other units join them.
struct group {
    uint32_t units;
    uint16_t block, end;
};

struct warp {
    struct group groups[2 * WARP];  // the last runs, and each other one waits for those behind it
    int waiting;
    uint16_t next[WARP];  // the block that each unit goes on to, and BARRIER_BEFORE more from a barrier
    uint32_t first;       // the number of its first unit in the cube
    void *units;
    void *shared;
    void **parameters;
    uint32_t size[3], cube[3], cubes[3];
    struct trace *trace;
};

// What a kernel is to `gpu.c`.
struct code {
    void (*const *blocks)(struct warp *, uint32_t active);
    const uint16_t *costs;  // the instructions of each block
    const uint16_t *joins;  // of each block, where units meet again that go on from it to different ones
    uint16_t last;          // the block that ends the kernel
    uint64_t unit_size, shared;
    uint32_t registers;  // of a unit
};

// The units `active` ask for `size` bytes each, where the address is not 0.
void ask(struct warp *warp, int space, int kind, int size, uint32_t active, const uint64_t *addresses);

#define EACH_LANE(active) for (uint32_t left = active, lane; left && (lane = __builtin_ctz(left), 1); left &= left - 1)

// Special registers.

static inline uint32_t number_of(const struct warp *warp, uint32_t lane) { return warp->first + lane; }
static inline uint32_t tid_x(const struct warp *warp, uint32_t lane) { return number_of(warp, lane) % warp->size[0]; }
static inline uint32_t tid_y(const struct warp *warp, uint32_t lane) {
    return number_of(warp, lane) / warp->size[0] % warp->size[1];
}
static inline uint32_t tid_z(const struct warp *warp, uint32_t lane) {
    return number_of(warp, lane) / warp->size[0] / warp->size[1];
}
static inline uint32_t laneid(const struct warp *warp, uint32_t lane) { return (void)warp, lane; }
#define OF_CUBE(name, field, axis) \
    static inline uint32_t name(const struct warp *warp, uint32_t lane) { return (void)lane, warp->field[axis]; }
OF_CUBE(ntid_x, size, 0) OF_CUBE(ntid_y, size, 1) OF_CUBE(ntid_z, size, 2)
OF_CUBE(ctaid_x, cube, 0) OF_CUBE(ctaid_y, cube, 1) OF_CUBE(ctaid_z, cube, 2)
OF_CUBE(nctaid_x, cubes, 0) OF_CUBE(nctaid_y, cubes, 1) OF_CUBE(nctaid_z, cubes, 2)

// Numbers and their bits.

typedef struct {
    uint16_t bits;
} bf16;
#define BITS(name, type, whole)                                                                      \
    static inline type as_##name(uint64_t bits) {                                                    \
        whole low = (whole)bits;                                                                     \
        type number;                                                                                 \
        return memcpy(&number, &low, sizeof number), number;                                         \
    }                                                                                                \
    static inline whole bits_of_##name(type number) {                                                \
        whole bits;                                                                                  \
        return memcpy(&bits, &number, sizeof bits), bits;                                            \
    }
BITS(f16, _Float16, uint16_t)
BITS(f32, float, uint32_t)
BITS(f64, double, uint64_t)
static inline float as_bf16(uint64_t bits) { return as_f32(bits << 16); }
static inline uint16_t bits_of_bf16(float number) {
    uint32_t bits = bits_of_f32(number);
    return number == number ? (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 : 0x7FFF;
}

#define MIN(left, right) ((left) < (right) ? (left) : (right))
#define MAX(left, right) ((left) > (right) ? (left) : (right))
#define clamped(number, least, most) fmin(fmax(number, least), most)
#define copysign_of(sign, number) copysign(number, sign)
// Of what is no number it is 0.
#define TO_WHOLE(type, number, least, beyond, last) \
    ((number) >= (beyond) ? last : (number) > (least) ? (type)(number) : (number) <= (least) ? (type)(least) : (type)0)

static inline uint64_t bit_field(uint64_t bits, uint32_t first, uint32_t count) {
    return count ? bits >> (first & 63) & ~0ull >> (64 - MIN(count, 64u)) : 0;
}
static inline uint32_t permuted(uint32_t low, uint32_t high, uint32_t chosen) {
    uint64_t both = (uint64_t)high << 32 | low;
    uint32_t result = 0;
    for (int i = 0; i < 4; i++) result |= (both >> 8 * (chosen >> 4 * i & 7) & 0xFF) << 8 * i;
    return result;
}
static inline uint32_t popc_32(uint32_t bits) { return __builtin_popcount(bits); }
static inline uint32_t popc_64(uint64_t bits) { return __builtin_popcountll(bits); }
static inline uint32_t clz_32(uint32_t bits) { return bits ? __builtin_clz(bits) : 32; }
static inline uint32_t clz_64(uint64_t bits) { return bits ? __builtin_clzll(bits) : 64; }
