// A CUDA driver whose device, an H200 by its attributes, computes nothing: its memory is the host's. The first launch
// of a kernel whose name starts with RECORD is written down in the folder RECORDS, with the kernel's PTX and what it
// was given. `count.py` and `scripts/gpu/rehearse` build it as libcuda.so.1, so that CubeCL compiles kernels and
// launches them where no GPU is.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t pointer;
typedef unsigned int count;

// Memory, and how much of it lies beyond a pointer.

struct allocation {
    pointer start;
    size_t size;
};
static struct allocation allocations[1 << 16];
static size_t allocated;

static int allocate(pointer *start, size_t size) {
    void *memory = NULL;
    size_t last = sizeof allocations / sizeof *allocations - 1;
    if (posix_memalign(&memory, 512, size ? size : 1)) return 2;
    *start = (pointer)memory;
    allocations[allocated < last ? allocated++ : last] = (struct allocation){*start, size};
    return 0;
}

static size_t beyond(pointer place) {
    for (size_t i = allocated; i-- > 0;) {
        pointer end = allocations[i].start + allocations[i].size;
        if (place >= allocations[i].start && place < end) return end - place;
    }
    return 0;
}

int cuMemAlloc_v2(pointer *start, size_t size) { return allocate(start, size); }
int cuMemAllocAsync(pointer *start, size_t size, void *stream) { return allocate(start, size); }
int cuMemAllocHost_v2(pointer *start, size_t size) { return allocate(start, size); }
int cuMemFree_v2(void *start) { return free(start), 0; }
int cuMemFreeAsync(void *start, void *stream) { return free(start), 0; }
int cuMemFreeHost(void *start) { return free(start), 0; }

static int copy(void *to, const void *from, size_t size) { return memcpy(to, from, size), 0; }
int cuMemcpyHtoDAsync_v2(void *to, void *from, size_t size, void *stream) { return copy(to, from, size); }
int cuMemcpyDtoHAsync_v2(void *to, void *from, size_t size, void *stream) { return copy(to, from, size); }
int cuMemcpyDtoDAsync_v2(void *to, void *from, size_t size, void *stream) { return copy(to, from, size); }

struct rows {  // CUDA_MEMCPY2D, as cuda.h has it
    size_t from_x, from_y;
    int from_kind;
    char *from_host, *from_device;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    int to_kind;
    char *to_host, *to_device;
    void *to_array;
    size_t to_pitch, width, height;
};
int cuMemcpy2DAsync_v2(const struct rows *rows, void *stream) {
    enum { HOST = 1 };
    const char *from = rows->from_kind == HOST ? rows->from_host : rows->from_device;
    char *to = rows->to_kind == HOST ? rows->to_host : rows->to_device;
    for (size_t row = 0; row < rows->height; row++)
        memcpy(to + row * rows->to_pitch, from + row * rows->from_pitch, rows->width);
    return 0;
}

// The device.

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    switch (attribute) {
        case 1: case 2: case 3: return *value = 1024, 0;  // units of a block, and along x and y
        case 4: return *value = 64, 0;                    // along z
        case 5: return *value = 0x7FFFFFFF, 0;            // blocks along x
        case 6: case 7: return *value = 65535, 0;         // along y and z
        case 10: return *value = 32, 0;                   // units of a warp
        case 16: return *value = 132, 0;                  // multiprocessors
        case 75: return *value = 9, 0;                    // compute capability 9.0
        case 76: return *value = 0, 0;
        case 97: return *value = 232448, 0;               // shared memory of a block
        default: return *value = 1, 0;
    }
}
int cuDriverGetVersion(int *version) { return *version = 12080, 0; }
int cuDeviceGet(int *device, int number) { return *device = number, 0; }
int cuDeviceGetCount(int *devices) { return *devices = 1, 0; }
int cuDeviceTotalMem_v2(size_t *size, int device) { return *size = (size_t)16 << 30, 0; }
int cuDeviceGetName(char *name, int size, int device) { return snprintf(name, size, "NVIDIA H200"), 0; }
int cuDeviceGetPCIBusId(char *id, int size, int device) { return snprintf(id, size, "0000:01:00.0"), 0; }
int cuDeviceGetUuid(char *id, int device) { return memset(id, 1, 16), 0; }
int cuDeviceGetUuid_v2(char *id, int device) { return memset(id, 1, 16), 0; }
int cuCtxGetStreamPriorityRange(int *least, int *greatest) { return *least = *greatest = 0; }

