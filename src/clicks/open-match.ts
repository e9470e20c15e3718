import {hash} from 'node:crypto';
import type {ToldSignals} from '../match/match-signals.ts';
import type {NetworkKeyTexts} from '../match/network-keys.ts';
import {randomAlphanumeric} from '../organizations/org-key.ts';

/** What lets an app's first open claim a click. */
export type OpenMatch = {
	/** The one-time token that the page carries. */
	token: string;
	windowHours: number;
	network: NetworkKeyTexts;
	signals: ToldSignals;
	/**
	 * Who visits, by the hash of the cookie in hexadecimal; null where there is none. `isReturning`: the cookie was
	 * there before.
	 */
	visitor: {hash: string; isReturning: boolean} | null;
};

/** A new match token: `opl_` and 32 of `[A-Za-z0-9]`, 190 bits (decisions 6). */
export const mintMatchToken = (): string => `opl_${randomAlphanumeric(32)}`;

/**
 * What a token is found by, in hexadecimal: the first 16 bytes of its SHA-256. 190 random bits need no salt, and nobody
 * finds another text with the same 128 bits.
 */
export const matchTokenHash = (token: string): string => hash('sha256', token, 'hex').slice(0, 32);

/** The same as the table has it. */
export const hashMatchToken = (token: string): Buffer => Buffer.from(matchTokenHash(token), 'hex');

/** A second visit of the same link within this time is the same visit (facts 4.6). */
export const SAME_VISIT_MS = 10 * 60 * 1000;
