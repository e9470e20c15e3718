import type {AutomaticDelivery} from '../identity-provider/automatic-delivery.ts';
import type {Call, Fault, FaultInput} from '../identity-provider/faults.ts';
import {matchPath} from '../identity-provider/match-path.ts';
import type {Reply} from './http-server.ts';
import {page} from './page.ts';
import {stateJson} from './state-file.ts';

/** The common parts of both fakes, for the paths for people. */
export type DevelopmentGateway = {
	url: string;
	env: Record<string, string>;
	calls: Call[];
	fail(fault: FaultInput): Fault;
	clearFaults(): void;
	/** All it knows. */
	state: object;
	/** The future behaviour of a card: of a customer (gateway A), or by its token (gateway B). */
	setCard(card: string, behavior: 'works' | 'declines'): void;
};

type Tools = {
	gateway: DevelopmentGateway;
	delivery: AutomaticDelivery;
	/** Advances the gateways' clock. @returns its new time. */
	advance(days: number): Date;
};

const MAX_CALLS = 100;
const FAULT_FIELDS = ['times', 'method', 'path', 'status', 'code', 'message', 'delay', 'hang', 'drop', 'afterwards'];

/** The variables as lines for a shell. */
export const environmentLines = (env: Record<string, string>): string =>
	Object.entries(env)
		.map(([name, value]) => `export ${name}='${value}'\n`)
		.join('');

/** The available actions, as command lines. */
export const helpText = (name: string, url: string, webhookUrl: string): string => {
	const here = url.replace('127.0.0.1', 'localhost');
	return `${name}, for development, at ${here}. Webhooks go to ${webhookUrl}.
Before npm start:
  eval "$(curl -s ${here}/env)"
What it knows (/dev/calls: what the service asked):
  curl ${here}/dev/state
What was delivered, and what waits:
  curl ${here}/dev/webhooks
Let webhooks wait, until /release; /dev/webhooks/ID/redeliver sends one again:
  curl -X POST ${here}/dev/webhooks/hold
Move the time of both gateways, for renewals and expiries:
  curl -d '{"days":31}' ${here}/dev/advance
A card that is declined; "works" undoes it:
  curl -d '{"card":"ID","behavior":"declines"}' ${here}/dev/cards
Fail three times; instead of status: delay (ms), hang, drop, afterwards:
  curl -d '{"path":"/v1","status":500,"times":3}' ${here}/dev/faults
  curl -X DELETE ${here}/dev/faults
`;
};

const bodyOf = ({body}: Call): Record<string, unknown> => (typeof body === 'string' ? JSON.parse(body) : {});

/** The paths for people, below `/dev`. */
const routes: Record<string, (tools: Tools, call: Call, id: string) => unknown> = {
	'GET /dev/state': ({gateway}) => JSON.parse(stateJson(gateway.state)),
	'GET /dev/calls': ({gateway}) =>
		gateway.calls
			.filter(({path}) => !path.startsWith('/dev') && path !== '/env')
			.slice(-MAX_CALLS)
			.map(({method, path, body, status}) => ({method, path, body, status})),
	'GET /dev/webhooks': ({delivery}) => ({
		attempts: delivery.attempts.slice(-MAX_CALLS),
		waiting: delivery.waiting().map(({id, type}) => ({id, type})),
	}),
	'POST /dev/webhooks/hold': ({delivery}) => delivery.hold(),
	'POST /dev/webhooks/release': ({delivery}) => delivery.release(),
	'POST /dev/webhooks/:id/redeliver': ({delivery}, _, id) => {
		const event = delivery.sent.get(id);
		if (event === undefined) {
			throw new Error(`No event ${id} was sent`);
		}

		delivery.push(event);
	},
	'POST /dev/advance': ({advance}, call) => ({now: advance(Number(bodyOf(call)['days']))}),
	'POST /dev/cards': ({gateway}, call) => {
		const {card, behavior} = bodyOf(call);
		gateway.setCard(String(card), behavior === 'declines' ? 'declines' : 'works');
	},
	'POST /dev/faults': ({gateway}, call) => {
		const fault = bodyOf(call);
		const unknown = Object.keys(fault).find((name) => !FAULT_FIELDS.includes(name));
		if (unknown !== undefined) {
			throw new Error(`A fault has no ${unknown}`);
		}

		// Without a path it would meet the pages of people, and this one.
		gateway.fail({...fault, when: ({path}) => /^\/(?:v1|api)\//.test(path)});
	},
	'DELETE /dev/faults': ({gateway}) => gateway.clearFaults(),
};

/** The answer to a path for people; null for other paths. */
export const answerDeveloper = (tools: Tools, call: Call): Reply | null => {
	if (call.path === '/env') {
		const headers = {'content-type': 'text/plain; charset=utf-8'};
		return {status: 200, headers, html: environmentLines(tools.gateway.env)};
	}

	if (call.path === '/') {
		return page('Development', 'See the terminal where it was started.');
	}

	for (const [route, handle] of Object.entries(routes)) {
		const [method, pattern = ''] = route.split(' ');
		const params = method === call.method ? matchPath(pattern, call.path) : null;
		if (params !== null) {
			try {
				return {status: 200, json: handle(tools, call, params['id'] ?? '') ?? {}};
			} catch (error) {
				return {status: 400, json: {error: String(error)}};
			}
		}
	}

	return null;
};
