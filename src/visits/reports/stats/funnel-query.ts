import Joi from 'joi';
import {answerOf, count, instant, partOf, textOrNull} from '../../../platform/http/answer.ts';
import {type DimensionName, funnelDimensions} from '../../clicks/dimensions.ts';
import type {LinkFilter} from './chosen-links.ts';
import type {RangeQuery} from './stats-bounds.ts';
import {linkFilterQuery, rangeQuery} from './stats-query.ts';

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

const steps = {clicks: count, matches: count, devices: count, events: count, sum: Joi.number().unsafe().allow(null)};

export const funnelAnswer = answerOf('Funnel', {
	from: instant,
	to: instant,
	by: Joi.valid(...funnelDimensions),
	event: textOrNull,
	property: textOrNull,
	totals: partOf(steps),
	rows: Joi.array().items(partOf({key: textOrNull, ...steps})),
	breakdownsSince: instant.optional(),
});
