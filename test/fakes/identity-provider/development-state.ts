import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import type {Directory} from './directory.ts';
import {membershipRecord, organizationRecord} from './present.ts';

const kinds = ['organizations', 'users', 'memberships', 'invitations'] as const;

/** Saves the provider's state, so that it survives a restart as the service's database does. */
export const saveDirectory = (file: string, directory: Directory): void => {
	mkdirSync(path.dirname(file), {recursive: true});
	writeFileSync(file, JSON.stringify(Object.fromEntries(kinds.map((kind) => [kind, [...directory[kind].values()]]))));
};

/** Restores the saved state; false if there is none. */
export const loadDirectory = (file: string, directory: Directory): boolean => {
	let kept: string;
	try {
		kept = readFileSync(file, 'utf8');
	} catch {
		return false;
	}

	const records: Record<(typeof kinds)[number], Array<{id: string}>> = JSON.parse(kept);
	for (const kind of kinds) {
		const known: Map<string, unknown> = directory[kind];
		for (const record of records[kind]) {
			known.set(record.id, record);
		}
	}

	return true;
};

/** Sends all records again, for a service that was down or whose database is new. */
export const resendAll = (directory: Directory): void => {
	for (const organization of directory.organizations.values()) {
		directory.emit('organization.created', organizationRecord(directory, organization));
	}

	for (const user of directory.users.values()) {
		directory.emit('user.created', user);
	}

	for (const membership of directory.memberships.values()) {
		directory.emit('organizationMembership.created', membershipRecord(directory, membership));
	}
};
