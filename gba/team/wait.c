/* SPDX-License-Identifier: BSD-3-Clause */
#include "gba/team/wait.h"

#include "gba/base/clock.h"
#include "gba/base/traffic.h"

/* Whether the wait is too short for a sleep, or the runtime has done something in the last time. */
static bool service_awake(const struct gba_service *service, bool parks)
{
    uint64_t after = parks ? 0 : service->after;

    if (0 == service->awake)
        return service->now - service->began < after;
    if (after < GBA_WAIT_AWAKE_NS)
        after = GBA_WAIT_AWAKE_NS;
    return service->now - service->awake < after;
}

/* Call progress, and while it serves others, again: as they wait for it, no barrier is complete. */
static void service_again(int (*progress)(void *), void *arg)
{
    uint64_t end = gba_clock_ns() + GBA_WAIT_IDLE_NS;

    for (uint32_t calls = 0, idle = 0; calls < GBA_WAIT_CALLS_MOST; calls++) {
        if (progress(arg) > 0) {
            idle = 0;
            end = gba_clock_ns() + GBA_WAIT_IDLE_NS;
        } else if (++idle == GBA_WAIT_IDLE_CALLS || gba_clock_ns() > end) {
            return;
        }
    }
}

void gba_service_turn(struct gba_service *service, int (*progress)(void *), void *arg, bool parks,
                      bool listens)
{
    const int served = progress != NULL ? progress(arg) : 0;

    service->calls++;
    if (served > 0 && !listens)
        service_again(progress, arg);
    if (0 == service->after && served <= 0)
        return;
    service->now = gba_clock_ns();
    if (0 == service->began)
        service->began = service->now;
    if (served > 0)
        service->served = service->now;
    if (0 != served)
        service->awake = service->now;
    service->sleeps = 0 != service->after && !service_awake(service, parks);
    if (service->sleeps && service->now - service->began >= GBA_WAIT_TRAFFIC_NS &&
        gba_traffic_grew(&service->read)) {
        service->served = service->awake = service->now;
        service->sleeps = false;
    }
}
