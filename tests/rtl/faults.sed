# SPDX-License-Identifier: BSD-3-Clause
# Faults of sim/model, each of which the vectors must find and name.

# A member that arrives late gets no second release store. [ARR-5]
s/^        release(group, member, effects);//

# A round loses its first arrival, made by a member that was released first: the mask is cleared after the stores. [REL-1]
s/^    core->status &= ~GBA_STATUS_COMPLETE;/    if (core->status \& GBA_STATUS_COMPLETE) clear_arrived(core);\n&/

# An address can be changed while arrivals are taken. [TAB-4]
s/(group->core.control & GBA_CONTROL_ENABLE) ||//

# A JOIN takes any key. [CMD-3]
s/g == NULL || g->record.key != key/g == NULL/

# The generation of an arrival does not count. [ARR-2]
s/GBA_ARRIVAL_GENERATION(value) != .*/false)/

# The bits of a sequence above bit 23 do not count. [ARR-6]
s/sequence = GBA_ARRIVAL_SEQ(value);/sequence = GBA_ARRIVAL_SEQ(value) % (1 << 24) | group->core.sequence >> 24 << 24;/

# Counters have 8 bits. [CNT-1]
s/return core->counters\[/return (uint8_t)core->counters[/

# Generations have 8 bits. [CMD-2]
s/record->generation++/record->generation = (record->generation + 1) % 256/
