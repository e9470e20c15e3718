import {daysBefore, retention} from '../config/policies.ts';

/** How far a phone's clock may be ahead. */
const AHEAD_DAYS = 1;

/**
 * The time of an event: as the app says, or now if that is longer ago than events are stored or more than a day ahead.
 * Reports keep a count per quarter of an hour forever, so an app must not be able to create one for each.
 */
export const happenedAt = (said: Date, now: Date): Date =>
	said <= daysBefore(now, retention().eventDays) || said > daysBefore(now, -AHEAD_DAYS) ? now : said;
