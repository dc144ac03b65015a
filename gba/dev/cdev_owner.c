/* SPDX-License-Identifier: BSD-3-Clause */
/* The owners of groups, by the call OWNER of the driver. */
#include <errno.h>

#include "gba/dev/cdev.h"
#include "gba/spec/gba_ioctl.h"

gba_status_t gba_cdev_owners(struct gba_dev *d, gba_group_owner_t *list, uint32_t max,
                             uint32_t *count)
{
    const struct gba_cdev *dev = (struct gba_cdev *)d;
    gba_status_t status = gba_cdev_refuse_child(dev);
    uint32_t found = 0;

    if (0 == (dev->features & GBA_FEATURE_OWNER))
        return GBA_ERR_UNSUPPORTED;
    for (uint32_t group = 0; GBA_OK == status && group < dev->groups && found < max; group++) {
        struct gba_ioc_owner owner = {.size = sizeof owner, .group = group};
        int error = gba_cdev_try(gba_cdev_number(&dev->file), GBA_IOC_OWNER, &owner);

        if (ENOENT == error || EACCES == error) /* not of this host, or not of this user */
            continue;
        status = gba_cdev_outcome(error, "OWNER");
        if (GBA_OK == status)
            list[found++] = (gba_group_owner_t){.group = group,
                                                .members = owner.members,
                                                .present = owner.present,
                                                .user = owner.user,
                                                .process = owner.process,
                                                .local = true,
                                                .job = owner.job};
    }
    if (GBA_OK == status)
        *count = found;
    return status;
}
