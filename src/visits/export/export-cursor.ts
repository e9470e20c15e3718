import {parseSnapshot, type Snapshot} from '../../platform/db/new-rows.ts';
import {validationFailed} from '../../platform/errors.ts';
import type {ExportKind} from './export-kinds.ts';

/** Whose rows a cursor continues; `cluster` is PostgreSQL's, because numbers of transactions mean nothing in another. */
type Owner = {kind: ExportKind; organizationId: string; cluster: string};

const invalidCursor = (fault: string) => validationFailed([{field: 'cursor', message: `cursor ${fault}`}]);

/** The position after which the next run goes on (contract/reports 8): opaque to callers. */
export const cursorOf = ({kind, organizationId, cluster}: Owner, snapshot: Snapshot, now: Date): string =>
	Buffer.from(JSON.stringify([1, kind, organizationId, snapshot, now.getTime(), cluster])).toString('base64url');

/** The snapshot of a cursor. @param notBefore null: it may have any age. @throws 400 for one of something else, or of another database. */
export const snapshotOf = (
	cursor: string,
	{kind, organizationId, cluster}: Owner,
	{now, notBefore}: {now: Snapshot; notBefore: Date | null},
): Snapshot => {
	let parts: unknown;
	try {
		parts = JSON.parse(Buffer.from(cursor, 'base64url').toString());
	} catch {
		throw invalidCursor('is not one of an export');
	}

	const [version, ownKind, owner, snapshot, at, ownCluster] = Array.isArray(parts) ? parts : [];
	const [then, present] = [typeof snapshot === 'string' ? parseSnapshot(snapshot) : null, parseSnapshot(now)];
	if (version !== 1 || then === null || present === null) {
		throw invalidCursor('is not one of an export');
	}

	if (ownKind !== kind || owner !== organizationId) {
		throw invalidCursor(`is not one of ${kind} of this organization`);
	}

	if (ownCluster !== cluster || then.xmax > present.xmax) {
		throw invalidCursor('is of another database; begin again without it');
	}

	if (notBefore !== null && !(typeof at === 'number' && at >= notBefore.getTime())) {
		throw invalidCursor('is too old; begin again with since');
	}

	return snapshot;
};
