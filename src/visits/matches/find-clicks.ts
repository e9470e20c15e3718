import type {Db} from '../../platform/db/db.ts';
import {literal, prepared, run, type Sql, sql} from '../../platform/db/sql.ts';
import {isLiveSql} from '../visit/resolved-row.ts';
import type {FirstOpen, SentToken} from './first-open.ts';
import {type MatchClick, type MatchClickRow, matchClickColumns, toMatchClick} from './match-click-store.ts';
import {matchPolicy} from './match-policy.ts';

/** Maximum consumed clicks that explain a miss. */
const CONSUMED_SHOWN = 10;

const {candidates, graceSeconds, windowSeconds} = matchPolicy;
type Token = Omit<SentToken, 'method'>;

/** The longest of the windows: older clicks do not show how many people visit links at the place now. */
const DAY_SECONDS = windowSeconds.FINGERPRINT_EXACT;

/**
 * Two values, or one and null. Keys come in pairs, under this week's secret and last week's: with an array of unknown
 * length PostgreSQL would plan the statement anew each time.
 */
const pairOf = (values: readonly unknown[], type: Sql): Sql =>
	sql`ARRAY[${values[0] ?? null}::${type}, ${values[1] ?? null}::${type}]`;

const bytea = sql`bytea`;
const keysOf = (keys: readonly Buffer[]): Sql => pairOf(keys, bytea);

/** The app's address and network, under either secret. */
const placesOf = ({places}: FirstOpen): Sql =>
	sql`unnest(${keysOf(places.map(({ipKey}) => ipKey))}, ${keysOf(places.map(({netKey}) => netKey))}) AS place (ip_key, net_key)`;

/** A subquery hides the time from the planner, which would otherwise make a custom plan for each value. */
const ago = ({now}: FirstOpen, interval: Sql): Sql => sql`(SELECT ${now}::timestamptz - interval ${interval})`;
const intervalOf = (seconds: number): Sql => literal(`${seconds} seconds`);
const grace = intervalOf(graceSeconds);
const scored = intervalOf(windowSeconds.FINGERPRINT_SCORED);
const day = intervalOf(DAY_SECONDS);

/** Confines guesses to one organization. */
const ownOf = ({organizationId}: FirstOpen): Sql =>
	organizationId === null ? sql`` : sql` AND organization_id = ${organizationId}`;

const statementOf = (name: string, {organizationId}: FirstOpen, statement: Sql): Sql =>
	prepared(organizationId === null ? name : `${name} of an organization`, statement);

/** Maximum clicks that are read of a place. */
const [perAddress, perNetwork, consumedShown] = [candidates.address, candidates.network, CONSUMED_SHOWN].map(
	literal,
) as [Sql, Sql, Sql];

const columns = matchClickColumns.of('click');

/**
 * The data of a click beside its row: its organization's rules, with the defaults of an app configuration, and whether
 * its link resolves. Both are looked up by id. A click on a deleted link is treated as a click on a dead link.
 */
const rules = sql`coalesce(rules.probabilistic_matching, true) AS "probabilisticMatching",
		coalesce(rules.minimum_confidence, 'low') AS "minimumConfidence", coalesce(link.is_live, false) AS "isLive",
		coalesce(link.is_blocked, false) AS "isBlocked"`;
const joinsOf = ({now}: FirstOpen): Sql => sql`LEFT JOIN LATERAL (
		SELECT probabilistic_matching, minimum_confidence FROM app_configs
		WHERE organization_id = click.organization_id LIMIT 1
	) AS rules ON true LEFT JOIN LATERAL (
		SELECT ${isLiveSql(now)} AS is_live, links.decision ->> 'state' = 'block' AS is_blocked FROM links CROSS JOIN LATERAL (
			SELECT status FROM organizations WHERE id = links.organization_id LIMIT 1
		) AS organizations
		WHERE links.id = click.link_id LIMIT 1
	) AS link ON true`;

/**
 * Clicks by token and by device; the newest open ones of the address, by one index scan per place; and the last click of
 * each of their visitors, if it is later, wherever it was. Open clicks have one index, by network and address, so a
 * search for an address names its network, too. A visitor's browser sent the cookie, so the index of visitors has it.
 * Exported, like `further`, for tests of their plans.
 */
