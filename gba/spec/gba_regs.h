/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registers of the Global Barrier Accelerator (GBA), as device.md specifies them.
 *
 * This file is the only place with an offset or a bit in it. The kernel driver, libgba, the model
 * and the tests include it unchanged. It needs only preprocessor arithmetic, so it is valid C and
 * C++, in kernel and user space. The rules in brackets are those of device.md.
 */
#ifndef GBA_REGS_H
#define GBA_REGS_H

/* The revision of this register layout. A host refuses a device with another major number.
 * [DEV-1] */
#define GBA_REGS_MAJOR 3u
#define GBA_REGS_MINOR 0u

/* Sizes that the hardware fixes. */
#define GBA_GROUPS      32u  /* barrier groups of one device */
#define GBA_MEMBERS_MAX 708u /* members of a group: the ports of the switch */
#define GBA_MASK_WORDS  12u  /* 64-bit words that hold GBA_MEMBERS_MAX bits */
#define GBA_PORTS_MAX   708u /* ports to hosts */

/*
 * The address map: five apertures in one BAR. [MAP-1]
 *
 * The port page is banked: at the same address each host finds the page of its own port. [PORT-1]
 *
 * The release table has its own aperture, because 708 entries of 8 bytes do not fit behind the
 * other registers of a group's page. Doorbells are 64 KiB apart, the largest page size of the
 * hosts, so that mapping one doorbell never maps another one.
 */
#define GBA_GROUP_BASE      0x000000u /* GBA_GROUPS register pages */
#define GBA_GROUP_STRIDE    0x1000u
#define GBA_DEVICE_BASE     0x020000u /* one page about the device as a whole */
#define GBA_DEVICE_SIZE     0x1000u
#define GBA_PORT_BASE       0x030000u /* one page about the port of the access */
#define GBA_PORT_SIZE       0x1000u
#define GBA_TABLE_BASE      0x040000u /* GBA_GROUPS release tables */
#define GBA_TABLE_STRIDE    0x2000u
#define GBA_DOORBELL_BASE   0x200000u /* GBA_GROUPS doorbell pages */
#define GBA_DOORBELL_STRIDE 0x10000u
#define GBA_BAR_SIZE        0x400000u

/* Registers of a group's page, as offsets in it. [GRP] */
#define GBA_REG_GROUP_ID      0x000u /* u32 RO: 0 to 31 */
#define GBA_REG_MEMBER_COUNT  0x004u /* u32 ROC: members of the group, 0 to 708 */
#define GBA_REG_CONTROL       0x008u /* u32 ROC: GBA_CONTROL_* */
#define GBA_REG_STATUS        0x00Cu /* u32 RO: GBA_STATUS_* */
#define GBA_REG_ARRIVAL       0x010u /* u64: write = arrive; read = SEQUENCE:ARRIVED_COUNT */
#define GBA_REG_ARRIVED_COUNT 0x010u /* u32 RO: low half of ARRIVAL */
#define GBA_REG_SEQUENCE      0x014u /* u32 ROC: high half of ARRIVAL; the last round completed */
#define GBA_REG_LAST_ERROR    0x018u /* u32 RO: GBA_ERROR_* of the newest error, 0 after a reset */
#define GBA_REG_GENERATION    0x01Cu /* u32 RO: of the newest allocation, 0 before the first */
#define GBA_REG_MEMBER_MASK   0x020u /* 12 x u64 ROC: bit m of word m / 64 is member m */
#define GBA_REG_ARRIVED_MASK  0x080u /* 12 x u64 RO */
#define GBA_REG_COUNTERS      0x800u /* GBA_COUNTERS x u64 RO: GBA_COUNTER_* */

#define GBA_CONTROL_ENABLE (1u << 0) /* the configuration is complete */
#define GBA_CONTROL_ARM    (1u << 2) /* arrivals are taken; needs ENABLE */
#define GBA_CONTROL_IRQ_EN (1u << 3) /* interrupt on an error */

#define GBA_STATUS_READY    (1u << 0) /* ENABLE and ARM: arrivals are taken */
#define GBA_STATUS_ACTIVE   (1u << 1) /* a member has arrived in the current round */
#define GBA_STATUS_COMPLETE (1u << 2) /* a round has completed, and no member has arrived since */
#define GBA_STATUS_ERROR    (1u << 3) /* an error was counted since the reset */

