import {MINUTE_MS} from '../../platform/clock.ts';
import {methodWord} from '../../visits/matches/outcome-words.ts';
import type {RecentFigures} from '../../visits/reports/stream/click-stream-recent.ts';
import type {StreamEvent} from '../../visits/reports/stream/click-stream-store.ts';
import type {Json} from '../server/admin-client.ts';
import type {ServerSentEvent} from './follow.ts';

export type RecentAnswer = Json<RecentFigures>;
export type LiveEvent = Json<StreamEvent>;

export type Ranked = {name: string; count: number};

/** The dashboard's data at one moment. */
export type Figures = ReturnType<ReturnType<typeof createFigures>['read']>;

const BUCKETS = 60;
const RATE_SECONDS = 10;
const MAX_LATEST = 50;
/** Maximum links counted. Beyond that, those with the fewest clicks are evicted. */
const MAX_LINKS = 2000;

const SECOND_MS = 1000;

/** `Spring sale (Ab12/spring)`, or the known part of it. */
export const linkName = ({organization, link}: Pick<LiveEvent['data'], 'organization' | 'link'>): string => {
	if (link === null) {
		return organization?.orgKey ?? '-';
	}

	const short = [organization?.orgKey, link.shortCode ?? link.id].filter((part) => part !== undefined).join('/');
	return link.title ? `${link.title} (${short})` : short;
};

const add = (counts: Map<string, Ranked>, key: string, name: string, count: number): void => {
	counts.set(key, {name, count: (counts.get(key)?.count ?? 0) + count});
};

const ranked = (counts: Map<string, Ranked>): Ranked[] =>
	[...counts.values()].toSorted((a, b) => b.count - a.count || a.name.localeCompare(b.name));

/** Counts per time bucket; only the last ones are kept. */
const createSeries = (size: number) => {
	const counts = new Map<number, number>();
	return {
		add: (at: number, count: number): void => {
			const bucket = Math.floor(at / size);
			counts.set(bucket, (counts.get(bucket) ?? 0) + count);
			for (const old of counts.keys()) {
				if (old >= bucket - 2 * BUCKETS) {
					break;
				}

				counts.delete(old);
			}
		},
		/** The buckets up to that of `at`, oldest first. */
		upTo: (at: number): number[] => {
			const last = Math.floor(at / size);
			return Array.from({length: BUCKETS}, (_, index) => counts.get(last - BUCKETS + 1 + index) ?? 0);
		},
	};
};

const empty = () => ({
	seconds: createSeries(SECOND_MS),
	minutes: createSeries(MINUTE_MS),
	links: new Map<string, Ranked>(),
	platforms: new Map<string, Ranked>(),
	matches: new Map<string, Ranked>(),
	latest: [] as LiveEvent[],
	lost: 0,
	/** The server's time, and when it was received by `elapsed`. */
	serverTime: {at: 0, elapsed: 0},
});

/**
 * Collects the stream's events, beginning with the last hour.
 * @param elapsed a monotonic clock in milliseconds; the time of day is the server's.
 */
export const createFigures = (elapsed: () => number) => {
	let state = empty();
	const now = () => state.serverTime.at + elapsed() - state.serverTime.elapsed;

	const count = (event: LiveEvent): void => {
		const {type, data} = event;
		if (type === 'match') {
			add(state.matches, data.method, methodWord(data.method), 1);
		} else if (type === 'click' && data.botClass === null) {
			const at = Date.parse(data.at);
			state.seconds.add(at, 1);
			state.minutes.add(at, 1);
			add(state.platforms, data.platform ?? '', data.platform ?? 'unknown', 1);
			add(state.links, data.link?.id ?? '', linkName(data), 1);
			if (state.links.size > MAX_LINKS) {
				const kept = [...state.links].toSorted(([, a], [, b]) => b.count - a.count).slice(0, MAX_LINKS / 2);
				state.links = new Map(kept);
			}
		}
	};

	return {
		/** Resets to the last hour. */
		begin: (recent: RecentAnswer): void => {
			const at = Date.parse(recent.at);
			state = {...empty(), lost: state.lost, serverTime: {at, elapsed: elapsed()}};
			for (let ago = BUCKETS - 1; ago >= 0; ago -= 1) {
				state.seconds.add(at - ago * SECOND_MS, recent.perSecond.at(-1 - ago) ?? 0);
				state.minutes.add(at - ago * MINUTE_MS, recent.perMinute.at(-1 - ago) ?? 0);
			}

			for (const {organization, link, count: clicks} of recent.links) {
				add(state.links, link.id, linkName({organization, link}), clicks);
			}

			for (const {key, count: clicks} of recent.platforms) {
				add(state.platforms, key ?? '', key ?? 'unknown', clicks);
			}

			for (const {key, count: attempts} of recent.matches) {
				add(state.matches, key ?? '', methodWord(key ?? 'NONE'), attempts);
			}

			state.latest = [...recent.latest];
		},
		take: (event: LiveEvent): void => {
			count(event);
			state.latest = [event, ...state.latest.slice(0, MAX_LATEST - 1)];
		},
		lose: (events: number): void => {
			state.lost += events;
		},
		read: () => {
			const perSecond = state.seconds.upTo(now() - SECOND_MS);
			const isTold = state.serverTime.at > 0;
			const sum = (counts: number[]) => counts.reduce((total, one) => total + one, 0);
			return {
				/** The server's time, in milliseconds; null until the server has sent it. */
				now: isTold ? now() : null,
				/** People's clicks per second, over the last ten complete seconds. */
				rate: sum(perSecond.slice(-RATE_SECONDS)) / RATE_SECONDS,
				/** Per complete second, oldest first. */
				perSecond,
				lastMinute: sum(perSecond),
				/** Per minute, the current one last. */
				perMinute: state.minutes.upTo(now()),
				/** Start of the counts below, in milliseconds; null like `now`. */
				since: isTold ? Math.floor(state.serverTime.at / MINUTE_MS - BUCKETS + 1) * MINUTE_MS : null,
				links: ranked(state.links),
				platforms: ranked(state.platforms),
				matches: ranked(state.matches),
				/** Newest first. */
				latest: state.latest,
				/** Events that the server dropped because we read too slowly. */
				lost: state.lost,
			};
		},
	};
};

/**
 * Passes the stream's events to the figures. After a reconnect the events behind the last id are repeated; they are
 * counted once.
 */
export const createIntake = (figures: ReturnType<typeof createFigures>): ((event: ServerSentEvent) => void) => {
	let cursor: string | null = null;
	const sinceCursor = new Set<string>();
	return ({type, data, id}) => {
		if (id !== cursor) {
			cursor = id;
			sinceCursor.clear();
		}

		if (type === 'recent') {
			figures.begin(JSON.parse(data) as RecentAnswer);
		} else if (type === 'lost') {
			figures.lose((JSON.parse(data) as {count: number}).count);
		} else if (type === 'click' || type === 'match' || type === 'event') {
			const event = {type, data: JSON.parse(data)} as LiveEvent;
			if (!sinceCursor.has(event.data.id)) {
				sinceCursor.add(event.data.id);
				figures.take(event);
			}
		}
	};
};
