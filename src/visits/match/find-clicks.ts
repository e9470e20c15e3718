import type {Db} from '../../platform/db/db.ts';
import {type Prepared, runPrepared} from '../../platform/db/prepared.ts';
import {isLiveSql} from '../resolution/visit/resolved-row.ts';
import type {FirstOpen} from './first-open.ts';
import {type MatchClick, type MatchClickRow, matchClickColumns, toMatchClick} from './match-click-store.ts';
import {matchPolicy} from './match-policy.ts';
import type {SentToken} from './match-request.ts';

/** The most consumed clicks that explain a miss. */
const CONSUMED_SHOWN = 10;

const {candidates, graceSeconds, windowSeconds} = matchPolicy;
/** The longest of the windows: older clicks of a place do not show how many people tap there now. */
const DAY_SECONDS = windowSeconds.FINGERPRINT_EXACT;

// The parameters of every statement here, in this order. Each statement names all of them, so that PostgreSQL knows the
// types. Keys come in pairs, under this week's secret and last week's: with an array of unknown length PostgreSQL would
// plan the statement anew each time.
const NOW = '$1';
const IP_KEYS = 'ARRAY[$2::bytea, $3::bytea]';
const NET_KEYS = 'ARRAY[$4::bytea, $5::bytea]';
const TOKENS = 'ARRAY[$6::uuid, $7::uuid]';
const DEVICES = 'ARRAY[$8::bytea, $9::bytea]';
const ORGANIZATION = '$10::uuid';
const GIVEN = `WITH given AS (
	SELECT ${NOW}::timestamptz, ${IP_KEYS}, ${NET_KEYS}, ${TOKENS}, ${DEVICES}, ${ORGANIZATION}
)`;
/** A subquery hides the time from the planner, which would otherwise make a custom plan for each value. */
const ago = (seconds: number): string => `(SELECT ${NOW}::timestamptz - interval '${seconds} seconds')`;

/** The app's address and network, under either secret. */
const PLACES = `unnest(${IP_KEYS}, ${NET_KEYS}) AS place (ip_key, net_key)`;
/** Open clicks have one index, by network and address, so a search for an address names its network, too. */
const OPEN_IN_NETWORK = 'net_key = place.net_key AND consumed_at IS NULL';

/** At most so many of the clicks of each place that meet a condition, in an order: one index scan per place. */
const nearest = (condition: string, order: string, limit: number, from = PLACES): string => `
	SELECT click.* FROM ${from} CROSS JOIN LATERAL (
		SELECT * FROM match_clicks WHERE ${condition} ORDER BY ${order} LIMIT ${limit}
	) AS click ORDER BY click.${order} LIMIT ${limit}`;

/** A guess within one organization ignores the clicks of others. */
const confined = (isConfined: boolean): string => (isConfined ? ` AND organization_id = ${ORGANIZATION}` : '');

const openAtAddress = (isConfined: boolean): string =>
	nearest(`${OPEN_IN_NETWORK} AND ip_key = place.ip_key${confined(isConfined)}`, 'created_at DESC', candidates.address);

/** The first address of the network, in the order of keys, that has an open click and meets a condition. */
const firstAddress = (where: string): string => `(
	SELECT ip_key FROM match_clicks WHERE ${OPEN_IN_NETWORK} AND ${where} ORDER BY ip_key LIMIT 1
)`;

/** Address by address, of which a network has 256 at most: however many clicks it has, few of them are read. */
const openInNetwork = (isConfined: boolean): string =>
	nearest(
		`${OPEN_IN_NETWORK} AND ip_key = host.ip_key
			AND created_at >= ${ago(windowSeconds.FINGERPRINT_SCORED)}${confined(isConfined)}`,
		'created_at DESC',
		candidates.network,
		`${PLACES} CROSS JOIN LATERAL (
			WITH RECURSIVE hosts AS (
				SELECT ${firstAddress('true')} AS ip_key
				UNION ALL
				SELECT ${firstAddress('ip_key > hosts.ip_key')} FROM hosts WHERE hosts.ip_key IS NOT NULL
			)
			SELECT ip_key FROM hosts WHERE ip_key IS NOT NULL
		) AS host`,
	);

