/** For how long the link that a device was matched to, or opened, is what its events come from (contract/reports 5). */
const DAYS = 30;

/** Phones' clocks differ from ours: an event may seem to have happened before the match that it follows. */
const SKEW = '5 minutes';

/** SQL: whether an event that happened at one time comes from a link that its device met at another. */
export const isAttributed = (met: string, happened: string): string =>
	`${met} BETWEEN ${happened} - interval '${DAYS} days' AND ${happened} + interval '${SKEW}'`;

/** SQL: of the links that a device was matched to and opened, the later one that an event comes from; null if none. */
export const lastMet = (happened: string): string => {
	const [matched, opened] = [isAttributed('matched_at', happened), isAttributed('opened_at', happened)];
	return `CASE WHEN ${matched} AND (NOT coalesce(${opened}, false) OR matched_at >= opened_at) THEN matched_link_id
		WHEN ${opened} THEN opened_link_id END`;
};
