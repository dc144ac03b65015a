// SPDX-License-Identifier: GPL-2.0 OR BSD-3-Clause
/* Events of memberships, which wake their waiters. */
#include "member.h"

void gba_post(struct gba_member *member, u32 events, u32 last_error)
{
	struct gba_file *file = member->file;

	lockdep_assert_held(&file->gba->event_lock);
	if (member->left)
		return;
	if (!member->events)
		list_add_tail(&member->event_link, &file->pending);
	member->events |= events;
	if (events & GBA_EVENT_ERROR)
		member->last_error = last_error;
	wake_up(&member->wait);
	wake_up(&file->wait);
}

u32 gba_take_events(struct gba_member *member)
{
	u32 events = member->events;

	lockdep_assert_held(&member->file->gba->event_lock);
	member->events = 0;
	list_del_init(&member->event_link);
	return events;
}
