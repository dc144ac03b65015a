/* SPDX-License-Identifier: BSD-3-Clause */
/* The description of a cluster: its lines, and the message for each invalid one. */
#include <glob.h>
#include <locale.h>
#include <unistd.h>

#include "gba/base/cluster.h"
#include "tests/suite.h"
#include "tests/unit/base/file_limit.h"

static char file[] = "/tmp/gba-cluster.XXXXXX";
static char message[400];

static gba_status_t read_text(const char *text, struct gba_cluster *cluster)
{
    FILE *f = fopen(file, "w");

    assert_non_null(f);
    assert_true(fputs(text, f) >= 0);
    assert_int_equal(fclose(f), 0);
    gba_cluster_default(cluster);
    message[0] = '\0';
    return gba_cluster_read(file, cluster, message, sizeof message);
}

TEST(test_keys)
{
    struct gba_cluster cluster;

    (void)setlocale(LC_ALL, ""); /* the decimal point is a point everywhere */
    assert_int_equal(read_text("# all kinds of lines\n\n  hosts = 900 # behind a value\nL=850.25\n"
                               "G = 0.04\nsource = a = b\nhop = 2.123",
                               &cluster),
                     GBA_OK);
    assert_int_equal(cluster.hosts, 900);
    assert_int_equal(cluster.L, 850250);
    assert_int_equal(cluster.G, 40);
    assert_int_equal(cluster.hop, 2123);
    assert_int_equal(cluster.store, 60000);
    assert_string_equal(cluster.source, "a = b");
}

TEST(test_invalid)
{
    static const struct {
        const char *text, *cause;
    } cases[] = {
        {"hosts = 3\nlatency = 4\n",
         ":2: there is no key latency; allowed: extrapolated, hosts, ranks, cores, "},
        {"hosts\n", ":1: \"hosts\" is not of the form"},
        {"hosts = 1\nhosts = 2\n", ":2: hosts is given a second time"},
        {"hosts =\n", ":1: hosts= is invalid"},
        {"hosts = 1.5\n", ":1: hosts=1.5 is invalid"},
        {"hosts = 0\n", "allowed: 1 to 1.67772e+07"},
        {"L = -1\n",
         "L=-1 is invalid; allowed: 0 to 1e+09 ns, or with a unit: ns, us, ms, s, m, h"},
        {"L = 1e3\n", "L=1e3 is invalid"},
        {"L = 0.0001\n", "is invalid"},
        {"L = 99999999999999999999\n", "is invalid"},
        {"source =\n", "source= is invalid; allowed: 1 to 199 characters"},
    };
    struct gba_cluster cluster;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(read_text(cases[i].text, &cluster), GBA_ERR_PARAM);
        if (strstr(message, cases[i].cause) == NULL)
            fail_msg("%s: %s", cases[i].text, message);
    }
    assert_int_equal(gba_cluster_read("/nowhere", &cluster, message, sizeof message), GBA_ERR_IO);
    assert_string_equal(message, "cannot open /nowhere: No such file or directory");
    files_limit(0);
    assert_int_equal(gba_cluster_read("/nowhere", &cluster, message, sizeof message),
                     GBA_ERR_NO_FILES);
    files_unlimit();
    assert_string_equal(message, "cannot open /nowhere: Too many open files");
}

/* The installed descriptions: each can be read, and each line with a number has a comment, which is
 * the source of the number. */
TEST(test_published)
{
    const char *top = getenv("srcdir"); /* of make check */
    char pattern[300], line[200];
    struct gba_cluster cluster;
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/gba/clusters/*.cluster", top != NULL ? top : ".");
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 5);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        FILE *f = fopen(found.gl_pathv[i], "r");

        gba_cluster_default(&cluster);
        message[0] = '\0';
        (void)gba_cluster_read(found.gl_pathv[i], &cluster, message, sizeof message);
        assert_string_equal(message, "");
        assert_string_not_equal(cluster.source, "built-in defaults");
        assert_true(cluster.extrapolated);
        assert_non_null(f);
        while (fgets(line, sizeof line, f) != NULL)
            if (line[0] != '#' && strncmp(line, "source", 6) != 0 && strstr(line, " # ") == NULL)
                fail_msg("%s: no source: %s", found.gl_pathv[i], line);
        fclose(f);
    }
    globfree(&found);
}

int main(void)
{
    int fd = mkstemp(file), failures;

    if (fd < 0)
        return 1;
    close(fd);
    failures = SUITE_RUN(NULL, NULL);
    unlink(file);
    return failures;
}
