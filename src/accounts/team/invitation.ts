import Joi from 'joi';
import {type Role, storedRoleOf} from '../../platform/config/roles.ts';
import {sizeFirst} from '../../platform/http/size-first.ts';
import type {ProviderInvitation} from '../identity/provider-client.ts';
import {roleField} from './member.ts';

export type NewInvitation = {email: string; role: Role};

const email = sizeFirst
	.string()
	.email({tlds: false})
	.max(320)
	.custom((address: string) => address.toLowerCase())
	.meta({schema: {description: 'Kept in lower case.'}});
export const newInvitation = Joi.object<NewInvitation>({email: email.required(), role: roleField});

/**
 * In the API's form (contract/portal 1): the role in upper case like a member's, which accepting grants; the status as
 * the provider spells it.
 */
export const invitationJson = ({id, email: address, role, status, createdAt, expiresAt}: ProviderInvitation) => ({
	id,
	email: address,
	role: storedRoleOf(role),
	status,
	createdAt,
	expiresAt,
});
