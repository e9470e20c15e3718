import Joi from 'joi';
import {answerOf, count, flag, instant, partOf, text, textOrNull, uuid} from '../../platform/http/answer.ts';

const summary = {
	id: uuid,
	hostname: text,
	status: Joi.valid('PENDING', 'VERIFIED', 'REJECTED'),
	isDefault: flag,
};

/** The domain object of a link (contract/links 3). */
export const domainSummaryAnswer = answerOf('DomainSummary', summary);

/** A domain in its own routes; `verification` is null for the shared link domain. */
export const domainAnswer = answerOf('Domain', {
	...summary,
	verification: partOf({type: Joi.valid('TXT'), name: text, value: text}).allow(null),
	createdAt: instant,
	pathPrefixes: Joi.array().items(text).optional(),
	rootUrl: text.optional(),
	unknownCodes: partOf({url: text}).optional(),
});

/** A code that no link has, with its visits (contract/hosts 9). */
export const unknownCodeAnswer = answerOf('UnknownCode', {
	code: textOrNull.description('Null stands for the further codes of days that had too many.'),
	count,
	lastAt: instant,
});

export const certificateAnswer = answerOf('CertificateAllowed', {domain: text});
