import Joi from 'joi';
import {
	answerOf,
	count,
	instant,
	listOf,
	oneOf,
	optional,
	orNull,
	partOf,
	textOrNull,
	type ValueOf,
} from '../../../platform/http/answer.ts';
import {uuidParam} from '../../../platform/http/validate.ts';
import {type DimensionName, dimensionNames, funnelDimensions} from '../../clicks/dimensions.ts';
import type {LinkFilter} from './chosen-links.ts';
import type {Interval, RangeQuery, StatsQuery} from './stats-bounds.ts';

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

const bound = Joi.string()
	.custom((text: string, helpers) => (isDateTime(text) ? text : helpers.error('any.invalid')))
	.meta({schema: {description: 'An ISO 8601 date or date-time; without an offset it is of `timezone`.'}})
	.default(null)
	.messages({'any.invalid': '{{#label}} must be an ISO 8601 date or date-time'});

/** Maximum breakdowns of an answer. */
const MAX_DIMENSIONS = 4;

/** Names between commas, or one parameter each. */
const namesQuery = (names: readonly string[], most: number) =>
	Joi.any()
		.custom((value: unknown, helpers) => {
			const wanted = [...new Set([value].flat().flatMap((text) => String(text).split(',')))];
			const unknown = wanted.find((name) => !names.includes(name));
			return unknown !== undefined
				? helpers.error('names.unknown', {unknown, names: names.join(', ')})
				: wanted.length > most
					? helpers.error('names.most', {most})
					: wanted;
		})
		.meta({schema: {type: 'array', items: {type: 'string', enum: names}, maxItems: most}})
		.messages({
			'names.unknown': '{{#label}} must be of {{#names}}, not {{#unknown}}',
			'names.most': '{{#label}} must not have more than {{#most}} names',
		});

/** Filters by properties of links (contract/reports 2). */
export const linkFilterQuery = {
	tag: Joi.string().max(255),
	channel: Joi.string().max(255),
	link: uuidParam.optional(),
};

const interval = oneOf<Interval>('hour', 'day', 'month');

/** The range of every report; the default is the last 30 days by day in UTC (contract/portal 7). */
export const rangeQuery = Joi.object<RangeQuery>({
	from: bound,
	to: bound,
	interval: interval.default('day' satisfies Interval),
	timezone: Joi.string()
		.max(64)
		.custom((name: string, helpers) => timezoneNamed(name) ?? helpers.error('any.invalid'))
		.meta({schema: {description: 'An IANA time zone.'}})
		.default('UTC')
		.messages({'any.invalid': '{{#label}} must be an IANA time zone'}),
});

/** The query of a report (contract/reports 1 and 2). */
export const statsQuery = rangeQuery.append<StatsQuery>({
	...linkFilterQuery,
	by: namesQuery(dimensionNames, MAX_DIMENSIONS) as Joi.Schema<DimensionName[]>,
});

const breakdown = optional(listOf(partOf({key: textOrNull, count})));

/** A report (contract/portal 7): of an organization, or of one link. */
export const statsAnswer = answerOf('Stats', {
	from: instant,
	to: instant,
	interval,
	totals: partOf({clicks: count, crawlerViews: count, matches: count, events: count}),
	series: listOf(partOf({start: instant, clicks: count, matches: count, events: count})),
	breakdowns: partOf(
		Object.fromEntries(dimensionNames.map((name) => [name, breakdown])) as Record<DimensionName, typeof breakdown>,
	),
	guesses: optional(listOf(partOf({confidence: oneOf('high', 'medium', 'low'), graded: count, correct: count}))),
	/** Absent: all of the range. */
	breakdownsSince: optional(instant),
});
export type Stats = ValueOf<typeof statsAnswer>;

/** `event`: null for all. `property`: the numeric property of events to add up. */
export type FunnelQuery = Omit<RangeQuery, 'interval'> &
	LinkFilter & {by: DimensionName; event: string | null; property: string | null};

const nameQuery = Joi.string().max(255).default(null);

/** The query of a funnel (contract/reports 5). */
export const funnelQuery = rangeQuery
	.fork('interval', (schema) => schema.forbidden())
	.append<FunnelQuery>({
		...linkFilterQuery,
		by: Joi.valid(...funnelDimensions).default('link'),
		event: nameQuery.meta({schema: {description: 'Events of this name; by default, all.'}}),
		property: nameQuery.meta({schema: {description: 'The numeric property of events to add up.'}}),
	});

const steps = {
	...{clicks: count, matches: count, devices: count, events: count},
	sum: orNull<number>(Joi.number().unsafe()),
};

export const funnelAnswer = answerOf('Funnel', {
	from: instant,
	to: instant,
	by: oneOf(...funnelDimensions),
	event: textOrNull,
	property: textOrNull,
	totals: partOf(steps),
	rows: listOf(partOf({key: textOrNull, ...steps})),
	breakdownsSince: optional(instant),
});
export type Funnel = ValueOf<typeof funnelAnswer>;
