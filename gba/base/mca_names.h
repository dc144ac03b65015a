/* SPDX-License-Identifier: BSD-3-Clause */
/* The names of MCA parameters of the components, and those that a user has misspelt. */
#ifndef GBA_BASE_MCA_NAMES_H
#define GBA_BASE_MCA_NAMES_H

/*
 * Find names in the environment and in parameter files of Open MPI that are no parameter, although
 * they are meant for these components: with their prefix, with "gba" in it, or near a name that is
 * one. Open MPI itself ignores them without a word.
 * files: paths, separated by commas or colons. visit: called with a line about each name.
 */
void gba_mca_names_check(const char *files, void (*visit)(void *ctx, const char *line), void *ctx);

/* The same for the variables GBA_* of parameters, which only programs without MPI read. */
void gba_mca_variables_check(void (*visit)(void *ctx, const char *line), void *ctx);

#endif
