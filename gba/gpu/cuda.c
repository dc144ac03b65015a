/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/gpu/cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static struct {
    pthread_once_t once;
    struct gba_cuda cuda;
    bool works;
    char cause[192];
} driver = {.once = PTHREAD_ONCE_INIT};

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
        snprintf(driver.cause, sizeof driver.cause, "no CUDA driver: %.160s", dlerror());
        return;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        address = dlsym(library, functions[i].symbol);
        if (address == NULL && functions[i].offset != offsetof(struct gba_cuda, batch)) {
            snprintf(driver.cause, sizeof driver.cause,
                     "the CUDA driver is too old: it has no %s; CUDA 12.2 or later is needed",
                     functions[i].symbol);
            return;
        }
        memcpy((char *)&driver.cuda + functions[i].offset, &address, sizeof address);
    }
    result = driver.cuda.init(0);
    if (0 == result)
        result = driver.cuda.devices(&count);
    if (0 != result)
        (void)driver.cuda.error(result, &name);
    if (0 != result || 0 == count)
        snprintf(driver.cause, sizeof driver.cause, "no GPU: %s",
                 0 != result ? name : "the CUDA driver finds none");
    driver.works = 0 == result && count > 0;
}

const struct gba_cuda *gba_cuda_open(const char **cause)
{
    pthread_once(&driver.once, driver_open);
    *cause = driver.cause;
    return driver.works ? &driver.cuda : NULL;
}
