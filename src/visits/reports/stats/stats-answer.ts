import Joi from 'joi';
import {answerOf, count, instant, partOf, textOrNull} from '../../../platform/http/answer.ts';
import {dimensionNames} from '../../clicks/dimensions.ts';

const breakdown = Joi.array().items(partOf({key: textOrNull, count}));

/** A report (contract/portal 7): of an organization, or of one link. */
export const statsAnswer = answerOf('Stats', {
	from: instant,
	to: instant,
	interval: Joi.valid('hour', 'day', 'month'),
	totals: partOf({clicks: count, crawlerViews: count, matches: count, events: count}),
	series: Joi.array().items(partOf({start: instant, clicks: count, matches: count, events: count})),
	breakdowns: partOf(Object.fromEntries(dimensionNames.map((name) => [name, breakdown.optional()]))),
	guesses: Joi.array()
		.items(partOf({confidence: Joi.valid('high', 'medium', 'low'), graded: count, correct: count}))
		.optional(),
	breakdownsSince: instant.optional(),
});
