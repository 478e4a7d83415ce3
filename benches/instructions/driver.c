// A CUDA driver without a GPU, whose device is an H200 by its attributes. Its memory is the host's.
//
// With TRANSLATE, a command that makes C of PTX, launches run on the model of `gpu.c`, and what each one did is written
// down in the folder RECORDS. Without it nothing is computed. Where MODULES names a folder, the PTX of every kernel is
// written there. `count` and `assemble` build it as libcuda.so.1, so that CubeCL compiles kernels where no GPU is.
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu.h"

typedef uint64_t pointer;
typedef unsigned int count;

// Memory.

static int allocate(pointer *start, size_t size) {
    void *memory = NULL;
    if (posix_memalign(&memory, 512, size ? size : 1)) return 2;
    return *start = (pointer)memory, 0;
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
DONE(cuEventRecord) DONE(cuEventQuery) DONE(cuEventDestroy_v2)
DONE(cuFuncSetAttribute) DONE(cuModuleUnload) DONE(cuGetErrorString) DONE(cuGetErrorName)

// Kernels.

struct function {
    char *ptx;
    char *name;
    const struct code *code;
    int is_translated;
};
int cuModuleLoadData(void **module, const char *ptx) {
    static int loaded;
    const char *folder = getenv("MODULES");
    if (folder) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%d.ptx", folder, __sync_fetch_and_add(&loaded, 1));
        FILE *file = fopen(path, "w");
        if (!file) exit(1);
        fputs(ptx, file);
        fclose(file);
    }
    return *module = strdup(ptx), 0;
}
int cuModuleGetFunction(void **function, char *module, const char *name) {
    struct function *made = malloc(sizeof *made);
    *made = (struct function){module, strdup(name), NULL, 0};
    return *function = made, 0;
}

static int has_run;

// Translated, if TRANSLATE names a command that does it.
static const struct code *translated(const struct function *kernel) {
    char path[4096], command[16384];
    snprintf(path, sizeof path, "%s/%s", getenv("RECORDS"), kernel->name);
    snprintf(command, sizeof command, "%s %s.ptx %s.so", getenv("TRANSLATE"), path, path);
    char *ending = path + strlen(path);
    strcpy(ending, ".ptx");
    FILE *file = fopen(path, "w");
    if (!file) exit(1);
    fputs(kernel->ptx, file);
    fclose(file);
    if (system(command)) return NULL;
    strcpy(ending, ".so");
    dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);  // of which the kernel calls `ask`
    void *library = dlopen(path, RTLD_NOW);
    if (!library) fprintf(stderr, "%s\n", dlerror());
    return library ? dlsym(library, "code") : NULL;
}

static void write_down(const char *name, const struct launch *launch, const struct counts *counts) {
    char path[4096];
    snprintf(path, sizeof path, "%s/launches.jsonl", getenv("RECORDS"));
    FILE *file = fopen(path, "a");
    if (!file) exit(1);
    fprintf(file, "{\"kernel\": \"%s\", \"registers\": %u", name, launch->code->registers);
#define FIELD(field) fprintf(file, ", \"" #field "\": %llu", (unsigned long long)counts->field);
#define PAIR(field) \
    fprintf(file, ", \"" #field "\": [%llu, %llu]", (unsigned long long)counts->field[0], \
            (unsigned long long)counts->field[1]);
    FIELD(resident) FIELD(l1) FIELD(warps) FIELD(instructions) FIELD(of_units) FIELD(loads) FIELD(stores)
    PAIR(sectors) PAIR(lines) PAIR(hits) FIELD(shared)
    FIELD(l2_read) FIELD(l2_written) FIELD(l2_hits) FIELD(read) FIELD(written)
    fprintf(file, "}\n");
    fclose(file);
}

int cuLaunchKernel(struct function *kernel, count blocks_x, count blocks_y, count blocks_z, count units_x,
                   count units_y, count units_z, count shared, void *stream, void **arguments, void **extra) {
    if (!getenv("TRANSLATE")) return 0;
    if (!kernel->is_translated) {
        kernel->is_translated = 1;
        kernel->code = translated(kernel);
        if (!kernel->code) fprintf(stderr, "%s was not run\n", kernel->name);
    }
    if (!kernel->code) return 0;
    struct launch launch = {
        kernel->code, {blocks_x, blocks_y, blocks_z}, {units_x, units_y, units_z}, shared, arguments,
    };
    struct counts counts;
    run(&launch, &counts);
    write_down(kernel->name, &launch, &counts);
    return has_run = 1, 0;
}

// The program ends when it has waited for kernels so often as WAITS says.
int cuEventSynchronize(void *event) {
    static int waits;
    const char *most = getenv("WAITS");
    waits += has_run;
    has_run = 0;
    if (most && waits == atoi(most)) _exit(0);
    return 0;
}
