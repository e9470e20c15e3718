import Joi from 'joi';
import {organizationRoute} from '../../accounts/auth/route.ts';
import {DAY_MS, HOUR_MS} from '../../platform/clock.ts';
import {answerOf, count, instant, instantOrNull, partOf, text, textOrNull, uuid} from '../../platform/http/answer.ts';
import {readAppStatus} from './app-status.ts';

const DEFAULT_MS = 7 * DAY_MS;
const MAX_MS = 90 * DAY_MS;
const SINCE_RULE = '{{#label}} must be a number of hours or days from 1h to 90d, such as 7d';

/** `7d` or `12h` in milliseconds, from 1 h to 90 d. */
const sinceField = Joi.string()
	.custom((value: string, helpers) => {
		const [, number, unit] = /^(\d{1,4})([hd])$/.exec(value) ?? [];
		const milliseconds = Number(number) * (unit === 'h' ? HOUR_MS : DAY_MS);
		return milliseconds >= HOUR_MS && milliseconds <= MAX_MS ? milliseconds : helpers.message({custom: SINCE_RULE});
	})
	.meta({schema: {pattern: '^\\d{1,4}[hd]$', description: 'From `1h` to `90d`; default `7d`.'}});

const verdict = Joi.valid('ok', 'warn', 'fail');
const seen = {count, lastAt: instantOrNull};
const versions = Joi.array().items(partOf({version: text, ...seen}));
const fetched = partOf({lastFetchedAt: instantOrNull});
const platform = Joi.valid('ios', 'android');

/** Contract/sdk 12. */
const appStatusAnswer = answerOf('AppStatus', {
	organizationId: uuid,
	since: instant,
	until: instant,
	countedSince: instant,
	status: verdict,
	platforms: Joi.array().items(
		partOf({
			platform,
			lastSeenAt: instantOrNull,
			sessions: partOf({...seen, appVersions: versions, sdkVersions: versions}),
			data: partOf({...seen, notFound: count}),
			firstOpens: partOf({
				...seen,
				withToken: count,
				guesses: count,
				misses: count,
				byReason: Joi.array().items(partOf({reason: text, count})),
				byAppVersion: Joi.array().items(partOf({version: text, count, withToken: count})),
			}),
			events: partOf({...seen, unknownDevice: count}),
			refusals: Joi.array().items(partOf({limit: text, ...seen})),
		}),
	),
	unknown: partOf({
		sessions: count,
		data: count,
		firstOpens: count,
		events: count,
		unknownDevice: count,
		refusals: count,
	}),
	association: partOf({ios: fetched, android: fetched}),
	findings: Joi.array().items(
		partOf({
			area: text,
			check: text,
			status: verdict,
			message: text,
			next: textOrNull,
			platform: platform.allow(null),
			count,
		}),
	),
});

export const appStatusRoutes = organizationRoute('GET', '/app-status', {
	summary: 'Get what apps sent, and what is missing',
	answer: appStatusAnswer,
	role: 'analyst',
	query: Joi.object<{since?: number}>({since: sinceField}),
	handler: ({services, organization, query: {since}}) => readAppStatus(services, organization, since ?? DEFAULT_MS),
});
