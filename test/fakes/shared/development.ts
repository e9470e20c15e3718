import {mkdirSync, readFileSync, writeFileSync} from 'node:fs';
import path from 'node:path';
import {createAutomaticDelivery} from './automatic-delivery.ts';
import type {startServer} from './http-server.ts';
import type {createWebhookQueue, WebhookEvent} from './webhook-queue.ts';

/** JSON of a fake's state: maps as their entries, dates marked, functions omitted. */
const stateJson = (state: object): string =>
	JSON.stringify(
		state,
		// `value` of a Date is its text already.
		function (this: Record<string, unknown>, name: string, value: unknown) {
			const raw = this[name];
			if (raw instanceof Date) {
				return {$date: raw.getTime()};
			}

			return raw instanceof Map ? {$map: [...raw]} : value;
		},
	);

const readState = (text: string): Record<string, unknown> =>
	JSON.parse(text, (_, value) => {
		if (typeof value === 'object' && value !== null && '$map' in value) {
			return new Map(value.$map);
		}

		return typeof value === 'object' && value !== null && '$date' in value ? new Date(value.$date) : value;
	});

/** Saves a fake's state, so that it survives a restart as the service's database does. */
const saveState = (file: string, state: object): void => {
	mkdirSync(path.dirname(file), {recursive: true});
	writeFileSync(file, stateJson(state));
};

/** Restores the saved state into the maps and lists of `state`, if there is any. */
const loadState = (file: string, state: object): void => {
	let text: string;
	try {
		text = readFileSync(file, 'utf8');
	} catch {
		return;
	}

	for (const [name, kept] of Object.entries(readState(text))) {
		const mine: unknown = Reflect.get(state, name);
		if (mine instanceof Map && kept instanceof Map) {
			for (const [key, value] of kept) {
				// Existing values come from the current settings.
				if (!mine.has(key)) {
					mine.set(key, value);
				}
			}
		} else if (Array.isArray(mine) && Array.isArray(kept)) {
			mine.push(...kept);
		}
	}
};

/** The common parts of the fakes. */
type Fake<Event extends WebhookEvent> = Omit<Awaited<ReturnType<typeof startServer>>, 'fetch'> &
	Pick<ReturnType<typeof createWebhookQueue<Event>>, 'send' | 'onEvent'> & {env: Record<string, string>};

const MAX_CALLS = 100;
const SETTLE_SECONDS = 3;
const FAULT_FIELDS = new Set(
	'times method path status code message retryAfter rawBody delay hang drop afterwards'.split(' '),
);

/** The variables as lines for a shell. */
export const environmentLines = (env: Record<string, string>): string =>
	Object.entries(env)
		.map(([name, value]) => `export ${name}='${value}'\n`)
		.join('');

type Setup = {
	name: string;
	/** Command lines of this fake alone, by what they do. */
	actions: Record<string, string>;
	state: object;
	/** Where the state is kept. */
	file: string;
	/** The service's receiver of webhooks. */
	destination: string;
	/** A log line about a delivery. */
	say(line: string): void;
};

/** The available actions, as command lines. */
const helpText = (url: string, {name, actions, destination}: Setup): string => {
	const here = url.replace('127.0.0.1', 'localhost');
	const all = {
		'Before npm start': 'eval "$(curl -s HERE/env)"',
		...actions,
		'What it knows (/dev/calls: what the service asked)': 'curl HERE/dev/state',
		'What was delivered, and what waits': 'curl HERE/dev/webhooks',
		'Let webhooks wait, until /release; /dev/webhooks/ID/redeliver sends one again':
			'curl -X POST HERE/dev/webhooks/hold',
		'Fail three times; instead of status: delay (ms), hang, drop, afterwards': `curl -d '{"status":500,"times":3}' HERE/dev/faults`,
		'Fail no more': 'curl -X DELETE HERE/dev/faults',
	};
	const lines = Object.entries(all).map(([what, command]) => `${what}:\n  ${command.replaceAll('HERE', here)}\n`);
	return `${name}, for development, at ${here}. Webhooks go to ${destination}.\n${lines.join('')}`;
};

/**
 * Gives a fake what people need: paths for curl, webhooks that go out at once, and a state that survives a restart as
 * the service's database does.
 */
export const develop = <Event extends WebhookEvent>(fake: Fake<Event>, setup: Setup) => {
	const {state, file, destination, say} = setup;
	const delivery = createAutomaticDelivery({send: fake.send, destination, say});
	const help = helpText(fake.url, setup);
	const save = () => saveState(file, state);
	const report = () => ({attempts: delivery.attempts.slice(-MAX_CALLS), waiting: delivery.waiting()});
	const settled = async () => {
		await delivery.settle(SETTLE_SECONDS);
		return report();
	};
	loadState(file, state);
	fake.onEvent((event) => {
		save();
		delivery.push(event);
	});
	fake.serve({
		'GET /': () => help,
		'GET /dev/state': () => JSON.parse(stateJson(state)),
		'GET /env': () => environmentLines(fake.env),
		'GET /dev/calls': () =>
			fake.calls
				.filter(({path}) => !path.startsWith('/dev') && path !== '/env')
				.slice(-MAX_CALLS)
				.map(({method, path, query, body, status}) => ({method, path, query: query.toString(), body, status})),
		'GET /dev/webhooks': report,
		'POST /dev/webhooks/hold': () => {
			delivery.hold();
			return report();
		},
		'POST /dev/webhooks/release': () => {
			delivery.release();
			return settled();
		},
		'POST /dev/webhooks/:id/redeliver': ({params}) => {
			delivery.redeliver(params['id'] ?? '');
			return settled();
		},
		'POST /dev/faults': ({body}) => {
			const unknown = Object.keys(body).find((name) => !FAULT_FIELDS.has(name));
			if (unknown !== undefined) {
				throw new Error(`A fault has no ${unknown}`);
			}

			// Without a path it would meet the pages of people, and this one.
			fake.fail({...body, when: ({path}) => /^\/(?:v1|api|\.well-known)\//.test(path)});
			return body;
		},
		'DELETE /dev/faults': () => fake.clearFaults(),
	});
	return {
		delivery,
		help,
		stop: async (): Promise<void> => {
			save();
			delivery.stop();
			await fake.stop();
		},
	};
};
