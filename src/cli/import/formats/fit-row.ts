import {createHash} from 'node:crypto';
import type {AndroidConfig, IosConfig} from '../../../links/app-config/app-config.ts';
import type {AppClaims, ForeignFacts, ImportRow} from './import-row.ts';

/** The apps of an organization's configuration that rows can name. */
export type OwnApps = {
	ios: Pick<IosConfig, 'bundleId' | 'appStoreId' | 'scheme'> | null;
	android: Array<Pick<AndroidConfig, 'packageName' | 'scheme'>>;
};

const present = (...values: Array<string | null | undefined>): string[] => values.flatMap((value) => value ?? []);

/**
 * The fault of a row that names foreign apps. A link opens the configured apps whichever the row names, so a row of
 * another app would lead people to the wrong one.
 */
const foreignApps = (claims: AppClaims, own: OwnApps): Array<{what: string; value: string; own: string[]}> => {
	const schemes = present(own.ios?.scheme, ...own.android.map(({scheme}) => scheme));
	const kinds = [
		{what: 'iOS bundle id', values: claims.bundleIds, own: present(own.ios?.bundleId)},
		{what: 'App Store id', values: claims.appStoreIds, own: present(own.ios?.appStoreId)},
		{what: 'Android package', values: claims.packageNames, own: own.android.map(({packageName}) => packageName)},
		{what: 'custom scheme', values: claims.schemes, own: schemes},
	];
	return kinds.flatMap(({what, values, own: known}) =>
		values
			.filter((value) => !known.some((one) => one.toLowerCase() === value.toLowerCase()))
			.map((value) => ({what, value, own: known})),
	);
};

const hashOf = (text: string, bits: number): number =>
	Math.floor(createHash('sha1').update(text).digest().readUIntBE(0, 6) / 2 ** (48 - bits));

const LINE_NUMBERS = 2 ** 32;

/**
 * Detects repeated short codes in about 64 bytes per row, because a million rows must not be held in memory. Two rows of
 * an export with one code are two links, one of which would be lost silently. The chance that two of a million codes
 * have one hash is 1 in 500.
 */
export const createSeenCodes = () => {
	/** By the hash of a code, one number: the line of its first row, plus `LINE_NUMBERS` times 20 bits of a hash of that row. */
	const seen = new Map<number, number>();
	return {
		/** The line of an earlier, different row with the same code; null if there is none. */
		conflict: (shortCode: string, content: string, line: number): number | null => {
			const code = hashOf(shortCode, 48);
			const own = hashOf(content, 20);
			const first = seen.get(code);
			if (first === undefined) {
				seen.set(code, own * LINE_NUMBERS + line);
			}

			return first === undefined || Math.floor(first / LINE_NUMBERS) === own ? null : first % LINE_NUMBERS;
		},
	};
};

/** The data that foreign rows are checked against. */
export type FitContext = {
	/** The organization's apps; null disables the check. */
	apps: OwnApps | null;
	/** Ids of its verified domains by hostname. */
	domains: ReadonlyMap<string, string>;
	/** Prefixes that a domain has or needs for the old addresses of its rows, by hostname; rows add to it. */
	prefixes?: PrefixNeeds;
	channels: ReadonlySet<string> | null;
	/** Channels to rename on import; an empty name removes the channel. */
	channelNames: ReadonlyMap<string, string>;
	anyApp: boolean;
	/** The codes of previous rows; null if a later row may replace an earlier one. */
	seen: ReturnType<typeof createSeenCodes> | null;
};

/** The prefixes that a domain has, and those that rows need besides. */
export type PrefixNeeds = ReadonlyMap<string, {has: readonly string[]; needs: Set<string>}>;

type Refusal = {error: string; hint?: string};
type Link = Record<string, unknown>;

const refused = ({row: _, ...given}: ImportRow & {row: Link}, refusal: Refusal): ImportRow => ({...given, ...refusal});

const renamedChannel = (link: Link, names: FitContext['channelNames']): Link => {
	const name = typeof link['channel'] === 'string' ? names.get(link['channel']) : undefined;
	if (name === undefined) {
		return link;
	}

	const {channel: _, ...others} = link;
	return name === '' ? others : {...others, channel: name};
};

/** The next step for rows of unknown channels. */
export const channelHint =
	'Use --map-channel NAME=CHANNEL to import rows of channel NAME as CHANNEL, or NAME= for no channel';

/** Uses the organization's spelling of the channel. */
const knownChannel = (link: Link, channels: ReadonlySet<string> | null): Link | Refusal => {
	const {channel} = link;
	if (channels === null || typeof channel !== 'string' || channels.has(channel)) {
		return link;
	}

	const spelled = [...channels].find((name) => name.toLowerCase() === channel.toLowerCase());
	return spelled === undefined
		? {error: `Unknown channel '${channel}'`, hint: channelHint}
		: {...link, channel: spelled};
};

const appRefusal = (others: ReturnType<typeof foreignApps>): Refusal => ({
	error: others
		.map(({what, value, own}) => `${what} ${value} is not the organization's (${own.join(', ') || 'it has none'})`)
		.join('; '),
	hint: 'Register the app with oplink app-config set, or add --any-app to import rows of other apps',
});

const withNotCarriedOver = (facts: ForeignFacts, more: string[]): ForeignFacts =>
	more.length === 0 ? facts : {...facts, left: [...facts.left, ...more]};

/**
 * Adapts a row to the organization or rejects it with a reason. Checks the channel, and for foreign rows the apps, the
 * domain and repeated codes.
 */
export const fitRow = (given: ImportRow, fitting: FitContext): ImportRow => {
	if (given.row === undefined) {
		return given;
	}

	const renamed = renamedChannel(given.row, fitting.channelNames);
	if (given.foreign === undefined) {
		return {...given, row: renamed};
	}

	const link = knownChannel(renamed, fitting.channels);
	if ('error' in link) {
		return refused(given, link as Refusal);
	}

	const {apps, host, prefix} = given.foreign;
	const others = fitting.apps === null ? [] : foreignApps(apps, fitting.apps);
	if (others.length > 0 && !fitting.anyApp) {
		return refused(given, appRefusal(others));
	}

	const {shortCode} = link;
	const earlier =
		typeof shortCode === 'string' ? fitting.seen?.conflict(shortCode, JSON.stringify(link), given.line) : null;
	if (earlier != null) {
		return refused(given, {error: `short code '${shortCode}' is also used in line ${earlier}, by another link`});
	}

	const domainId = host === null ? undefined : fitting.domains.get(host.toLowerCase());
	const prefixes = host === null ? undefined : fitting.prefixes?.get(host.toLowerCase());
	if (prefix != null && prefixes?.has.includes(prefix) === false) {
		prefixes.needs.add(prefix);
	}

	return {
		...given,
		row: domainId === undefined ? link : {...link, domainId},
		foreign: withNotCarriedOver(given.foreign, [
			...others.map(({what, value}) => `${what} ${value}`),
			...(host === null || domainId !== undefined ? [] : [`the domain ${host}`]),
		]),
	};
};

/** Adapts rows as they arrive. */
export async function* fittedRows(rows: AsyncIterable<ImportRow>, fitting: FitContext): AsyncGenerator<ImportRow> {
	for await (const row of rows) {
		yield fitRow(row, fitting);
	}
}
