import type {Confidence} from '../../links/app-config/app-config.ts';
import {identifier, joined} from '../../platform/db/sql.ts';
import type {MatchRules} from './candidate.ts';
import type {MatchMethod} from './match-policy.ts';
import {signalColumns} from './match-rows.ts';
import {type MatchSignals, normalize, type Platform} from './match-signals.ts';

/** The answer to a match, as its click stores it. */
export type GivenAnswer = {method: MatchMethod; confidence: Confidence; score: number | null};

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
	answer: GivenAnswer | null;
	visitor: Buffer | null;
	ipKey: Buffer | null;
	netKey: Buffer | null;
	/** The query of its visit, if the answer may be repeated. */
	query: Record<string, string> | null;
};

/** A row with the columns of `matchClickColumns`. */
export type MatchClickRow = {
	id: string;
	organization_id: string;
	link_id: string;
	created_at: Date;
	expires_at: Date;
	platform: Platform | null;
	os_major: number | null;
	os_minor: number | null;
	os_patch: number | null;
	os_precision: 'patch' | 'minor' | 'major' | null;
	device_model: string | null;
	language: string | null;
	timezone: string | null;
	browser: string | null;
	consumed_at: Date | null;
	consumed_by: Buffer | null;
	consumed_method: MatchMethod | null;
	consumed_confidence: Confidence | null;
	consumed_score: number | null;
	visitor: Buffer | null;
	ip_key: Buffer | null;
	net_key: Buffer | null;
	query?: Record<string, string> | null;
	probabilistic_matching: boolean;
	minimum_confidence: Confidence;
	is_live: boolean;
	is_blocked: boolean;
};

export const toMatchClick = (row: MatchClickRow): MatchClick => ({
	id: row.id,
	organizationId: row.organization_id,
	linkId: row.link_id,
	clickedAt: row.created_at,
	expiresAt: row.expires_at,
	signals: normalize({
		platform: row.platform,
		osVersion:
			row.os_major === null || row.os_precision === null
				? null
				: {major: row.os_major, minor: row.os_minor, patch: row.os_patch, precision: row.os_precision},
		deviceModel: row.device_model,
		language: row.language,
		timezone: row.timezone,
	}),
	browser: row.browser,
	rules: {probabilisticMatching: row.probabilistic_matching, minimumConfidence: row.minimum_confidence},
	isLive: row.is_live,
	isBlocked: row.is_blocked,
	consumedAt: row.consumed_at,
	consumedBy: row.consumed_by,
	answer:
		row.consumed_method === null || row.consumed_confidence === null
			? null
			: {method: row.consumed_method, confidence: row.consumed_confidence, score: row.consumed_score},
	visitor: row.visitor,
	ipKey: row.ip_key,
	netKey: row.net_key,
	query: row.query ?? null,
});

/** The columns of `click`, a row of open matches, as `toMatchClick` reads them. */
export const matchClickColumns = joined(
	[
		...['id', 'organization_id', 'link_id', 'created_at', 'expires_at', ...signalColumns],
		...['consumed_at', 'consumed_by', 'consumed_method', 'consumed_confidence', 'consumed_score'],
		...['visitor', 'ip_key', 'net_key'],
	].map((column) => identifier(`click.${column}`)),
);
