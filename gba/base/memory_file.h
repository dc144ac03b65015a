/* SPDX-License-Identifier: BSD-3-Clause */
/* Anonymous files: memory that processes share. */
#ifndef GBA_BASE_MEMORY_FILE_H
#define GBA_BASE_MEMORY_FILE_H

#include <stddef.h>
#include <stdint.h>

/*
 * Make an anonymous file (memfd). It is empty and closed on exec. Only its user can read and write
 * it. Seals can be added. Where the kernel supports it (Linux 6.3 and later), a seal keeps it from
 * ever being executable: a system with vm.memfd_noexec=2 refuses a file without that seal.
 *
 * name: shown in /proc/PID/fd and in maps; at most 249 bytes. Returns the descriptor, which the
 * caller closes, or -1 with the errno of memfd_create or fchmod. Thread-safe. Not collective.
 */
int gba_memory_file(const char *name);

/*
 * Map a file, shared with other processes, at an offset. The process keeps at least GBA_MAPS_SPARE
 * mappings that it can still make (vm.max_map_count): without any, malloc fails, and hardly a
 * program handles that. A look at what is left takes longer than many mappings, so it is good for
 * GBA_MAPS_LOOK of them. flags: of mmap, beside MAP_SHARED. Returns as mmap, with its errno.
 * Thread-safe. Not collective.
 */
#define GBA_MAPS_SPARE 64u
#define GBA_MAPS_LOOK  16u
void *gba_map_shared(size_t bytes, int protection, int flags, int file, uint64_t offset);

#endif
