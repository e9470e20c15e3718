import Joi from 'joi';
import {answerOf, count, instant, partOf, text} from '../../platform/http/answer.ts';

const check = Joi.valid('ok', 'unavailable', 'pending', 'read-only');
const status = Joi.valid('ok', 'unavailable');
const checks = partOf({database: check, migrations: check, redis: check.optional(), clicks: check.optional()});

export const liveAnswer = answerOf('Live', {status: Joi.valid('ok')});
export const readyAnswer = answerOf('Ready', {status, checks});
export const statusAnswer = answerOf('Status', {
	status,
	version: text,
	node: text,
	now: instant,
	uptimeSeconds: count,
	publicUrl: text,
	linkDomain: text,
	checks,
	database: partOf({mode: Joi.valid('embedded', 'external'), version: text}),
	migrations: partOf({applied: count, pending: Joi.array().items(text)}),
	counts: partOf({organizations: count, links: count, clicksThisMonth: count}),
	/** Of the answering process: unwritten bytes of its journal, lost clicks, and clicks that the database rejected. */
	clicks: partOf({waitingBytes: count, lost: count, refused: count}),
});