/* Values of LAST_ERROR. [ERR] */
#define GBA_ERROR_NONE     0u
#define GBA_ERROR_ACCESS   1u /* width, alignment, direction or offset of an access */
#define GBA_ERROR_SEQUENCE 2u /* arrival with neither SEQUENCE nor SEQUENCE + 1 */
#define GBA_ERROR_MEMBER   3u /* a member outside MEMBER_MASK, or of another port or allocation */
#define GBA_ERROR_DISABLED 4u /* arrival at a group that is not READY */
#define GBA_ERROR_CONFIG   5u /* invalid configuration */

/* Indexes into the counters of a group: u64, kept across RESET, zero at power-on. [CNT] */
#define GBA_COUNTER_ARRIVALS     0u /* arrivals that set a bit */
#define GBA_COUNTER_RELEASES     1u /* release stores, repeated ones included */
#define GBA_COUNTER_ROUNDS       2u /* rounds completed */
#define GBA_COUNTER_REPEATS      3u /* arrivals whose bit was set already */
#define GBA_COUNTER_LATE         4u /* arrivals for the round just completed */
#define GBA_COUNTER_ERR_ACCESS   5u
#define GBA_COUNTER_ERR_SEQUENCE 6u
#define GBA_COUNTER_ERR_MEMBER   7u
#define GBA_COUNTER_ERR_DISABLED 8u
#define GBA_COUNTER_ERR_CONFIG   9u
#define GBA_COUNTERS             10u

/* Registers of the device page. [DEV] */
#define GBA_DEV_ID          0x000u /* u32 RO: GBA_DEV_ID_VALUE */
#define GBA_DEV_VERSION     0x004u /* u32 RO: GBA_REGS_MAJOR << 16 | GBA_REGS_MINOR */
#define GBA_DEV_GROUPS      0x008u /* u32 RO: groups that exist, 1 to 32 */
#define GBA_DEV_MEMBERS_MAX 0x00Cu /* u32 RO: 708 */
#define GBA_DEV_BAD_ACCESS  0x010u /* u64 RO: errors of access that belong to no group */
#define GBA_DEV_GROUPS_FREE 0x018u /* u32 RO: groups that are not allocated */
#define GBA_DEV_PORTS       0x01Cu /* u32 RO: ports, 1 to 708 */
#define GBA_DEV_UUID        0x020u /* 2 x u64 RO: the same for every host of one switch unit */

#define GBA_DEV_ID_VALUE 0x30414247u /* "GBA0", little endian */

/*
 * Registers of the port page: the port, its interrupts, and the mailbox of its commands. A host
 * writes the arguments, then COMMAND, and reads RESULT. [PORT, IRQ, CMD]
 */
#define GBA_PORT_NUMBER     0x000u /* u32 RO: the port of this access */
#define GBA_PORT_QUOTA      0x004u /* u32 RO: groups that the port may hold; 0: no limit */
#define GBA_PORT_HELD       0x008u /* u32 RO: groups that the port holds */
#define GBA_PORT_IRQ_CAUSE  0x010u /* u32 RO: bit g: EVENTS of group g are not 0 */
#define GBA_PORT_IRQ_MASK   0x014u /* u32 RW: bit g: events of group g interrupt */
#define GBA_PORT_GROUP      0x020u /* u32 RW: argument; result of ALLOC */
#define GBA_PORT_GENERATION 0x024u /* u32 RW: argument; result of ALLOC */
#define GBA_PORT_KEY        0x028u /* u64 RW: argument; result of ALLOC */
#define GBA_PORT_MEMBER     0x030u /* u32 RW: argument */
#define GBA_PORT_VALUE      0x034u /* u32 RW: argument; result of MEMBER */
#define GBA_PORT_COMMAND    0x038u /* u32 RWX: write = execute GBA_CMD_*; read: the newest command */
#define GBA_PORT_RESULT     0x03Cu /* u32 RO: GBA_RESULT_* of the newest command */
#define GBA_PORT_EVENTS     0x100u /* GBA_GROUPS x u32 W1C: GBA_IRQ_* of group g [IRQ-2] */

/* Commands of the control unit. 6 and 7 are not used. [CMD] */
#define GBA_CMD_ALLOC  1u /* allocate GROUP for VALUE members */
#define GBA_CMD_JOIN   2u /* bind MEMBER to this port; needs GENERATION and KEY */
#define GBA_CMD_ARM    3u /* take arrivals from now on; VALUE: SEQUENCE */
#define GBA_CMD_LEAVE  4u /* withdraw MEMBER for good; VALUE: 0 or GBA_LEAVE_DIED */
#define GBA_CMD_FREE   5u /* free an allocation without any JOIN */
#define GBA_CMD_MEMBER 8u /* report the membership MEMBER */

