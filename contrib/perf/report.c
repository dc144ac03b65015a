/* SPDX-License-Identifier: BSD-3-Clause */
/* gba_perf_report: reads records on standard input, prints a report on standard output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/perf/records.h"
#include "gba/params.h"

static const char usage[] = "usage: gba_perf_report table|json|plot <RECORDS\n"
                            "       gba_perf_report number OPTION VALUE MIN MAX [NANOSECONDS]\n"
                            "Prints the results of gba_perf, or the data of its plot, or reads the "
                            "value of an option.\n"
                            "gba_perf(1) runs this program.\n";

/* Print the value of an option of gba_perf, or what is wrong with it. nanoseconds: of its unit. */
static int number_print(char **argument, const char *nanoseconds)
{
    const gba_param_t row = {.type = GBA_PARAM_UINT,
                             .min = strtoll(argument[2], NULL, 10),
                             .max = strtoll(argument[3], NULL, 10),
                             .unit = strtoull(nanoseconds, NULL, 10)};
    char message[300];
    unsigned int value;

    if (gba_param_set(&row, &value, argument[1]))
        return printf("%u\n", value) < 0;
    gba_param_refuse(&row, argument[0], argument[1], message, sizeof message);
    fprintf(stderr, "gba_perf: %s\n", message);
    return 2;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*write)(const struct perf_report *report, FILE *file);
    } formats[] = {
        {"table", perf_write_table}, {"json", perf_write_json}, {"plot", perf_write_plot}};
    const char *format = argc > 1 ? argv[1] : "";
    struct perf_report report;
    size_t i = 0;

    if (strcmp(format, "--help") == 0)
        return fputs(usage, stdout) < 0;
    if (strcmp(format, "number") == 0 && (argc == 6 || argc == 7))
        return number_print(argv + 2, argc == 7 ? argv[6] : "0");
    while (i < sizeof formats / sizeof formats[0] && strcmp(formats[i].name, format) != 0)
        i++;
    if (argc != 2 || i == sizeof formats / sizeof formats[0]) {
        fputs(usage, stderr);
        return 2;
    }
    if (!perf_report_read(&report, stdin))
        return 1;
    formats[i].write(&report, stdout);
    perf_report_free(&report);
    return fflush(stdout) == 0 ? 0 : 1;
}
