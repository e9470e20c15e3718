import Joi from 'joi';
import {answerOf, flag, instant, partOf, text, uuid} from '../http/answer.ts';

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
});

export const certificateAnswer = answerOf('CertificateAllowed', {domain: text});