// What is made is never used.

static int make(void **handle) { return *handle = (void *)1, 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return make(context); }
int cuStreamCreate(void **stream, count flags) { return make(stream); }
int cuStreamCreateWithPriority(void **stream, count flags, int priority) { return make(stream); }
int cuEventCreate(void **event, count flags) { return make(event); }

#define DONE(name) int name(void) { return 0; }
DONE(cuInit) DONE(cuCtxSetCurrent) DONE(cuCtxSynchronize) DONE(cuDevicePrimaryCtxRelease_v2)
DONE(cuDeviceGetLuid) DONE(cuStreamSynchronize) DONE(cuStreamWaitEvent) DONE(cuStreamDestroy_v2)
DONE(cuEventRecord) DONE(cuEventSynchronize) DONE(cuEventQuery) DONE(cuEventDestroy_v2)
DONE(cuFuncSetAttribute) DONE(cuModuleUnload) DONE(cuGetErrorString) DONE(cuGetErrorName)

// Kernels.

struct function {
    char *ptx;
    char *name;
};
int cuModuleLoadData(void **module, const char *ptx) { return *module = strdup(ptx), 0; }
int cuModuleGetFunction(void **function, char *module, const char *name) {
    struct function *made = malloc(sizeof *made);
    *made = (struct function){module, strdup(name)};
    return *function = made, 0;
}

static const size_t LARGEST = (size_t)80 << 20;

static FILE *create(const char *name, const char *ending) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.%s", getenv("RECORDS"), name, ending);
    return fopen(path, "wb");
}

static void record(const struct function *kernel, const uint64_t dimensions[6], uint64_t shared, void **arguments) {
    FILE *ptx = create(kernel->name, "ptx"), *launch = create(kernel->name, "launch");
    if (!ptx || !launch) exit(1);
    fputs(kernel->ptx, ptx);
    fclose(ptx);
    fwrite(dimensions, sizeof *dimensions, 6, launch);
    fwrite(&shared, sizeof shared, 1, launch);
    // A parameter is the address of a buffer, or a block of bytes: `.param .align 8 .b8 name[size]`.
    const char *end = strstr(kernel->ptx, "\n)"), *line = strstr(kernel->ptx, ".entry");
    for (int i = 0; (line = strstr(line, "\t.param")) && line < end; i++) {
        const char *rest = strchr(line, '\n'), *bytes = strchr(line, '[');
        uint64_t block = bytes && bytes < rest ? strtoull(bytes + 1, NULL, 10) : 0;
        uint64_t start = block ? 0 : *(pointer *)arguments[i];
        uint64_t size = block ? block : beyond(start) < LARGEST ? beyond(start) : LARGEST;
        fwrite(&start, sizeof start, 1, launch);
        fwrite(&size, sizeof size, 1, launch);
        fwrite(block ? arguments[i] : (void *)start, 1, size, launch);
        line = rest;
    }
    fclose(launch);
}

int cuLaunchKernel(struct function *kernel, count blocks_x, count blocks_y, count blocks_z, count units_x,
                   count units_y, count units_z, count shared, void *stream, void **arguments, void **extra) {
    static int recorded;
    const char *name = getenv("RECORD");
    if (name && !strncmp(kernel->name, name, strlen(name)) && !recorded++) {
        uint64_t dimensions[] = {blocks_x, blocks_y, blocks_z, units_x, units_y, units_z};
        record(kernel, dimensions, shared, arguments);
    }
    return 0;
}
