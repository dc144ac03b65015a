// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Mappings of a file: doorbells and flag pages.
 *
 * Each open file has an address space of its own. A page fault looks up the page of the offset and
 * inserts it, both under map_lock. A change replaces the page of an offset and calls
 * unmap_mapping_range, both under map_lock. So no old page can be inserted after a change. The
 * driver needs no list of mappings, because the kernel finds every mapping of the address space,
 * including those that were moved or split, or whose mmap has not returned.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/mount.h>
#include <linux/pseudo_fs.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "file.h"

/* Offsets of at most 44 bits. */
#define GBA_OFFSETS XA_LIMIT(1, (u32)(BIT_ULL(44 - PAGE_SHIFT) - 1))

/* --- Address spaces: inodes of a file system that user space cannot mount --- */

static int gba_fs_init(struct fs_context *context)
{
	return init_pseudo(context, 0x47424130) ? 0 : -ENOMEM;
}

static struct file_system_type gba_fs = {
	.name = GBA_NAME,
	.owner = THIS_MODULE,
	.init_fs_context = gba_fs_init,
	.kill_sb = kill_anon_super,
};

/* Mounted while a file is open. */
static struct vfsmount *gba_mount;
static int gba_mounts;

int gba_file_map_init(struct gba_file *file, struct file *filp)
{
	int result;

	mutex_init(&file->map_lock);
	xa_init_flags(&file->mappings, XA_FLAGS_ALLOC1);
	file->next_offset = 1;
	INIT_LIST_HEAD(&file->pages);
	file->dummy = gba_page_alloc();
	if (!file->dummy)
		return -ENOMEM;
	result = simple_pin_fs(&gba_fs, &gba_mount, &gba_mounts);
	if (result)
		goto free_dummy;
	file->inode = alloc_anon_inode(gba_mount->mnt_sb);
	result = PTR_ERR_OR_ZERO(file->inode);
	if (result)
		goto release_fs;
	atomic_inc(&gba_allocated);
	filp->f_mapping = file->inode->i_mapping;
	return 0;

release_fs:
	simple_release_fs(&gba_mount, &gba_mounts);
free_dummy:
	gba_page_free(file->dummy);
	return result;
}

static void coherent_free(struct gba_file *file, struct gba_flag_page *page)
{
	dma_free_pages(&file->gba->pdev->dev, PAGE_SIZE, page->page, page->address,
		       DMA_FROM_DEVICE);
	atomic_dec(&gba_allocated);
	page->page = NULL;
}

/* Free a page that has no slot in use, or whose file is closed. Under lock. */
static void page_free(struct gba_file *file, struct gba_flag_page *page)
{
	gba_mapping_remove(file, &page->map);
	list_del(&page->link);
	if (page->page)
		coherent_free(file, page);
	gba_page_free(page->shadow);
	gba_free(page);
}

void gba_file_map_exit(struct gba_file *file)
{
	struct gba_flag_page *page, *next;

	list_for_each_entry_safe(page, next, &file->pages, link)
		page_free(file, page);
	xa_destroy(&file->mappings);
	iput(file->inode);
	atomic_dec(&gba_allocated);
	simple_release_fs(&gba_mount, &gba_mounts);
	gba_page_free(file->dummy);
	mutex_destroy(&file->map_lock);
}

/* --- Offsets --- */

int gba_mapping_add(struct gba_file *file, struct gba_mapping *map)
{
	int result;

	mutex_lock(&file->map_lock);
	result = xa_alloc_cyclic(&file->mappings, &map->offset, map, GBA_OFFSETS,
				 &file->next_offset, GFP_KERNEL_ACCOUNT);
	mutex_unlock(&file->map_lock);
	return result < 0 ? result : 0;
}

static void unmap(struct gba_file *file, struct gba_mapping *map)
{
	unmap_mapping_range(file->inode->i_mapping, (loff_t)map->offset << PAGE_SHIFT, PAGE_SIZE,
			    1);
}

void gba_mapping_remove(struct gba_file *file, struct gba_mapping *map)
{
	mutex_lock(&file->map_lock);
	xa_erase(&file->mappings, map->offset);
	unmap(file, map);
	mutex_unlock(&file->map_lock);
}

void gba_mapping_replace(struct gba_file *file, struct gba_mapping *map, unsigned long pfn)
{
	mutex_lock(&file->map_lock);
	map->pfn = pfn;
	map->io = false;
	unmap(file, map);
	mutex_unlock(&file->map_lock);
}

static vm_fault_t gba_fault(struct vm_fault *vmf)
{
	struct vm_area_struct *vma = vmf->vma;
	struct gba_file *file = vma->vm_file->private_data;
	pgprot_t protection = vma->vm_page_prot;
	struct gba_mapping *map;
	unsigned long pfn;
	vm_fault_t result;

	mutex_lock(&file->map_lock);
	map = xa_load(&file->mappings, vmf->pgoff);
	/* A mapping that outlives its offset has the dummy page. */
	pfn = map ? map->pfn : page_to_pfn(file->dummy);
	/* The address of a device has no bit for encrypted memory. */
	if (map && map->io)
		protection = pgprot_decrypted(pgprot_noncached(protection));
	result = vmf_insert_pfn_prot(vma, vmf->address, pfn, protection);
	mutex_unlock(&file->map_lock);
	return result;
}

