/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/base/command_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The long option that the argument names, in full or in part; NULL: none. */
static const struct option *option_of(const char *argument, const struct option *known)
{
    const size_t len = strcspn(argument, "=");

    if (len < 3 || 0 != strncmp(argument, "--", 2))
        return NULL;
    while (known->name != NULL && 0 != strncmp(argument + 2, known->name, len - 2))
        known++;
    return known->name == NULL ? NULL : known;
}

int gba_option_next(int argc, char *const *argv, const struct option *known, char *message,
                    size_t len)
{
    const struct option *option;
    const char *wrong;
    size_t used;
    int found, before;

    opterr = 0;
    before = optind;
    found = getopt_long(argc, argv, ":", known, NULL);
    if ('?' != found && ':' != found)
        return found;
    wrong = argv[optind == before ? optind : optind - 1]; /* getopt stays in a word of letters */
    option = option_of(wrong, known);
    if (':' == found && option != NULL) {
        snprintf(message, len, "--%s needs a value", option->name);
        return '?';
    }
    if (option != NULL && no_argument == option->has_arg && strchr(wrong, '=') != NULL) {
        snprintf(message, len, "--%s takes no value", option->name);
        return '?';
    }
    used = (size_t)snprintf(message, len, "%.64s is not an option; allowed:", wrong);
    for (option = known; option->name != NULL && used < len; option++)
        used += (size_t)snprintf(message + used, len - used, "%s --%s", option == known ? "" : ",",
                                 option->name);
    return '?';
}

void gba_output_begin(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0) /* the lowest free descriptor is fd */
            (void)open("/dev/null", STDIN_FILENO == fd ? O_WRONLY : O_RDONLY);
}

int gba_output_end(const char *program, int code, int lost)
{
    const bool failed = ferror(stdout) != 0; /* of an earlier write, whose cause is not known */

    errno = 0;
    if (fclose(stdout) == 0 && !failed)
        return code;
    fprintf(stderr, "%s: output lost: %s\n", program,
            0 == errno ? "cannot write to standard output" : strerror(errno));
    return lost;
}
