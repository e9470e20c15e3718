import Joi from 'joi';
import {type Role, roleOf, roles, type StoredRole} from '../../platform/config/roles.ts';

/** A member of an organization, with the provider's data of the membership. */
export type Member = {
	userId: string;
	email: string | null;
	name: string;
	role: StoredRole;
	joinedAt: Date;
	/** The provider's ids; null if it sent none. */
	clerkUserId: string | null;
	clerkMembershipId: string | null;
	providerCreatedAt: Date | null;
};

/** In the API's form (contract/portal 1); the role as stored in memberships, in upper case (contract/identity 1). */
export const memberJson = ({userId, email, name, role, joinedAt}: Member) => ({userId, email, name, role, joinedAt});

/** A role in a body, in upper case as in answers or in lower case as in claims; converted to lower case. */
export const roleField = Joi.any()
	.required()
	.custom((value: unknown, helpers) => {
		const role = typeof value === 'string' ? roleOf(value.toLowerCase()) : null;
		const names = roles.map((one) => one.toUpperCase()).join(', ');
		return role ?? helpers.message({custom: `{{#label}} must be one of ${names}`});
	})
	.meta({schema: {type: 'string', enum: [...roles.map((one) => one.toUpperCase()), ...roles]}}) as Joi.Schema<Role>;
