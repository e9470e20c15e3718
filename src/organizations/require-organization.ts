import Joi from 'joi';
import {organizationNotFound} from '../errors.ts';
import {uuidParam} from '../http/validate.ts';
import type {Services} from '../services.ts';
import {ORG_KEY} from './org-key.ts';
import {createOrganizationStore, type Organization} from './organization-store.ts';

/** An organization by its UUID or its orgKey (contract/admin 1). */
export const organizationReference = Joi.alternatives(
	Joi.string().guid({separator: '-'}),
	Joi.string().pattern(ORG_KEY),
).messages({'alternatives.match': '{{#label}} must be a UUID or an orgKey'});

/** Path parameters below `/admin/organizations/:orgId`, and a route's own. */
export const orgParamsWith = <T extends object>(others: Joi.PartialSchemaMap<T>) =>
	Joi.object({orgId: organizationReference.required(), ...others}) as Joi.ObjectSchema<{orgId: string} & T>;

export const orgParams = orgParamsWith({});
export const orgIdParams = orgParamsWith<{id: string}>({id: uuidParam});

/** The organization named by an operator. @throws 404. */
export const requireOrganization = async ({db}: Pick<Services, 'db'>, reference: string): Promise<Organization> => {
	const organization = await createOrganizationStore(db).findByReference(reference);
	if (organization === null) {
		throw organizationNotFound();
	}

	return organization;
};