export const around = (open: FirstOpen, tokens: readonly Token[]): Sql => {
	const own = ownOf(open);
	const places = placesOf(open);
	const dayAgo = ago(open, day);
	const statement = sql`
	WITH token AS MATERIALIZED (
		SELECT * FROM match_clicks WHERE id = ANY(${pairOf(
			tokens.map(({clickId}) => clickId),
			sql`uuid`,
		)})
	), device AS MATERIALIZED (
		SELECT * FROM match_clicks
		WHERE consumed_by = ANY(${keysOf(open.devices)}) AND consumed_at > ${ago(open, grace)}
		ORDER BY consumed_at DESC LIMIT 1
	), address AS MATERIALIZED (
		SELECT click.* FROM ${places} CROSS JOIN LATERAL (
			SELECT * FROM match_clicks
			WHERE net_key = place.net_key AND consumed_at IS NULL AND ip_key = place.ip_key${own}
			ORDER BY created_at DESC LIMIT ${perAddress}
		) AS click ORDER BY click.created_at DESC LIMIT ${perAddress}
	), later AS MATERIALIZED (
		SELECT later.* FROM (
			SELECT visitor, organization_id, max(created_at) AS created_at FROM address
			WHERE visitor IS NOT NULL GROUP BY 1, 2
		) AS here CROSS JOIN LATERAL (
			SELECT * FROM match_clicks
			WHERE visitor = here.visitor AND created_at > here.created_at AND organization_id = here.organization_id
				AND consumed_at IS NULL AND is_returning
			ORDER BY created_at DESC LIMIT 1
		) AS later
	)
	SELECT ${columns}, click.found_by AS "foundBy",
		CASE WHEN click.found_by IN ('token', 'device') THEN click.query END AS query,
		(
			SELECT CAST(count(*) AS integer) FROM ${places} CROSS JOIN LATERAL (
				SELECT FROM match_clicks
				WHERE ip_key = place.ip_key AND consumed_at >= ${dayAgo} AND created_at >= ${dayAgo}${own}
				ORDER BY consumed_at DESC LIMIT ${perAddress}
			) AS click
		) AS "usedAtAddress", ${rules}
	FROM (
		SELECT 'token' AS found_by, * FROM token UNION ALL SELECT 'device' AS found_by, * FROM device
		UNION ALL SELECT 'address' AS found_by, * FROM address UNION ALL SELECT 'later' AS found_by, * FROM later
	) AS click ${joinsOf(open)}`;
	return statementOf('clicks around an app', open, statement);
};

/**
 * The newest open clicks of the network, and matched ones of the address. The network is searched address by address, at most
 * 256: few clicks are read, however many there are.
 */
export const further = (open: FirstOpen): Sql => {
	const own = ownOf(open);
	const places = placesOf(open);
	const statement = sql`
	WITH network AS MATERIALIZED (
		SELECT click.* FROM ${places} CROSS JOIN LATERAL (
			WITH RECURSIVE hosts AS (
				SELECT (
					SELECT ip_key FROM match_clicks WHERE net_key = place.net_key AND consumed_at IS NULL
					ORDER BY ip_key LIMIT 1
				) AS ip_key
				UNION ALL
				SELECT (
					SELECT ip_key FROM match_clicks
					WHERE net_key = place.net_key AND consumed_at IS NULL AND ip_key > hosts.ip_key ORDER BY ip_key LIMIT 1
				) FROM hosts WHERE hosts.ip_key IS NOT NULL
			)
			SELECT ip_key FROM hosts WHERE ip_key IS NOT NULL
		) AS host CROSS JOIN LATERAL (
			SELECT * FROM match_clicks
			WHERE net_key = place.net_key AND consumed_at IS NULL AND ip_key = host.ip_key
				AND created_at >= ${ago(open, scored)}${own}
			ORDER BY created_at DESC LIMIT ${perNetwork}
		) AS click ORDER BY click.created_at DESC LIMIT ${perNetwork}
	), consumed AS MATERIALIZED (
		SELECT click.* FROM ${places} CROSS JOIN LATERAL (
			SELECT * FROM match_clicks
			WHERE ip_key = place.ip_key AND consumed_at >= ${ago(open, day)}${own}
			ORDER BY consumed_at DESC LIMIT ${consumedShown}
		) AS click ORDER BY click.consumed_at DESC LIMIT ${consumedShown}
	)
	SELECT ${columns}, click.found_by AS "foundBy", ${rules}
	FROM (
		SELECT 'network' AS found_by, * FROM network UNION ALL SELECT 'consumed' AS found_by, * FROM consumed
	) AS click ${joinsOf(open)}`;
	return statementOf('clicks further from an app', open, statement);
};

/** How a click was found. */
type FoundBy = 'token' | 'device' | 'address' | 'later' | 'network' | 'consumed';

type Row = MatchClickRow & {foundBy: FoundBy; usedAtAddress?: number};

const select = async (db: Db, statement: Sql): Promise<{rows: Row[]; by(wanted: FoundBy): MatchClick[]}> => {
	const rows = await run<Row>(db, statement);
	return {rows, by: (wanted) => rows.filter(({foundBy}) => foundBy === wanted).map(toMatchClick)};
};

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
type NetworkClicks = {
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
	const {rows, by} = await select(db, around(firstOpen, tokens));
	const atAddress = by('address');
	const since = firstOpen.now.getTime() - DAY_SECONDS * 1000;
	const open = atAddress.filter(({clickedAt}) => clickedAt.getTime() >= since);
	return {
		tokens: by('token'),
		lastOfDevice: by('device')[0] ?? null,
		atAddress,
		later: by('later'),
		clicksLast24h: open.length + (rows[0]?.usedAtAddress ?? 0),
	};
};

/** Reads the other clicks near the app, with one statement. */
export const clicksInNetwork = async (db: Db, firstOpen: FirstOpen): Promise<NetworkClicks> => {
	const {by} = await select(db, further(firstOpen));
	return {inNetwork: by('network'), consumed: by('consumed')};
};
