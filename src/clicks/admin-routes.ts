import Joi from 'joi';
import {route} from '../http/route.ts';
import {orgParams, requireOrganization} from '../organizations/require-organization.ts';
import {type Interval, readStats, type StatsQuery} from './stats.ts';

const isTimezone = (name: string): boolean => {
	try {
		new Intl.DateTimeFormat('en', {timeZone: name});
		// Bare offsets are left out: PostgreSQL reads their sign the other way round.
		return /^[A-Za-z]/.test(name);
	} catch {
		return false;
	}
};

const instant = Joi.string()
	.pattern(
		/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/,
	)
	.custom((text: string, helpers) => (Number.isNaN(Date.parse(text)) ? helpers.error('string.pattern.base') : text))
	.default(null)
	.messages({'string.pattern.base': '{{#label}} must be an ISO 8601 date or date-time'});

/** The query of every report: the last 30 days by day in UTC unless said (decisions 8). */
export const statsQuery = Joi.object<StatsQuery>({
	from: instant,
	to: instant,
	interval: Joi.valid('hour', 'day', 'month').default('day' satisfies Interval),
	timezone: Joi.string()
		.max(64)
		.custom((name: string, helpers) => (isTimezone(name) ? name : helpers.error('any.invalid')))
		.default('UTC')
		.messages({'any.invalid': '{{#label}} must be an IANA time zone'}),
});

export const statsRoutes = [
	route({
		method: 'GET',
		path: '/admin/organizations/:orgId/stats',
		credential: 'admin',
		params: orgParams,
		query: statsQuery,
		handler: async ({services, params, query}) => {
			const {id} = await requireOrganization(services, params.orgId);
			return readStats(services.db, {organizationId: id, linkId: null}, query, services.clock.now());
		},
	}),
];
