import type {Likeness} from './likeness.ts';
import type {MatchSignals} from './match-signals.ts';

/**
 * The place of a click: the address of the open, its network, or `elsewhere`, which counts only as a later click of a
 * visitor with a click here.
 */
export type Nearness = 'ip' | 'network' | 'elsewhere';

/** An open click that nothing rules out. */
export type PossibleClick = {
	id: string;
	linkId: string;
	clickedAt: Date;
	signals: MatchSignals;
	/** The name of its browser; null if unknown. */
	browser: string | null;
	nearness: Nearness;
	/** The visitor by cookie; null if unknown. */
	visitor: string | null;
};

/**
 * The evidence of a first open on equal phones at one place. `seen`: 1 with another person's click there, else 0.
 * `equal`: the share of such clicks that are alike, less what chance gives.
 */
export type Neighbours = {seen: number; equal: number};

/** A kind of phone among an organization's recent first opens: how many there were, and how many of them matched. */
export type PhoneCount = {
	signals: MatchSignals;
	count: number;
	byToken: number;
	byGuess: number;
	/** The sum of the evidence of these first opens. */
	neighbours: Neighbours;
};

export type OpenAt = {
	now: Date;
	/** The signals that the app reports. */
	app: MatchSignals;
	clicks: readonly PossibleClick[];
	/** Open clicks that are ruled out; their phones show how alike the phones of the place are. */
	others: readonly PossibleClick[];
	/** All clicks of the place in the last 24 h, open or used. */
	clicksLast24h: number;
	/** The organization's recent first opens, without this one. */
	phones: readonly PhoneCount[];
	/** Whether the app sent a token, of any click. */
	hasToken: boolean;
};

/** The comparison of a click's phone with the app's, and with others. */
export type ClickChance = {
	/** The probability that the open came from this click. */
	probability: number;
	likeness: Likeness;
	/** Of `compared` phones, how many resemble the click at least as much as the app's phone does. */
	alike: number;
	compared: number;
};
