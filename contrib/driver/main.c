// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/*
 * Linux driver of the Global Barrier Accelerator.
 *
 * User space arrives at a barrier with one store to a mapped doorbell, and is released by one store
 * of the device to a mapped page. This driver makes and revokes both mappings. The rules in
 * brackets are those of gba/spec/device.md.
 */
#include <linux/aer.h>
#include <linux/cc_platform.h>
#include <linux/dma-map-ops.h>
#include <linux/dma-mapping.h>
#include <linux/idr.h>
#include <linux/interrupt.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "device.h"
#include "file.h"

#define GBA_MINORS 64

static dev_t gba_numbers;
static DEFINE_IDA(gba_minors);

atomic_t gba_allocated = ATOMIC_INIT(0);

static struct class gba_class = {
	.name = GBA_NAME,
	.dev_groups = gba_attribute_groups,
};

/* --- PCI --- */

static void device_release(struct device *dev)
{
	struct gba_device *gba = container_of(dev, struct gba_device, dev);

	ida_free(&gba_minors, gba->minor);
	pci_dev_put(gba->pdev);
	mutex_destroy(&gba->irq_lock);
	mutex_destroy(&gba->lock);
	gba_free(gba);
}

/* The memory of a device outlives the driver's binding: open files have references. */
static struct gba_device *device_new(struct pci_dev *pdev)
{
	struct gba_device *gba = gba_zalloc(sizeof(*gba));

	if (!gba)
		return ERR_PTR(-ENOMEM);
	gba->minor = ida_alloc_max(&gba_minors, GBA_MINORS - 1, GFP_KERNEL);
	if (gba->minor < 0) {
		int result = gba->minor;

		gba_free(gba);
		return ERR_PTR(result);
	}
	gba->pdev = pci_dev_get(pdev);
	mutex_init(&gba->lock);
	mutex_init(&gba->irq_lock);
	spin_lock_init(&gba->event_lock);
	INIT_LIST_HEAD(&gba->files);
	INIT_DELAYED_WORK(&gba->health_work, gba_health);
	for (u32 group = 0; group < GBA_GROUPS; group++)
		INIT_LIST_HEAD(&gba->group[group].members);
	device_initialize(&gba->dev);
	gba->dev.class = &gba_class;
	gba->dev.parent = &pdev->dev;
	gba->dev.devt = MKDEV(MAJOR(gba_numbers), gba->minor);
	gba->dev.release = device_release;
	cdev_init(&gba->cdev, &gba_fops);
	gba->cdev.owner = THIS_MODULE;
	return gba;
}

/*
 * Take the port down and up, so that the device withdraws the members of this host. [PCI-4] Under
 * the lock of the PCI device.
 */
static void reset_port(struct pci_dev *pdev)
{
	pci_save_state(pdev);
	if (!__pci_reset_function_locked(pdev))
		pci_restore_state(pdev);
}

/* Resources that end with the binding. */
static int device_map(struct gba_device *gba)
{
	struct pci_dev *pdev = gba->pdev;
	int result = pcim_enable_device(pdev);

	if (result)
		return dev_err_probe(&pdev->dev, result, "cannot enable the device\n");
	/* An earlier kernel may have left members. A device without reset is accepted. */
	reset_port(pdev);
	if (pci_resource_len(pdev, GBA_PCI_BAR) < GBA_BAR_SIZE)
		return dev_err_probe(&pdev->dev, -ENODEV, "BAR %u is smaller than %u bytes\n",
				     GBA_PCI_BAR, GBA_BAR_SIZE);
	result = pcim_iomap_regions(pdev, BIT(GBA_PCI_BAR), GBA_NAME);
	if (result)
		return dev_err_probe(&pdev->dev, result, "cannot map BAR %u\n", GBA_PCI_BAR);
	gba->bar = pcim_iomap_table(pdev)[GBA_PCI_BAR];
	gba->bar_address = pci_resource_start(pdev, GBA_PCI_BAR);
	/* A release must snoop the caches of the processors. [HOST-4] */
	if (!dev_is_dma_coherent(&pdev->dev))
		return dev_err_probe(&pdev->dev, -ENODEV, "DMA of this device is not coherent\n");
	/* The pages of the device are not encrypted, but user space would map them as encrypted. */
	if (cc_platform_has(CC_ATTR_GUEST_MEM_ENCRYPT))
		return dev_err_probe(&pdev->dev, -EOPNOTSUPP,
				     "not supported in a guest with encrypted memory\n");
	return dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
}

static int device_interrupts(struct gba_device *gba)
{
	struct pci_dev *pdev = gba->pdev;
	int result = pci_alloc_irq_vectors(pdev, 1, GBA_PCI_VECTORS, PCI_IRQ_MSIX);

	if (result < 0)
		return dev_err_probe(&pdev->dev, result, "no MSI-X vector\n");
	return devm_request_threaded_irq(&pdev->dev, pci_irq_vector(pdev, GBA_PCI_VECTOR), NULL,
					 gba_interrupt, IRQF_ONESHOT, GBA_NAME, gba);
}

/*
 * End the binding. The driver does not use the device after this. The memory stays while files are
 * open.
 */
static void device_end(struct gba_device *gba)
{
	struct pci_dev *pdev = gba->pdev;
	struct gba_file *file;

	mutex_lock(&gba->lock);
	gba_give_back(gba);
	gba_fail(gba, "the driver is unbound");
	gba->removed = true;
	list_for_each_entry(file, &gba->files, link)
		gba_pages_detach(file);
	mutex_unlock(&gba->lock);
	devm_free_irq(&pdev->dev, pci_irq_vector(pdev, GBA_PCI_VECTOR), gba);
	cancel_delayed_work_sync(&gba->health_work);
	put_device(&gba->dev);
}