static const struct vm_operations_struct gba_vm_ops = {
	.fault = gba_fault,
};

int gba_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct gba_file *file = filp->private_data;
	unsigned long clear = VM_MAYEXEC;
	struct gba_mapping *map;
	int result = 0;

	if (current->mm != file->mm)
		return -EPERM;
	if (!(vma->vm_flags & VM_SHARED) || vma->vm_end - vma->vm_start != PAGE_SIZE)
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EPERM;
	mutex_lock(&file->map_lock);
	map = xa_load(&file->mappings, vma->vm_pgoff);
	if (!map)
		result = -EINVAL;
	else if (map->kind == GBA_MAP_DOORBELL && vma->vm_flags & VM_READ)
		result = -EPERM; /* a read of a doorbell is an error that the device counts */
	else if (map->kind == GBA_MAP_DOORBELL)
		clear |= VM_MAYREAD;
	mutex_unlock(&file->map_lock);
	if (result)
		return result;
#ifdef GBA_HAVE_VM_FLAGS_SET
	vm_flags_mod(vma, VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY, clear);
#else
	vma->vm_flags |= VM_IO | VM_PFNMAP | VM_DONTEXPAND | VM_DONTDUMP | VM_DONTCOPY;
	vma->vm_flags &= ~clear;
#endif
	vma->vm_ops = &gba_vm_ops;
	return 0;
}

/* --- Flag pages --- */

struct gba_flag_slot *gba_slot(struct gba_flag_page *page, unsigned int slot)
{
	return page->memory + slot * GBA_FLAG_SLOT_STRIDE;
}

static struct gba_flag_page *page_new(struct gba_file *file)
{
	struct device *dev = &file->gba->pdev->dev;
	struct gba_flag_page *page = gba_zalloc(sizeof(*page));
	int result = -ENOMEM;

	if (!page)
		return ERR_PTR(-ENOMEM);
	/* Allocated now, because the removal of the device must not fail. */
	page->shadow = gba_page_alloc();
	if (!page->shadow)
		goto free_page;
	page->page = dma_alloc_pages(dev, PAGE_SIZE, &page->address, DMA_FROM_DEVICE,
				     GFP_KERNEL_ACCOUNT);
	if (!page->page)
		goto free_shadow;
	atomic_inc(&gba_allocated);
	page->memory = page_address(page->page);
	memset(page->memory, 0, PAGE_SIZE);
	page->map.kind = GBA_MAP_FLAGS;
	page->map.pfn = page_to_pfn(page->page);
	result = gba_mapping_add(file, &page->map);
	if (result)
		goto free_coherent;
	list_add(&page->link, &file->pages);
	return page;

free_coherent:
	coherent_free(file, page);
free_shadow:
	gba_page_free(page->shadow);
free_page:
	gba_free(page);
	return ERR_PTR(result);
}

int gba_slot_get(struct gba_file *file, struct gba_flag_page **out, unsigned int *slot)
{
	struct gba_flag_page *page;

	lockdep_assert_held(&file->gba->lock);
	list_for_each_entry(page, &file->pages, link)
		if (!page->retired && !bitmap_full(page->used, GBA_PAGE_SLOTS))
			goto found;
	page = page_new(file);
	if (IS_ERR(page))
		return PTR_ERR(page);
found:
	*out = page;
	*slot = find_first_zero_bit(page->used, GBA_PAGE_SLOTS);
	__set_bit(*slot, page->used);
	memset(gba_slot(page, *slot), 0, sizeof(struct gba_flag_slot));
	return 0;
}

/* The page stays until the file is closed: it may be mapped, and the next JOIN uses it. */
void gba_slot_put(struct gba_flag_page *page, unsigned int slot)
{
	__clear_bit(slot, page->used);
}

void gba_pages_detach(struct gba_file *file)
{
	struct gba_device *gba = file->gba;
	struct gba_flag_page *page;

	lockdep_assert_held(&gba->lock);
	list_for_each_entry(page, &file->pages, link) {
		if (!page->page)
			continue;
		/* From the unmapping to the end of map_lock no store of user space is possible. */
		mutex_lock(&file->map_lock);
		unmap(file, &page->map);
		spin_lock(&gba->event_lock);
		memcpy(page_address(page->shadow), page->memory, PAGE_SIZE);
		page->memory = page_address(page->shadow);
		page->map.pfn = page_to_pfn(page->shadow);
		spin_unlock(&gba->event_lock);
		mutex_unlock(&file->map_lock);
		coherent_free(file, page);
		page->retired = true;
	}
}
