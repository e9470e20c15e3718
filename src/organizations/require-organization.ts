import Joi from 'joi';
import {organizationNotFound} from '../errors.ts';
import {uuidParam} from '../http/validate.ts';
import type {Services} from '../services.ts';
import {ORG_KEY} from './org-key.ts';
import {createOrganizationStore, type Organization} from './organization-store.ts';

/** Path parameters below `/admin/organizations/:orgId`: the UUID or the orgKey (decisions 10). */
export const orgParams = Joi.object<{orgId: string}>({
	orgId: Joi.alternatives(Joi.string().guid({separator: '-'}), Joi.string().pattern(/^[A-Za-z0-9]{4}$/))
		.required()
		.messages({'alternatives.match': '{{#label}} must be a UUID or an orgKey'}),
});

/** The organization that an operator named. @throws 404. */
export const requireOrganization = async ({db}: Pick<Services, 'db'>, reference: string): Promise<Organization> => {
	const organization = await createOrganizationStore(db).findByReference(reference);
	if (organization === null) {
		throw organizationNotFound();
	}

	return organization;
};
