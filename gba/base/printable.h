/* SPDX-License-Identifier: BSD-3-Clause */
/* Names that a program or another process has chosen. */
#ifndef GBA_BASE_PRINTABLE_H
#define GBA_BASE_PRINTABLE_H

/* Replace every byte but those of printable ASCII by '?', so that the name stays on its line and a
 * terminal executes nothing. */
static inline void gba_printable(char *text)
{
    for (; '\0' != *text; text++)
        if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
            *text = '?';
}

#endif
