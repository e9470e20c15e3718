import Joi from 'joi';
import {organizationNotFound, required} from '../../platform/errors.ts';
import {uuidField} from '../../platform/http/validate.ts';
import type {Services} from '../../services.ts';
import {ORG_KEY} from './org-key.ts';
import {createOrganizationStore, type Organization} from './organization-store.ts';

/** An organization by its UUID or its orgKey (contract/admin 1). */
export const organizationReference = Joi.alternatives(uuidField, Joi.string().pattern(ORG_KEY)).messages({
	'alternatives.match': '{{#label}} must be a UUID or an orgKey',
});

/** Path parameters below `/admin/organizations/:orgId`. */
export const orgParams = Joi.object<{orgId: string}>({orgId: organizationReference.required()});

/** The organization named by an operator. @throws 404. */
export const requireOrganization = async ({db}: Pick<Services, 'db'>, reference: string): Promise<Organization> => {
	return required(await createOrganizationStore(db).findByReference(reference), organizationNotFound);
};

/** Whether the organization that a request names is suspended; false if there is none. */
export const isSuspended = async ({db}: Pick<Services, 'db'>, reference: string): Promise<boolean> =>
	(await createOrganizationStore(db).findByReference(reference))?.status === 'SUSPENDED';
