import {randomUUID} from 'node:crypto';
import {setTimeout as delay} from 'node:timers/promises';
import {matchTokenIn} from '../../src/visits/matches/open-match.ts';
import {link, organization, type TestOrganization} from '../helpers/builders.ts';
import {type Answer, anonymous, withKey} from '../helpers/callers.ts';
import type {Process} from '../visits/clicks/_process.ts';

/** When a request was sent and answered, by the monotonic clock. */
type Asked = {at: number; took: number; status: number};

/** Everything that was asked and acknowledged. */
const nothingYet = () => ({
	pages: [] as Asked[],
	tokens: [] as string[],
	writes: {creates: [] as Asked[], updates: [] as Asked[], events: [] as Asked[], matches: [] as Asked[]},
	/** Acknowledged: links by idempotency key, events by their own id, matched tokens. */
	links: new Map<string, string>(),
	events: [] as string[],
	matched: [] as string[],
	/** Matches whose first answer did not come, and that were not matched when asked again. */
	unknownMatches: 0,
	/** Answers of a state before an update that had been acknowledged when they were asked for. */
	stale: [] as string[],
	reads: 0,
});

export type Observed = ReturnType<typeof nothingYet>;

const PHONE =
	'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 Version/18.5 Mobile/15E148 Safari/604.1';
const LINKS = 40;
/** Longer than anything may wait. */
const HANGS_MS = 45_000;

/** Two processes under load, until `stop`. */
export const startLoad = async (processes: readonly Process[]) => {
	const [first] = processes;
	if (first === undefined) {
		throw new Error('a load needs a process');
	}

	const observed = nothingYet();
	const acme: TestOrganization = await organization(first.asService, {plan: 'ENTERPRISE'});
	const known = await Promise.all(Array.from({length: LINKS}, () => link(acme)));
	const paths = known.map(({url}) => new URL(url).pathname);
	const changing = await link(acme, {params: {version: '0'}});
	const changingPath = `${new URL(changing.url).pathname}/data`;
	const phone = randomUUID();
	await acme.client.post('/sdk/session', {deviceId: phone});
	let continues = true;
	let version = 0;
	let acknowledged = 0;

	const timed = async (list: Asked[], ask: () => Promise<Answer>): Promise<Answer | null> => {
		const at = performance.now();
		const answer = await Promise.race([ask().catch(() => null), delay(HANGS_MS, 'hangs' as const)]);
		if (answer === 'hangs') {
			throw new Error(`no answer within ${HANGS_MS / 1000} s`);
		}

		list.push({at, took: performance.now() - at, status: answer?.status ?? 0});
		return answer;
	};

	/** Asks until the answer has that status, or the load ends. */
	const insist = async (list: Asked[], status: number, ask: () => Promise<Answer>) => {
		for (let tries = 1; continues; tries += 1) {
			const answer = await timed(list, ask);
			if (answer?.status === status) {
				return {answer, tries};
			}

			if (answer !== null && answer.status < 500) {
				throw new Error(`${answer.status} instead of ${status}: ${answer.text}`);
			}

			await delay(200);
		}

		return null;
	};

	const visit = async ({url}: Process): Promise<string | null> => {
		const path = paths[Math.floor(Math.random() * paths.length)] ?? '';
		const answer = await timed(observed.pages, () => anonymous({url}).get(path, {'User-Agent': PHONE}));
		const token = answer?.status === 200 ? matchTokenIn(answer.text) : null;
		if (token !== null) {
			observed.tokens.push(token);
		}

		return token;
	};

	const loop = (pause: number, work: (process: Process) => Promise<unknown>) =>
		processes.map(async (one) => {
			while (continues) {
				await work(one);
				await delay(pause);
			}
		});

	const create = async ({url}: Process) => {
		const key = randomUUID();
		const body = {path: `/made/${key}`};
		const made = await insist(observed.writes.creates, 201, () =>
			withKey({url}, acme.serverKey).post('/links', body, {'Idempotency-Key': key}),
		);
		if (made !== null) {
			observed.links.set(key, made.answer.body.id);
		}
	};

	const event = async ({url}: Process) => {
		const eventId = randomUUID();
		const body = {deviceId: phone, eventName: 'signup', eventId};
		const kept = await insist(observed.writes.events, 200, () =>
			withKey({url}, acme.clientKey).post('/sdk/events', body),
		);
		if (kept !== null) {
			observed.events.push(eventId);
		}
	};

	const match = async (process: Process) => {
		const token = await visit(process);
		const body = {clipboardToken: token, deviceId: randomUUID(), platform: 'iOS'};
		const ask = () => withKey(process, acme.clientKey).post('/match', body);
		const found = token === null ? null : await insist(observed.writes.matches, 200, ask);
		if (token === null || found === null) {
			return;
		}

		if (found.answer.body.matched === true) {
			observed.matched.push(token);
		} else if (found.tries > 1) {
			observed.unknownMatches += 1;
		} else {
			throw new Error(`a token was not matched: ${found.answer.text}`);
		}
	};

	const change = async () => {
		while (continues) {
			const process = processes[version % processes.length] ?? first;
			version += 1;
			const body = {params: {version: String(version)}};
			const changed = await insist(observed.writes.updates, 200, () =>
				withKey(process, acme.serverKey).patch(`/links/${changing.id}`, body),
			);
			acknowledged = changed === null ? acknowledged : version;
			await delay(40);
		}
	};

	const read = async (process: Process) => {
		const least = acknowledged;
		const {status, body} = await anonymous(process)
			.get(changingPath)
			.catch(() => ({status: 0, body: null}));
		if (status !== 200) {
			return;
		}

		observed.reads += 1;
		if (Number(body.params.version) < least) {
			observed.stale.push(`${body.params.version} instead of ${least}`);
		}
	};

	// All processes know all links before anything happens to the database.
	for (const {url} of processes) {
		await Promise.all(paths.map((path) => anonymous({url}).get(`${path}/data`)));
	}

	const running = Promise.all([
		...loop(4, visit),
		...loop(4, visit),
		...loop(20, create),
		...loop(300, event),
		...loop(150, match),
		...loop(5, read),
		change(),
	]);
	// Reported by `stop`, which comes late.
	running.catch(() => {
		continues = false;
	});
	return {
		organization: acme,
		/** All links whose visits are clicks. */
		links: [...known, changing],
		/** Whether it still runs: an answer that nobody expected ends it. */
		isWell: () => continues,
		observed,
		stop: async (): Promise<void> => {
			continues = false;
			await running;
		},
	};
};
