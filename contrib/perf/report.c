/* SPDX-License-Identifier: BSD-3-Clause */
/* gba_perf_report: reads records on standard input, prints a report on standard output. */
#include <stdio.h>
#include <string.h>

#include "contrib/perf/records.h"

static const char usage[] =
    "usage: gba_perf_report table|csv|json <RECORDS\n"
    "       gba_perf_report plot DIRECTORY <RECORDS\n"
    "Prints the results of gba_perf, or writes the data of its plot into files of DIRECTORY.\n"
    "gba_perf(1) runs this program.\n";

int main(int argc, char **argv)
{
    const char *format = argc > 1 ? argv[1] : "";
    bool plot = strcmp(format, "plot") == 0, good = true;
    struct perf_report report;

    if (strcmp(format, "--help") == 0)
        return fputs(usage, stdout) < 0;
    if (argc != (plot ? 3 : 2) || (!plot && strcmp(format, "table") != 0 &&
                                   strcmp(format, "csv") != 0 && strcmp(format, "json") != 0)) {
        fputs(usage, stderr);
        return 2;
    }
    if (!perf_report_read(&report, stdin))
        return 1;
    if (plot)
        good = perf_write_plot(&report, argv[2]);
    else if (strcmp(format, "csv") == 0)
        perf_write_csv(&report, stdout);
    else if (strcmp(format, "json") == 0)
        perf_write_json(&report, stdout);
    else
        perf_write_table(&report, stdout);
    perf_report_free(&report);
    return good && fflush(stdout) == 0 ? 0 : 1;
}
