import {daysBefore, retention} from '../config/policies.ts';

/** How far the clock of a phone may be ahead. */
const AHEAD_DAYS = 1;

/**
 * When an event happened: as the app says, or, where that is longer ago than events are kept or more than a day ahead,
 * now. Reports keep a count for each quarter of an hour for good, so that no app may name every one that there is.
 */
export const happenedAt = (said: Date, now: Date): Date =>
	said <= daysBefore(now, retention().eventDays) || said > daysBefore(now, -AHEAD_DAYS) ? now : said;
