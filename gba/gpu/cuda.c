/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/gpu/cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct gba_cuda gba_cuda;
static char cause[192]; /* "": the driver works */

/* The driver is not closed again, as its threads run its code. */
static void driver_open(void)
{
    static const struct {
        const char *symbol;
        size_t offset;
    } functions[] = {
#define X(name, symbol, args) {symbol, offsetof(struct gba_cuda, name)},
        GBA_CU_FUNCTIONS(X)
#undef X
    };
    void *library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    const char *name = "?";
    int count = 0, result;
    void *address;

    if (library == NULL) {
        snprintf(cause, sizeof cause, "no CUDA driver: %.160s", dlerror());
        return;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        address = dlsym(library, functions[i].symbol);
        if (address == NULL && functions[i].offset != offsetof(struct gba_cuda, batch)) {
            snprintf(cause, sizeof cause,
                     "the CUDA driver is too old: it has no %s; CUDA 12.2 or later is needed",
                     functions[i].symbol);
            return;
        }
        memcpy((char *)&gba_cuda + functions[i].offset, &address, sizeof address);
    }
    result = gba_cuda.init(0);
    if (0 == result)
        result = gba_cuda.devices(&count);
    if (0 != result)
        (void)gba_cuda.error(result, &name);
    if (0 != result || 0 == count)
        snprintf(cause, sizeof cause, "no GPU: %s",
                 0 != result ? name : "the CUDA driver finds none");
}

const char *gba_cuda_open(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, driver_open);
    return '\0' != cause[0] ? cause : NULL;
}