static int gba_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct gba_device *gba = device_new(pdev);
	int result;

	if (IS_ERR(gba))
		return PTR_ERR(gba);
	pci_set_drvdata(pdev, gba);
	result = dev_set_name(&gba->dev, GBA_NAME "%d", gba->minor);
	if (!result)
		result = device_map(gba);
	if (!result)
		result = device_interrupts(gba);
	if (result)
		goto put;
	mutex_lock(&gba->lock);
	result = gba_start(gba);
	mutex_unlock(&gba->lock);
	if (!result)
		result = cdev_device_add(&gba->cdev, &gba->dev);
	if (result)
		goto end;
	gba_debugfs_add(gba);
	dev_info(&gba->dev, "port %u of %u, %u groups\n", gba->port, gba->ports, gba->groups);
	return 0;

end:
	device_end(gba); /* the interrupt must not outlive the memory */
	return result;
put:
	put_device(&gba->dev);
	return result;
}

static void gba_remove(struct pci_dev *pdev)
{
	struct gba_device *gba = pci_get_drvdata(pdev);

	gba_debugfs_remove(gba);
	cdev_device_del(&gba->cdev, &gba->dev);
	device_end(gba);
}

/* --- Resets, errors and sleep: the port loses its state --- */

/*
 * answers: the device can be accessed. Its members are then ended now, because the device may keep
 * its state, and the pages of their flags are freed before it is started again.
 */
static void stop_for(struct pci_dev *pdev, const char *reason, bool answers)
{
	struct gba_device *gba = pci_get_drvdata(pdev);

	mutex_lock(&gba->lock);
	if (answers)
		gba_give_back(gba);
	gba_fail(gba, reason);
	mutex_unlock(&gba->lock);
	/* No other code accesses a device that is down. */
	synchronize_irq(pci_irq_vector(pdev, GBA_PCI_VECTOR));
}

static int start_again(struct pci_dev *pdev)
{
	struct gba_device *gba = pci_get_drvdata(pdev);
	int result;

	mutex_lock(&gba->lock);
	result = gba_start(gba);
	mutex_unlock(&gba->lock);
	return result;
}

static void reset_prepare(struct pci_dev *pdev)
{
	stop_for(pdev, "the device is reset", true);
}

static void reset_done(struct pci_dev *pdev)
{
	start_again(pdev);
}

static pci_ers_result_t error_detected(struct pci_dev *pdev, pci_channel_state_t state)
{
	stop_for(pdev, "PCI error", false);
	return state == pci_channel_io_perm_failure ? PCI_ERS_RESULT_DISCONNECT :
						      PCI_ERS_RESULT_NEED_RESET;
}

static pci_ers_result_t slot_reset(struct pci_dev *pdev)
{
	pci_restore_state(pdev);
	/* After an error that is not fatal, the core calls this without a reset. */
	reset_port(pdev);
	return start_again(pdev) ? PCI_ERS_RESULT_DISCONNECT : PCI_ERS_RESULT_RECOVERED;
}

static const struct pci_error_handlers gba_errors = {
	.error_detected = error_detected,
	.slot_reset = slot_reset,
	.reset_prepare = reset_prepare,
	.reset_done = reset_done,
};

static int gba_suspend(struct device *dev)
{
	stop_for(to_pci_dev(dev), "the host sleeps", true);
	return 0;
}

static int gba_resume(struct device *dev)
{
	reset_port(to_pci_dev(dev)); /* the device may have kept its state */
	return start_again(to_pci_dev(dev));
}

static DEFINE_SIMPLE_DEV_PM_OPS(gba_pm, gba_suspend, gba_resume);

static const struct pci_device_id gba_ids[] = {
	{ PCI_DEVICE(GBA_PCI_VENDOR, GBA_PCI_DEVICE) },
	{}
};
MODULE_DEVICE_TABLE(pci, gba_ids);

static struct pci_driver gba_driver = {
	.name = GBA_NAME,
	.id_table = gba_ids,
	.probe = gba_probe,
	.remove = gba_remove,
	.err_handler = &gba_errors,
	.driver.pm = pm_sleep_ptr(&gba_pm),
};

/* --- The module --- */

static int __init gba_init(void)
{
	int result = alloc_chrdev_region(&gba_numbers, 0, GBA_MINORS, GBA_NAME);

	if (result)
		return result;
	result = class_register(&gba_class);
	if (result)
		goto unregister_numbers;
	gba_debugfs_init();
	result = pci_register_driver(&gba_driver);
	if (result)
		goto unregister_class;
	return 0;

unregister_class:
	gba_debugfs_exit();
	class_unregister(&gba_class);
unregister_numbers:
	unregister_chrdev_region(gba_numbers, GBA_MINORS);
	return result;
}

static void __exit gba_exit(void)
{
	pci_unregister_driver(&gba_driver);
	gba_debugfs_exit();
	class_unregister(&gba_class);
	unregister_chrdev_region(gba_numbers, GBA_MINORS);
	ida_destroy(&gba_minors);
	WARN(atomic_read(&gba_allocated), "%d allocations are not freed\n",
	     atomic_read(&gba_allocated));
}

module_init(gba_init);
module_exit(gba_exit);
MODULE_DESCRIPTION("Global Barrier Accelerator");
MODULE_AUTHOR("The GBA maintainers");
MODULE_LICENSE("Dual BSD/GPL");