const consumedAtAddress = (isConfined: boolean): string =>
	nearest(
		`ip_key = place.ip_key AND consumed_at >= ${ago(windowSeconds.FINGERPRINT_EXACT)}${confined(isConfined)}`,
		'consumed_at DESC',
		CONSUMED_SHOWN,
	);

/** Clicks of the address that were made within a day and are used, counted as far as it matters. */
const usedAtAddress = (isConfined: boolean): string => `
	SELECT CAST(count(*) AS integer) FROM ${PLACES} CROSS JOIN LATERAL (
		SELECT FROM match_clicks
		WHERE ip_key = place.ip_key AND consumed_at >= ${ago(DAY_SECONDS)} AND created_at >= ${ago(DAY_SECONDS)}${confined(isConfined)}
		ORDER BY consumed_at DESC LIMIT ${candidates.address}
	) AS click`;

/**
 * The last click of each visitor who tapped at the address, where it is a later one: wherever it was. Its browser sent the
 * cookie, so that the index of visitors has it.
 */
const laterOfVisitors = `
	SELECT later.* FROM (
		SELECT visitor, organization_id, max(created_at) AS created_at FROM address
		WHERE visitor IS NOT NULL GROUP BY 1, 2
	) AS here CROSS JOIN LATERAL (
		SELECT * FROM match_clicks
		WHERE visitor = here.visitor AND created_at > here.created_at AND organization_id = here.organization_id
			AND consumed_at IS NULL AND is_returning
		ORDER BY created_at DESC LIMIT 1
	) AS later`;

/**
 * Clicks with their organizations' rules, whose defaults are those of an app configuration. What belongs to a click is
 * looked up by its id, however many there are; a click whose link is gone is as one of a link that does not resolve.
 */
const described = (source: string, more = ''): string => `
	SELECT ${matchClickColumns('click')}${more},
		coalesce(rules.probabilistic_matching, true) AS probabilistic_matching,
		coalesce(rules.minimum_confidence, 'low') AS minimum_confidence, coalesce(link.is_live, false) AS is_live
	FROM ${source} AS click LEFT JOIN LATERAL (
		SELECT probabilistic_matching, minimum_confidence FROM app_configs
		WHERE organization_id = click.organization_id LIMIT 1
	) AS rules ON true LEFT JOIN LATERAL (
		SELECT ${isLiveSql(NOW)} AS is_live FROM links CROSS JOIN LATERAL (
			SELECT status FROM organizations WHERE id = links.organization_id LIMIT 1
		) AS organizations
		WHERE links.id = click.link_id LIMIT 1
	) AS link ON true`;

/** How a click was found. */
type FoundBy = 'token' | 'device' | 'address' | 'later' | 'network' | 'consumed';

/** Clicks of several common table expressions, each with the name of its own. */
const union = (...names: FoundBy[]): string =>
	`(${names.map((name) => `SELECT '${name}' AS found_by, * FROM ${name}`).join(' UNION ALL ')})`;

const lookAround = (isConfined: boolean): string => `
	${GIVEN}, token AS MATERIALIZED (
		SELECT * FROM match_clicks WHERE id = ANY(${TOKENS})
	), device AS MATERIALIZED (
		SELECT * FROM match_clicks
		WHERE consumed_by = ANY(${DEVICES}) AND consumed_at > ${ago(graceSeconds)}
		ORDER BY consumed_at DESC LIMIT 1
	), address AS MATERIALIZED (${openAtAddress(isConfined)}
	), later AS MATERIALIZED (${laterOfVisitors}
	)
	${described(
		union('token', 'device', 'address', 'later'),
		`, click.found_by, CASE WHEN click.found_by IN ('token', 'device') THEN click.query END AS query,
		(${usedAtAddress(isConfined)}) AS used_at_address`,
	)}`;

