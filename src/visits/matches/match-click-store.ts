import type {Confidence} from '../../links/app-config/app-config.ts';
import {readEffectiveAddresses} from '../../links/links/link-safety.ts';
import {type Columns, columnsOf} from '../../platform/db/columns.ts';
import {type Sql, sql} from '../../platform/db/sql.ts';
import type {Services} from '../../services.ts';
import type {MatchRules} from './candidate.ts';
import {linkOfClick} from './match-clicks.ts';
import type {MatchMethod} from './match-policy.ts';
import {type MatchSignals, normalize, type Platform} from './match-signals.ts';

/** The answer to a match, as its click stores it. */
export type StoredAnswer = {method: MatchMethod; confidence: Confidence; score: number | null};

/** A click that is or was open to a match. */
export type MatchClick = {
	id: string;
	organizationId: string;
	linkId: string;
	clickedAt: Date;
	expiresAt: Date;
	signals: MatchSignals;
	/** The name of its browser, or of the app around it. */
	browser: string | null;
	rules: MatchRules;
	/** Whether its link resolves. */
	isLive: boolean;
	/** Whether an operator or a list blocks its link. */
	isBlocked: boolean;
	consumedAt: Date | null;
	/** Keyed hash of the device; null if the click is open, or was closed without an answer. */
	consumedBy: Buffer | null;
	answer: StoredAnswer | null;
	visitor: Buffer | null;
	ipKey: Buffer | null;
	netKey: Buffer | null;
	/** The query of its visit, if the answer may be repeated. */
	query: Record<string, string> | null;
};

/** The columns of an open match that a `MatchClick` is made of. */
type StoredMatchClick = Omit<
	MatchClick,
	'clickedAt' | 'signals' | 'rules' | 'isLive' | 'isBlocked' | 'answer' | 'query'
> & {
	createdAt: Date;
	platform: Platform | null;
	osMajor: number | null;
	osMinor: number | null;
	osPatch: number | null;
	osPrecision: 'patch' | 'minor' | 'major' | null;
	deviceModel: string | null;
	language: string | null;
	timezone: string | null;
	consumedMethod: MatchMethod | null;
	consumedConfidence: Confidence | null;
	consumedScore: number | null;
};

export const matchClickColumns: Columns<StoredMatchClick> = columnsOf(
	'id, organization_id, link_id, created_at, expires_at, platform, os_major, os_minor, os_patch, os_precision, device_model, language, timezone, browser, consumed_at, consumed_by, consumed_method, consumed_confidence, consumed_score, visitor, ip_key, net_key',
);

/** A row of `matchClickColumns` with the rules of its organization and the state of its link. */
export type MatchClickRow = StoredMatchClick &
	MatchRules &
	Pick<MatchClick, 'isLive' | 'isBlocked'> & {query?: MatchClick['query']};

export const toMatchClick = (row: MatchClickRow): MatchClick => {
	const {createdAt: clickedAt, platform, osMajor: major, osMinor: minor, osPatch: patch, osPrecision: precision} = row;
	const {deviceModel, language, timezone, probabilisticMatching, minimumConfidence} = row;
	const {consumedMethod: method, consumedConfidence: confidence, consumedScore: score} = row;
	const osVersion = major === null || precision === null ? null : {major, minor, patch, precision};
	return {
		...row,
		clickedAt,
		signals: normalize({platform, osVersion, deviceModel, language, timezone}),
		rules: {probabilisticMatching, minimumConfidence},
		answer: method === null || confidence === null ? null : {method, confidence, score},
		query: row.query ?? null,
	};
};

type Deps = Pick<Services, 'db' | 'linkPolicy'>;

/** The ids of the links of a condition that a list blocks. Without lists it costs no statement. */
const readBlocked = async ({db, linkPolicy}: Deps, name: string, condition: Sql): Promise<Set<string>> => {
	const links = linkPolicy.isEmpty ? [] : await readEffectiveAddresses(db, name, condition);
	return new Set(
		links.filter(({addresses}) => linkPolicy.ofAll(addresses.split('\n'))?.state === 'block').map(({id}) => id),
	);
};

/** Whether a list blocks the link of a click. */
export const isListed = async (services: Deps, clickId: string): Promise<boolean> => {
	const condition = sql`links.id = ${linkOfClick(sql`${clickId}::uuid`)}`;
	return (await readBlocked(services, 'addresses of the link of a click', condition)).size > 0;
};

/** The clicks; those of links that a list blocks are marked. */
export const markBlocked = async (services: Deps, clicks: MatchClick[]): Promise<MatchClick[]> => {
	if (services.linkPolicy.isEmpty || clicks.length === 0) {
		return clicks;
	}

	const ids = [...new Set(clicks.map(({linkId}) => linkId))];
	// A subquery hides the array from the planner, which would make a plan for each length.
	const condition = sql`links.id = ANY((SELECT ${ids}::uuid[])::uuid[])`;
	const blocked = await readBlocked(services, 'addresses of links of clicks', condition);
	return clicks.map((click) => (blocked.has(click.linkId) ? {...click, isLive: false, isBlocked: true} : click));
};
