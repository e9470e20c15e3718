import {
	changedAt,
	creatorRole,
	type Directory,
	findOrganization,
	membershipsWhere,
	mergeMetadata,
} from './directory.ts';
import {createMembership} from './memberships.ts';
import {type OrganizationRecord, organizationRecord} from './present.ts';
import {creatorNotFound, paramMissing, paramValue, slugsDisabled} from './provider-errors.ts';
import {idOf, type Metadata, newId, newOrganization, type Ref} from './records.ts';

export type OrganizationInput = {
	id?: string;
	name?: string;
	slug?: string;
	/** Becomes a member with the creator's system role, and without a role of the application. */
	createdBy?: Ref;
	publicMetadata?: Metadata;
	privateMetadata?: Metadata;
	maxAllowedMemberships?: number;
};

const maxNameLength = 256;

const checkName = (name: string): string => {
	if (name.trim() === '') {
		throw paramMissing('name');
	}

	if (name.length > maxNameLength || /https?:\/\/|www\.|<[^>]*>/i.test(name)) {
		throw paramValue('name', `must have at most ${maxNameLength} characters and no URL or HTML`);
	}

	return name;
};

/** As on all instances made after October 2025. */
const refuseSlug = ({slug}: OrganizationInput): void => {
	if (slug !== undefined) {
		throw slugsDisabled();
	}
};

/** Names are not unique at the provider. */
export const createOrganization = (directory: Directory, input: OrganizationInput = {}): OrganizationRecord => {
	const {id = newId('org')} = input;
	refuseSlug(input);
	const now = directory.clock.now().getTime();
	const createdBy = input.createdBy === undefined ? null : idOf(input.createdBy);
	if (createdBy !== null && !directory.users.has(createdBy)) {
		throw creatorNotFound(createdBy);
	}

	const organization = newOrganization(
		{
			id,
			name: checkName(input.name ?? `Acme ${id.slice(-8)}`),
			slug: null,
			max_allowed_memberships: input.maxAllowedMemberships ?? directory.settings.maxAllowedMemberships,
			public_metadata: input.publicMetadata ?? {},
			private_metadata: input.privateMetadata ?? {},
			created_by: createdBy,
		},
		now,
	);
	directory.organizations.set(id, organization);
	directory.emit('organization.created', organizationRecord(directory, organization));
	if (createdBy !== null) {
		createMembership(directory, {organization: id, user: createdBy, systemRole: creatorRole});
	}

	return organizationRecord(directory, organization);
};

export const updateOrganization = (
	directory: Directory,
	ref: Ref,
	input: Omit<OrganizationInput, 'id' | 'createdBy'>,
): OrganizationRecord => {
	const organization = findOrganization(directory, ref);
	refuseSlug(input);
	const name = input.name === undefined ? organization.name : checkName(input.name);
	Object.assign(organization, {
		name,
		max_allowed_memberships: input.maxAllowedMemberships ?? organization.max_allowed_memberships,
		public_metadata: mergeMetadata(organization.public_metadata, input.publicMetadata ?? {}),
		private_metadata: mergeMetadata(organization.private_metadata, input.privateMetadata ?? {}),
		updated_at: changedAt(directory, organization),
	});
	const record = organizationRecord(directory, organization);
	directory.emit('organization.updated', record);
	return record;
};

/** Takes memberships and invitations along. */
export const deleteOrganization = (directory: Directory, ref: Ref) => {
	const {id, slug} = findOrganization(directory, ref);
	for (const membership of membershipsWhere(directory, {organizationId: id})) {
		directory.memberships.delete(membership.id);
	}

	for (const invitation of [...directory.invitations.values()].filter(({organization_id}) => organization_id === id)) {
		directory.invitations.delete(invitation.id);
	}

	directory.organizations.delete(id);
	const deleted = {object: 'organization' as const, id, slug, deleted: true as const};
	directory.emit('organization.deleted', deleted);
	return deleted;
};