const lookFurther = (isConfined: boolean): string => `
	${GIVEN}, network AS MATERIALIZED (${openInNetwork(isConfined)}
	), consumed AS MATERIALIZED (${consumedAtAddress(isConfined)}
	)
	${described(union('network', 'consumed'), ', click.found_by')}`;

/** By whether an organization is named. */
const pair = (name: string, text: (isConfined: boolean) => string): Record<'any' | 'one', Prepared> => ({
	any: {name, text: text(false)},
	one: {name: `${name} of an organization`, text: text(true)},
});

/** The statements of this file, for who wants to see their plans. */
export const clickStatements = {
	around: pair('clicks around an app', lookAround),
	further: pair('clicks further from an app', lookFurther),
};

type Row = MatchClickRow & {found_by: FoundBy; used_at_address?: number};

const select = async (
	db: Db,
	statement: Record<'any' | 'one', Prepared>,
	firstOpen: FirstOpen,
	tokens: readonly Token[] = [],
): Promise<{rows: Row[]; by(wanted: FoundBy): MatchClick[]}> => {
	const {now, places, organizationId, devices} = firstOpen;
	const two = <T>(keys: T[]): Array<T | null> => [keys[0] ?? null, keys[1] ?? null];
	const rows = await runPrepared<Row>(db, organizationId === null ? statement.any : statement.one, [
		now,
		...two(places.map(({ipKey}) => ipKey)),
		...two(places.map(({netKey}) => netKey)),
		...two(tokens.map(({clickId}) => clickId)),
		...two(devices),
		organizationId,
	]);
	return {rows, by: (wanted) => rows.filter(({found_by: foundBy}) => foundBy === wanted).map(toMatchClick)};
};

type Token = Omit<SentToken, 'method'>;

/** The clicks that may have led to a first open. */
export type AddressClicks = {
	/** The clicks of the tokens that it sent, open or not. */
	tokens: MatchClick[];
	/** The click that the device claimed within the last 30 seconds. */
	lastOfDevice: MatchClick | null;
	/** The newest open clicks from its address, at most 200 (contract/match 3). */
	atAddress: MatchClick[];
	/** The last click of each of their visitors, if it is later and from elsewhere. */
	later: MatchClick[];
	/** The number of clicks from its address in the last 24 h, open or used, up to the limits of the statement. */
	clicksLast24h: number;
};

/** The clicks that are read if those of the address give no guess. */
export type NetworkClicks = {
	/** The newest open clicks from the network, at most 50. */
	inNetwork: MatchClick[];
	/** The last matched clicks from the address, which explain a miss. */
	consumed: MatchClick[];
};

/** Reads the clicks of the app's tokens, device and address, with one statement. */
export const clicksAtAddress = async (
	db: Db,
	firstOpen: FirstOpen,
	tokens: readonly Token[],
): Promise<AddressClicks> => {
	const {rows, by} = await select(db, clickStatements.around, firstOpen, tokens);
	const atAddress = by('address');
	const since = firstOpen.now.getTime() - DAY_SECONDS * 1000;
	const open = atAddress.filter(({clickedAt}) => clickedAt.getTime() >= since);
	return {
		tokens: by('token'),
		lastOfDevice: by('device')[0] ?? null,
		atAddress,
		later: by('later'),
		clicksLast24h: open.length + (rows[0]?.used_at_address ?? 0),
	};
};

/** Reads the other clicks near the app, with one statement. */
export const clicksInNetwork = async (db: Db, firstOpen: FirstOpen): Promise<NetworkClicks> => {
	const {by} = await select(db, clickStatements.further, firstOpen);
	return {inNetwork: by('network'), consumed: by('consumed')};
};
