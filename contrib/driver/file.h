/* SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause */
/* Open files, their calls and their mappings. */
#ifndef GBA_DRIVER_FILE_H
#define GBA_DRIVER_FILE_H

#include "gba_driver.h"

/* --- map.c --- */

int gba_file_map_init(struct gba_file *file, struct file *filp);
void gba_file_map_exit(struct gba_file *file);
int gba_mmap(struct file *filp, struct vm_area_struct *vma);

/* Give a mapping its offset, or remove it. */
int gba_mapping_add(struct gba_file *file, struct gba_mapping *map);
void gba_mapping_remove(struct gba_file *file, struct gba_mapping *map);

/* Replace the page in all mappings of an offset. No later store reaches the old page. */
void gba_mapping_replace(struct gba_file *file, struct gba_mapping *map, unsigned long pfn);

int gba_slot_get(struct gba_file *file, struct gba_flag_page **page, unsigned int *slot);
void gba_slot_put(struct gba_flag_page *page, unsigned int slot);
struct gba_flag_slot *gba_slot(struct gba_flag_page *page, unsigned int slot);

/* Replace the coherent memory by the shadows before the device is removed. Under lock. */
void gba_pages_detach(struct gba_file *file);

/* --- calls.c --- */

long gba_call(struct gba_file *file, unsigned int command, void __user *argument);

/* --- file.c --- */

extern const struct file_operations gba_fops;

/* Leave the memberships of a file, and free its allocations. Under lock. */
void gba_file_end(struct gba_file *file);

/*
 * The work of gba_device.health_work: check the device, and find processes that ended without a
 * close.
 */
void gba_health(struct work_struct *work);

#endif
