import type {Likeness} from './likeness.ts';
import type {MatchSignals} from './match-signals.ts';

/**
 * Where a click was: at the address of the open, only in its network, or `elsewhere`, where it counts only as the later
 * tap of a visitor who also tapped here.
 */
export type Nearness = 'ip' | 'network' | 'elsewhere';

/** An open click that nothing rules out. */
export type PossibleClick = {
	id: string;
	linkId: string;
	clickedAt: Date;
	signals: MatchSignals;
	/** The name of its browser; null where that is unknown. */
	browser: string | null;
	nearness: Nearness;
	/** Who tapped, by cookie; null where that is unknown. */
	visitor: string | null;
};

/**
 * What a first open shows of equal phones at one place. `seen`: 1 where another person's click was there, or else 0.
 * `equal`: the share of such clicks that are alike, less what chance gives.
 */
export type Neighbours = {seen: number; equal: number};

/** A kind of phone among an organization's recent first opens: how many there were, and how many of them matched. */
export type PhoneCount = {
	signals: MatchSignals;
	count: number;
	byToken: number;
	byGuess: number;
	/** The sum of what these first opens showed. */
	neighbours: Neighbours;
};

export type OpenAt = {
	now: Date;
	/** The signals that the app reports. */
	app: MatchSignals;
	clicks: readonly PossibleClick[];
	/** Open clicks that are ruled out, whose phones show how alike those of the place are. */
	others: readonly PossibleClick[];
	/** All clicks of the place in the last 24 h, open or used. */
	clicksLast24h: number;
	/** The organization's recent first opens, without this one. */
	phones: readonly PhoneCount[];
	/** Whether the app sent a token, of whatever click. */
	hasToken: boolean;
};

/** How a click's phone and the app's compare, beside others. */
export type ClickChance = {
	/** The probability that the open came from this click. */
	probability: number;
	likeness: Likeness;
	/** Of `compared` phones, how many resemble the click at least as much as the app's phone does. */
	alike: number;
	compared: number;
};