#define GBA_GROUP_ANY  0xFFFFFFFFu /* GROUP of ALLOC: the free group with the lowest number */
#define GBA_LEAVE_DIED 1u          /* VALUE of LEAVE: the member's process died */

#define GBA_RESULT_OK       0u
#define GBA_RESULT_PARAM    1u /* an argument, or the command, is invalid, or not of this port */
#define GBA_RESULT_STALE    2u /* group, generation and key are not those of an allocation */
#define GBA_RESULT_BUSY     3u /* the state of the group or membership forbids it */
#define GBA_RESULT_NO_GROUP 4u /* the group, or each group, is allocated */
#define GBA_RESULT_LIMIT    5u /* the port holds as many groups as its quota allows */

/* Events of a group at a port. [IRQ] */
#define GBA_IRQ_ERROR     0x01u /* an access of this port was an error of the group */
#define GBA_IRQ_ROUND     0x02u /* the round of a NOTIFY is complete */
#define GBA_IRQ_DIED      0x04u /* a member of another port died */
#define GBA_IRQ_PORT_DOWN 0x08u /* another port with members went down */
#define GBA_IRQ_BITS      0x0Fu /* all of them */

/* The result of GBA_CMD_MEMBER: the state in the low byte, the port in the high half. [CMD-9] */
#define GBA_MEMBER_STATE(value) ((value)&0xFFu)
#define GBA_MEMBER_PORT(value)  ((value) >> 16)
#define GBA_MEMBERSHIP_EMPTY    0u /* no process has joined as this member */
#define GBA_MEMBERSHIP_JOINED   1u
#define GBA_MEMBERSHIP_MAPPED   2u /* joined, with an address in the release table */
#define GBA_MEMBERSHIP_LEFT     3u /* stays taken until the group is free */

/* A doorbell page has two registers. Every other access to the page is an error. [BELL-1] */
#define GBA_BELL_ARRIVAL 0x0u /* u64 WO: write = arrive */
#define GBA_BELL_NOTIFY  0x8u /* u64 WO: write = request the event ROUND [NOTE-1] */

/* A release table: entry m is the bus address of member m's release flag, 0 = none. [TAB] */
#define GBA_TABLE_ENTRY_SIZE 8u

/*
 * A port as a PCI function. 0x10F0 of vendor 0x1AF4 is an identity for experiments; a product has
 * its own. (device.md, chapter "PCI")
 */
#define GBA_PCI_VENDOR   0x1AF4u
#define GBA_PCI_DEVICE   0x10F0u
#define GBA_PCI_REVISION GBA_REGS_MAJOR
#define GBA_PCI_CLASS    0x120000u /* processing accelerator; no programming interface */
#define GBA_PCI_BAR      0u        /* 64 bits wide, GBA_BAR_SIZE bytes, not prefetchable */
#define GBA_PCI_VECTORS  1u        /* vectors of MSI-X */
#define GBA_PCI_VECTOR   0u        /* the vector of the interrupts of the port */

/* The value of a refused read, and of every read of a removed device. [ACC-4] */
#define GBA_READ_NONE 0xFFFFFFFFFFFFFFFFull

/*
 * An arrival: the sequence in the high half; in the low one, which is the same in all rounds of a
 * member, the low 16 bits of the generation and the member. The arguments are unsigned 32-bit
 * values, and the member is below 2^16. [ARR-1]
 */
#define GBA_ARRIVAL(seq, generation, member) \
    ((unsigned long long)(seq) << 32 | GBA_ARRIVAL_LOW(generation, member))
#define GBA_ARRIVAL_LOW(generation, member) (((generation)&0xFFFFu) << 16 | (member))
#define GBA_ARRIVAL_SEQ(value)              ((unsigned int)((unsigned long long)(value) >> 32))
#define GBA_ARRIVAL_GENERATION(value)       ((unsigned int)((value) >> 16 & 0xFFFFu))
#define GBA_ARRIVAL_MEMBER(value)           ((unsigned int)((value)&0xFFFFu))

/*
 * A release flag. The low half is the sequence of the last round that ended. The device stores 0 in
 * the high half. The driver sets this bit when it revokes the membership. In memory a flag is
 * little endian on every host. [REL-3]
 */
