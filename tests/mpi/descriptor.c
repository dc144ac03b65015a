/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that opens a file of its own with the number of the descriptor in which the plugin
 * keeps the texts of gba_info --why, as one does that first closes all descriptors. The plugin
 * neither writes to that file nor closes it. Run it without a device, so that there are texts.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gba/base/why.h"
#include "tests/mpi/test.h"

/* The descriptor of the texts of this process; -1: none. */
static int texts_find(void)
{
    char name[GBA_WHY_NAME_MAX], wanted[64], link[64];
    DIR *dir = opendir("/proc/self/fd");
    const struct dirent *entry;
    int number = -1;

    gba_why_name((int32_t)getpid(), name);
    snprintf(wanted, sizeof wanted, "/memfd:%s (deleted)", name);
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        const ssize_t len = readlinkat(dirfd(dir), entry->d_name, link, sizeof link - 1);

        if (len > 0 && (size_t)len == strlen(wanted) && memcmp(link, wanted, (size_t)len) == 0)
            number = (int)strtol(entry->d_name, NULL, 10);
    }
    if (dir != NULL)
        closedir(dir);
    return number;
}

/* A communicator with some barriers, so that its members agree, and one of them has a new text. */
static void barriers(int slot)
{
    struct test_proof proof;
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    test_proof_begin(&proof, comm, "a copy", slot, 1);
    for (int i = 0; i < 5; i++)
        test_proof_barrier(&proof);
    test_proof_end(&proof);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    FILE *file = tmpfile();
    int number = -1, code;
    MPI_Comm before;
    struct stat status;

    test_begin(&argc, &argv, MPI_THREAD_SINGLE);
    test_step("barriers with the descriptor of another file");
    MPI_Comm_dup(MPI_COMM_WORLD, &before);
    for (int i = 0; i < 5; i++)
        MPI_Barrier(before);
    barriers(0);
    if (test_rank == 0) {
        number = texts_find();
        if (number < 0)
            test_fail("there is no file of texts");
        if (file == NULL || dup2(fileno(file), number) < 0)
            test_fail("cannot replace the descriptor");
    }
    barriers(1);
    MPI_Comm_free(&before);
    barriers(2);
    code = test_end();
    if (number >= 0 && (fstat(number, &status) != 0 || status.st_size != 0)) {
        printf("FAIL: the plugin has written to the file of the program, or closed it\n");
        return 1;
    }
    return code;
}
