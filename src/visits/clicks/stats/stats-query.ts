import Joi from 'joi';
import type {Interval, StatsQuery} from './stats-bounds.ts';

/**
 * The zone's name for PostgreSQL, or null. A name without a slash is an abbreviation to it, and `CET` then has no summer
 * time; bare offsets are rejected, because it inverts their sign.
 */
const timezoneNamed = (name: string): string | null => {
	try {
		const {timeZone} = new Intl.DateTimeFormat('en', {timeZone: name}).resolvedOptions();
		return /^[A-Za-z]/.test(name) ? (name.includes('/') ? name : timeZone) : null;
	} catch {
		return null;
	}
};

const DATE_TIME =
	/^(\d{4})-(\d\d)-(\d\d)(?:[T ]([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:Z|[+-](?:0\d|1[0-5]):?[0-5]\d)?)?$/;

/** Whether the text is a valid date, with or without a time; 31 February is invalid. */
const isDateTime = (text: string): boolean => {
	const [, year, month, day] = (DATE_TIME.exec(text) ?? []).map(Number);
	if (year === undefined || month === undefined || day === undefined) {
		return false;
	}

	const date = new Date(Date.UTC(year, month - 1, day));
	return date.getUTCMonth() === month - 1 && date.getUTCDate() === day && year >= 1970;
};

const instant = Joi.string()
	.custom((text: string, helpers) => (isDateTime(text) ? text : helpers.error('any.invalid')))
	.meta({schema: {description: 'An ISO 8601 date or date-time; without an offset it is of `timezone`.'}})
	.default(null)
	.messages({'any.invalid': '{{#label}} must be an ISO 8601 date or date-time'});

/** The query of every report; the default is the last 30 days by day in UTC (contract/portal 7). */
export const statsQuery = Joi.object<StatsQuery>({
	from: instant,
	to: instant,
	interval: Joi.valid('hour', 'day', 'month').default('day' satisfies Interval),
	timezone: Joi.string()
		.max(64)
		.custom((name: string, helpers) => timezoneNamed(name) ?? helpers.error('any.invalid'))
		.meta({schema: {description: 'An IANA time zone.'}})
		.default('UTC')
		.messages({'any.invalid': '{{#label}} must be an IANA time zone'}),
});