#define GBA_FLAG_REVOKED (1ull << 63)

/*
 * Whether sequence a is b or follows b. Sequences have 32 bits and wrap, so their difference is
 * compared by its sign, never the sequences by >=. [SEQ-2]
 */
#define GBA_SEQ_REACHED(a, b) ((int)((unsigned int)(a) - (unsigned int)(b)) >= 0)

/* Addresses in the BAR. */
#define GBA_GROUP_REG(group, reg) (GBA_GROUP_BASE + (group)*GBA_GROUP_STRIDE + (reg))
#define GBA_TABLE_ENTRY(group, member) \
    (GBA_TABLE_BASE + (group)*GBA_TABLE_STRIDE + (member)*GBA_TABLE_ENTRY_SIZE)
#define GBA_PORT_REG(reg)     (GBA_PORT_BASE + (reg))
#define GBA_PORT_EVENT(group) (GBA_PORT_BASE + GBA_PORT_EVENTS + (group)*4u)
#define GBA_DOORBELL(group)   (GBA_DOORBELL_BASE + (group)*GBA_DOORBELL_STRIDE + GBA_BELL_ARRIVAL)

/*
 * Checks of the address map, for readers with assertions at compile time (C11, C++11, the kernel).
 */
#if defined(__cplusplus)
#define GBA_REGS_ASSERT(cond, name) static_assert(cond, #name)
#else
#define GBA_REGS_ASSERT(cond, name) _Static_assert(cond, #name)
#endif
GBA_REGS_ASSERT(sizeof(unsigned int) == 4 && sizeof(unsigned long long) == 8, int_sizes);
GBA_REGS_ASSERT(GBA_MASK_WORDS * 64u >= GBA_MEMBERS_MAX, mask_holds_all_members);
GBA_REGS_ASSERT((GBA_MASK_WORDS - 1u) * 64u < GBA_MEMBERS_MAX, mask_has_no_spare_word);
GBA_REGS_ASSERT(GBA_REG_MEMBER_MASK + GBA_MASK_WORDS * 8u <= GBA_REG_ARRIVED_MASK, masks_apart);
GBA_REGS_ASSERT(GBA_REG_ARRIVED_MASK + GBA_MASK_WORDS * 8u <= GBA_REG_COUNTERS, counters_apart);
GBA_REGS_ASSERT(GBA_REG_COUNTERS + GBA_COUNTERS * 8u <= GBA_GROUP_STRIDE, page_holds_registers);
GBA_REGS_ASSERT(GBA_REG_SEQUENCE == GBA_REG_ARRIVAL + 4u, sequence_is_high_half);
GBA_REGS_ASSERT(GBA_GROUP_BASE + GBA_GROUPS * GBA_GROUP_STRIDE <= GBA_DEVICE_BASE, pages_end);
GBA_REGS_ASSERT(GBA_REG_GENERATION + 4u <= GBA_REG_MEMBER_MASK, generation_apart);
GBA_REGS_ASSERT(GBA_DEVICE_BASE + GBA_DEVICE_SIZE <= GBA_PORT_BASE, device_page_ends);
GBA_REGS_ASSERT(GBA_PORT_BASE % GBA_DOORBELL_STRIDE == 0, port_page_begins_a_large_page);
GBA_REGS_ASSERT(GBA_PORT_BASE + GBA_PORT_SIZE <= GBA_TABLE_BASE, port_page_ends);
GBA_REGS_ASSERT(GBA_PORT_KEY % 8u == 0 && GBA_PORT_RESULT < GBA_PORT_EVENTS, mailbox_fits);
GBA_REGS_ASSERT(GBA_PORT_EVENTS + GBA_GROUPS * 4u <= GBA_PORT_SIZE, port_page_holds_events);
GBA_REGS_ASSERT(GBA_GROUPS <= 32u && GBA_PORTS_MAX <= 0xFFFFu, cause_and_port_fit);
GBA_REGS_ASSERT(GBA_MEMBERS_MAX *GBA_TABLE_ENTRY_SIZE <= GBA_TABLE_STRIDE, table_holds_all);
GBA_REGS_ASSERT(GBA_TABLE_BASE + GBA_GROUPS * GBA_TABLE_STRIDE <= GBA_DOORBELL_BASE, tables_end);
GBA_REGS_ASSERT(GBA_DOORBELL_BASE + GBA_GROUPS * GBA_DOORBELL_STRIDE <= GBA_BAR_SIZE,
                bar_holds_all);

#endif
