import type {OsVersion} from '../visit/user-agent.ts';

/** The version in a system name that an SDK reports (`17.5.1`, `14`, `iOS 17.5`); null if there is none. */
export const osVersionOf = (text: string): OsVersion | null => {
	const match = /(?<!\d)(\d{1,5})(?:[._](\d{1,5}))?(?:[._](\d{1,5}))?(?!\d)/.exec(text);
	if (match === null) {
		return null;
	}

	const [major, minor, patch] = [1, 2, 3].map((part) => (match[part] === undefined ? null : Number(match[part])));
	return {
		major: major ?? 0,
		minor: minor ?? null,
		patch: patch ?? null,
		precision: patch != null ? 'patch' : minor != null ? 'minor' : 'major',
	};
};

type OsComparison = 'samePatch' | 'sameMinor' | 'sameMajor' | 'newerMinor' | 'olderMinor' | 'newerMajor' | 'olderMajor';

/** Compares the app's system version with the click's. A missing patch counts as 0; parts beyond the precision are unknown. */
export const compareOsVersions = (click: OsVersion, app: OsVersion): OsComparison => {
	if (click.major !== app.major) {
		return app.major > click.major ? 'newerMajor' : 'olderMajor';
	}

	const [before, after] = [click, app].map(({minor, precision}) => (precision === 'major' ? null : minor));
	if (before == null || after == null) {
		return 'sameMajor';
	}

	if (before !== after) {
		return after > before ? 'newerMinor' : 'olderMinor';
	}

	return (click.patch ?? 0) === (app.patch ?? 0) ? 'samePatch' : 'sameMinor';
};
