import type {Click} from './story.ts';

/** A row of a server's table of clicks, as far as it decides a match. */
export type Stored<T> = {click: Click; extra: T; isOpen: boolean; isReplaced: boolean};

export type Wanted = {
	/** Around the app's address, its network, or everywhere. */
	near: 'ip' | 'net' | 'all';
	value: string;
	organizationId: string | null;
	since: Date;
	limit: number;
	/** Used ones too. */
	orUsed?: boolean;
};

const WINDOW_MS = 168 * 3600_000;
const SAME_VISIT_MS = 10 * 60_000;

/**
 * What a server's SQL does, in memory: clicks by id, address and network, the newest first, each claimed once; a second
 * tap of one browser on one link within ten minutes, at the same address, takes the place of the first (contract/match 6).
 * @param extraOf what a product reads of a click, with what it had read at the tap whose place this one takes.
 */
export const createClickStore = <T>(extraOf: (click: Click, before: T | null) => T) => {
	const byId = new Map<string, Stored<T>>();
	const byVisit = new Map<string, Array<Stored<T>>>();
	const byVisitor = new Map<string, Array<Stored<T>>>();
	const places = {ip: new Map<string, Array<Stored<T>>>(), net: new Map<string, Array<Stored<T>>>()};
	const everywhere: Array<Stored<T>> = [];

	const listOf = (map: Map<string, Array<Stored<T>>>, key: string): Array<Stored<T>> => {
		const list = map.get(key) ?? [];
		map.set(key, list);
		return list;
	};

	const visitOf = ({visitor, linkId}: Click): string | null => (visitor === null ? null : `${visitor} ${linkId}`);

	return {
		record: (click: Click): void => {
			const visit = visitOf(click);
			const visits = visit === null ? [] : listOf(byVisit, visit);
			const before = visits.findLast(
				(stored) =>
					stored.isOpen &&
					stored.click.ip === click.ip &&
					click.at.getTime() - stored.click.at.getTime() < SAME_VISIT_MS,
			);
			if (before !== undefined) {
				before.isOpen = false;
				before.isReplaced = true;
			}

			const stored = {click, extra: extraOf(click, before?.extra ?? null), isOpen: true, isReplaced: false};
			byId.set(click.id, stored);
			visits.push(stored);
			listOf(places.ip, click.ip).push(stored);
			listOf(places.net, click.net).push(stored);
			everywhere.push(stored);
			if (click.visitor !== null) {
				listOf(byVisitor, `${click.visitor} ${click.organizationId}`).push(stored);
			}
		},
		byId: (id: string): Stored<T> | null => byId.get(id) ?? null,
		find: ({near, value, organizationId, since, limit, orUsed = false}: Wanted): Array<Stored<T>> => {
			const there = near === 'all' ? everywhere : (places[near].get(value) ?? []);
			const found: Array<Stored<T>> = [];
			for (let index = there.length - 1; index >= 0 && found.length < limit; index -= 1) {
				const stored = there[index];
				if (stored === undefined || stored.click.at < since) {
					break;
				}

				const isThere = stored.isOpen || (orUsed && !stored.isReplaced);
				if (isThere && (organizationId === null || stored.click.organizationId === organizationId)) {
					found.push(stored);
				}
			}

			return found;
		},
		/** Of the visitors of these clicks, the last open click where it is a later one, wherever it was. */
		findLater: (here: ReadonlyArray<Stored<T>>): Array<Stored<T>> => {
			const later = here.map(({click}) =>
				byVisitor
					.get(`${click.visitor} ${click.organizationId}`)
					?.findLast((stored) => stored.isOpen && stored.click.at > click.at),
			);
			return [...new Set(later.filter((stored) => stored !== undefined))].filter((stored) => !here.includes(stored));
		},
		claim: (stored: Stored<T>, now: Date): boolean => {
			if (!stored.isOpen || stored.click.at.getTime() + WINDOW_MS <= now.getTime()) {
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
