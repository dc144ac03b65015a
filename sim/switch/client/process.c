/* SPDX-License-Identifier: BSD-3-Clause */
/* Probes: the switch asks for the state of a process of this host, for reports. */
#include <string.h>
#include <unistd.h>

#include "gba/base/host.h"
#include "gba/base/namespace.h"
#include "sim/switch/client/client.h"
#include "gba/base/process.h"

/* The number of the host of this process, without its name: a mix of 64 bits (the finaliser of
 * MurmurHash3) after each word. */
static uint64_t host_number(const struct gba_host *host)
{
    const uint64_t clock = gba_namespace("time");
    uint64_t number = 0;

    /* /proc shows the start of a process by the clock of the reader's time namespace. Kernels
     * before 5.6 have none. */
    for (unsigned i = 0; i <= sizeof host->word / sizeof host->word[0]; i++) {
        number ^= i < sizeof host->word / sizeof host->word[0] ? host->word[i] : clock;
        number = (number ^ number >> 33) * UINT64_C(0xff51afd7ed558ccd);
        number = (number ^ number >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
        number ^= number >> 33;
    }
    return number;
}

bool gba_client_identify(struct gba_switch_message *message)
{
    struct gba_process process;
    struct gba_host host;

    if (GBA_OK != gba_host_get(&host))
        return false;
    gba_process_read((uint32_t)getpid(), &process);
    if (GBA_PROCESS_RUNNING != process.state)
        return false;
    *message = (struct gba_switch_message){
        .type = GBA_SWITCH_PROCESS, .value = host_number(&host), .key = process.start};
    return true;
}

/* The number of a process that has ended may be that of another one, so compare the start. If that
 * happens between the two calls, the start differs, too. */
static enum gba_process_state state_of(uint32_t number, uint64_t start)
{
    bool own = gba_process_is_own(number);
    struct gba_process process;

    gba_process_read(number, &process);
    if (0 == process.start)
        return process.state;
    if (!own)
        return GBA_PROCESS_UNKNOWN;
    return start == process.start ? process.state : GBA_PROCESS_GONE;
}

struct gba_switch_message gba_client_probed(const struct gba_switch_message *probe)
{
    return (struct gba_switch_message){.type = GBA_SWITCH_PROBED,
                                       .code = (uint8_t)state_of(probe->member, probe->key),
                                       .tag = probe->tag,
                                       .value = probe->value};
}
