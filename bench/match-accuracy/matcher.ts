import type {Confidence} from '../../src/app-config/app-config.ts';
import type {MatchMethod} from '../../src/match/match-policy.ts';
import type {Click, Open} from './events.ts';

export type Answer =
	| {
			click: Click;
			method: MatchMethod;
			/** Null where the product knows no confidences. */
			confidence: Confidence | null;
			score: number | null;
	  }
	| {click: null; reason: string};

/** A product under test. It sees events one by one, in the order of time. */
export type Matcher = {record: (click: Click) => void; match: (open: Open) => Answer};

export type Mode = {
	/** Whether apps send what the clipboard and the store gave them. */
	tokens: boolean;
	/** Whether apps send their tenant's key. */
	key: boolean;
};
