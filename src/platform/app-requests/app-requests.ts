import {randomUUID} from 'node:crypto';
import type {Background} from '../background.ts';
import {type Clock, HOUR_MS} from '../clock.ts';
import type {Db} from '../db/db.ts';
import {createLateWrites} from '../late-writes.ts';
import {type AppRequest, platformOfAgent} from './app-request.ts';
import type {CountedRequests, Sender, ShownRequest} from './app-request-store.ts';

/** A watcher sees a request within a second. */
const WRITE_MS = 300;
/** After a failed write, such as without a database. */
const RETRY_MS = 10_000;
/** Maximum counts between two writes. Beyond it devices are not distinguished, then requests are not counted. */
const MAX_COUNTS = 1000;
/** Maximum counts among them of organizations that may not exist. */
const MAX_BY_KEY = 200;
const MAX_SHOWN = 500;

/** Counts requests of apps in memory and writes them a little later, so that no answer waits and no page pays. */
export const createAppRequests = ({db, clock, background}: {db: Db; clock: Clock; background: Background}) => {
	let counts = new Map<string, CountedRequests>();
	let shown: ShownRequest[] = [];
	let fetched = new Map<string, Date>();
	let isAway = false;

	const add = (one: CountedRequests): void => {
		const key = JSON.stringify({...one, count: 0, lastAt: 0});
		const known = counts.get(key);
		if (known !== undefined) {
			known.count += one.count;
			known.lastAt = one.lastAt;
		} else if (counts.size < (one.organizationId === null ? MAX_BY_KEY : MAX_COUNTS)) {
			counts.set(key, one);
		} else if (one.deviceId !== null) {
			add({...one, deviceId: null});
		}
	};

	const write = async (): Promise<void> => {
		const [toCount, toShow, files] = [[...counts.values()], shown, fetched];
		[counts, shown, fetched] = [new Map(), [], new Map()];
		// Loaded late: a page needs no statement.
		const store = await import('./app-request-store.ts');
		try {
			if (toCount.length > 0) {
				await store.addCounts(db, toCount);
			}

			isAway = false;
		} catch (error) {
			isAway = true;
			for (const one of toCount) {
				add(one);
			}

			throw error;
		}

		for (const [platform, at] of files) {
			await store.noteSharedFetch(db, platform, at);
		}

		const now = clock.now();
		if (toShow.length > 0 && (await store.isWatching(db, now))) {
			await store.showRequests(db, toShow, now);
		}
	};

	const {wake, ...writes} = createLateWrites(background, 'count requests of apps', write);
	return {
		/** Counts a request, and shows it to watchers. */
		note: ({organization, counts: kinds, platform = null, deviceId = null, userAgent, live}: AppRequest): void => {
			const at = clock.now();
			if (organization === null) {
				fetched.set(platform ?? '', at);
			} else {
				const owner = {organizationId: null, orgKey: null};
				const named = 'id' in organization ? {organizationId: organization.id} : organization;
				const sender: Sender = {...owner, ...named, platform, agentPlatform: platformOfAgent(userAgent), deviceId};
				const hour = new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
				for (const [kind, detail] of kinds) {
					// A device that registers before the write was unknown all the same.
					const device = (platform ?? '') === '' && kind !== 'unknown_device' ? deviceId : null;
					add({...sender, deviceId: device, kind, detail: detail ?? '', hour, count: 1, lastAt: at});
				}

				if (live !== undefined && shown.length < MAX_SHOWN) {
					shown.push({...sender, ...live, id: randomUUID(), at});
				}
			}

			wake(isAway ? RETRY_MS : WRITE_MS);
		},
		...writes,
	};
};

export type AppRequests = ReturnType<typeof createAppRequests>;
