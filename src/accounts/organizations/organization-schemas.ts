import Joi from 'joi';
import {answerOf, instant, text, textOrNull, uuid} from '../../platform/http/answer.ts';
import {sizeFirst} from '../../platform/http/size-first.ts';

/** Body fields of an organization, on all surfaces. */
export const organizationName = Joi.string().trim().min(1).max(255);
export const contactEmail = sizeFirst.string().email({tlds: false}).max(320).allow(null);

export type OrganizationFields = {name?: string; contactEmail?: string | null};
export const organizationChanges = Joi.object<OrganizationFields>({name: organizationName, contactEmail});

export const organizationFields = {
	id: uuid,
	orgKey: text,
	name: text,
	status: Joi.valid('ACTIVE', 'SUSPENDED'),
	plan: textOrNull,
	contactEmail: textOrNull,
	createdAt: instant,
};

/** An organization (contract/portal 1). */
export const organizationAnswer = answerOf('Organization', organizationFields);

/** The name of a plan in a body. The plans file defines the names, so an unknown one is refused later. */
export const planField = Joi.string()
	.max(50)
	.meta({schema: {description: 'The name of a plan of this installation, in upper or lower case.'}});
