import type {MatchSignals} from '../../src/match/match-signals.ts';
import type {Click} from './events.ts';

/** A row of the server's table of open clicks, as far as it decides a match. */
export type StoredClick = {
	click: Click;
	signals: MatchSignals;
	clickedAt: Date;
	expiresAt: Date;
	isOpen: boolean;
};

export type Wanted = {key: 'ip' | 'net'; value: string; organizationId: string | null; since?: Date; limit: number};

const WINDOW_MS = 168 * 3600_000;
const SAME_VISIT_MS = 10 * 60_000;

const merged = (told: MatchSignals, before: MatchSignals): MatchSignals => ({
	platform: told.platform ?? before.platform,
	osVersion: told.osVersion ?? before.osVersion,
	model: told.model ?? before.model,
	language: told.language ?? before.language,
	timezone: told.timezone ?? before.timezone,
});

/** What the server's SQL does, in memory: clicks by token and by network key, the newest first, each claimed once. */
export const createClickStore = () => {
	const byToken = new Map<string, StoredClick>();
	const byPlace = {ip: new Map<string, StoredClick[]>(), net: new Map<string, StoredClick[]>()};
	const byVisit = new Map<string, StoredClick[]>();

	const add = <K>(map: Map<K, StoredClick[]>, key: K, stored: StoredClick): void => {
		const known = map.get(key);
		if (known === undefined) {
			map.set(key, [stored]);
		} else {
			known.push(stored);
		}
	};

	const visitOf = ({visitor, linkId}: Click): string | null => (visitor === null ? null : `${visitor} ${linkId}`);

	/** The open click of the same visit, which a second tap takes the place of (contract/match 6). */
	const sameVisit = (click: Click): StoredClick | undefined =>
		byVisit
			.get(visitOf(click) ?? '')
			?.findLast(({isOpen, clickedAt}) => isOpen && click.at.getTime() - clickedAt.getTime() < SAME_VISIT_MS);

	return {
		record: (click: Click): void => {
			const before = sameVisit(click);
			if (before !== undefined) {
				before.isOpen = false;
			}

			const stored = {
				click,
				signals: before === undefined ? click.signals : merged(click.signals, before.signals),
				clickedAt: click.at,
				expiresAt: new Date(click.at.getTime() + WINDOW_MS),
				isOpen: true,
			};
			byToken.set(click.tokenId, stored);
			add(byPlace.ip, click.keys.ip, stored);
			add(byPlace.net, click.keys.net, stored);
			const visit = visitOf(click);
			if (visit !== null) {
				add(byVisit, visit, stored);
			}
		},
		findByToken: (id: string): StoredClick | null => byToken.get(id) ?? null,
		findOpenNear: ({key, value, organizationId, since, limit}: Wanted, now: Date): StoredClick[] => {
			const found: StoredClick[] = [];
			const there = byPlace[key].get(value) ?? [];
			for (let index = there.length - 1; index >= 0 && found.length < limit; index -= 1) {
				const stored = there[index];
				// Keys are forgotten with the window, so nothing older is found.
				if (stored === undefined || stored.expiresAt <= now || (since !== undefined && stored.clickedAt < since)) {
					break;
				}

				if (stored.isOpen && (organizationId === null || stored.click.organizationId === organizationId)) {
					found.push(stored);
				}
			}

			return found;
		},
		claim: (stored: StoredClick, now: Date): boolean => {
			if (!stored.isOpen || stored.expiresAt <= now) {
				return false;
			}

			stored.isOpen = false;
			for (const other of byVisit.get(visitOf(stored.click) ?? '') ?? []) {
				other.isOpen = false;
			}

			return true;
		},
	};
};
