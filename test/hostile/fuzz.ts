import {createHmac} from 'node:crypto';
import {Agent, request as httpRequest} from 'node:http';
import {text as textOf} from 'node:stream/consumers';
import {setFlagsFromString} from 'node:v8';
import {runInNewContext} from 'node:vm';
import test from 'ava';
import {Webhook} from 'svix';
import {signedText, TOKEN_FIELDS, TRANSACTION_FIELDS} from '../../src/accounts/billing/paymob/paymob-hmac.ts';
import {type FakePaymob, startFakePaymob} from '../fakes/paymob/paymob.ts';
import {type FakeStripe, startFakeStripe} from '../fakes/stripe/stripe.ts';
import {isDeep} from '../helpers/deep.ts';
import {type Portal, startPortal} from '../helpers/portal.ts';
import {createFakeClock} from '../helpers/service.ts';
import {checkAnswer} from '../setup/documented.ts';
import {type Request, requestsOf} from './_requests.ts';
import {createWorld, filled, type World} from './_world.ts';

type Signature = {headers: Record<string, string>; query: string};

const paymobHmac = (body: Buffer, secret: string): string => {
	try {
		const {type, obj} = JSON.parse(body.toString()) as {type?: unknown; obj?: unknown};
		const text = signedText(obj, type === 'TOKEN' ? TOKEN_FIELDS : TRANSACTION_FIELDS);
		return createHmac('sha512', secret).update(text).digest('hex');
	} catch {
		// Unreadable bodies cannot be signed.
		return '';
	}
};

/** Signs as the sender of a path's webhooks, so that the contents are processed beyond the signature. */
const signatureOf = (
	path: string,
	body: Buffer,
	{id, now, env}: {id: string; now: Date; env: Record<string, string>},
): Signature => {
	const seconds = String(Math.floor(now.getTime() / 1000));
	switch (path.split('?', 1)[0]) {
		case '/webhooks/idp': {
			const signature = new Webhook(env['IDP_WEBHOOK_SECRET'] ?? '').sign(id, now, body);
			return {headers: {'svix-id': id, 'svix-timestamp': seconds, 'svix-signature': signature}, query: ''};
		}

		case '/webhook/gateway-a': {
			const hmac = createHmac('sha256', env['STRIPE_WEBHOOK_SECRET'] ?? '').update(`${seconds}.`);
			hmac.update(body);
			return {headers: {'Stripe-Signature': `t=${seconds},v1=${hmac.digest('hex')}`}, query: ''};
		}

		case '/webhook/gateway-b':
			return {headers: {}, query: `hmac=${paymobHmac(body, env['PAYMOB_HMAC_SECRET'] ?? '')}`};
		default:
			return {headers: {}, query: ''};
	}
};

/**
 * Requests made up from the schemas of the document, right and wrong, over every route. `OPLINK_FUZZ_REQUESTS` says how
 * many; `OPLINK_FUZZ_SEED` begins elsewhere, and each finding names the seed of its batch.
 */
const REQUESTS = Number(process.env['OPLINK_FUZZ_REQUESTS'] ?? (isDeep ? 1000 : 150));
const SEED = Number(process.env['OPLINK_FUZZ_SEED'] ?? 1);
/** The SDK's limit of a minute, less what a world needs. */
const BATCH = 50;
const BATCHES_OF_A_WORLD = 4;
/** What answers may leave behind in a process that runs on. */
const GROWTH_BYTES = 32 * 1024 * 1024;

// CPU is measured as of the program, whose code is optimized at Node 20's usual time (test/setup/load.js delays it).
if (process.versions.node.startsWith('20.')) {
	setFlagsFromString('--interrupt-budget=67584');
}

let portal: Portal;
let stripe: FakeStripe;
let paymob: FakePaymob;
/** The secrets of whoever signs. */
let env: Record<string, string>;
test.serial.before(async () => {
	const clock = createFakeClock();
	[stripe, paymob] = await Promise.all([startFakeStripe({clock}), startFakePaymob({clock})]);
	// Nobody answers DNS here, so that verifying a domain fails at once and without a network.
	portal = await startPortal({...stripe.env, ...paymob.env, DNS_SERVERS: '127.0.0.1:9'}, clock);
	env = {...portal.provider.env, ...stripe.env, ...paymob.env};
});
test.after.always(async () => {
	await portal?.stop();
	await Promise.all([stripe?.stop(), paymob?.stop()]);
});

/** CPU that a request of 16 KB may take, beyond that as much more as it is longer: of this process, with the caller's own part. */
const CPU_MS = 50;
const CPU_BYTES = 16 * 1024;

type Heard = {
	status: number;
	type: string | null;
	policy: string | null;
	text: string;
	requestId: string | null;
	errorCode: string | null;
};

const agent = new Agent({keepAlive: true, maxSockets: 4});
test.after.always(() => agent.destroy());

let lastAddress = 0;
const nextAddress = (): string => {
	lastAddress += 1;
	return `10.${(lastAddress >> 16) & 255}.${(lastAddress >> 8) & 255}.${lastAddress & 255}`;
};

const tokenOf = (credential: string, path: string, world: World): string | undefined =>
	/^\/(?:dev|portal\/admin)\//.test(path) && credential === 'session' ? world['ops'] : world[credential];

const bytesOf = ({body}: Request, world: World): Buffer | undefined =>
	body === null ? undefined : 'json' in body ? Buffer.from(filled(body.json, world)) : Buffer.from(body.bytes);

const ask = (made: Request, world: World): Promise<Heard> =>
	new Promise((resolve, reject) => {
		const {port} = new URL(portal.url);
		const body = bytesOf(made, world);
		const token = tokenOf(made.credential, made.path, world);
		const address = nextAddress();
		const signature =
			made.credential === 'none' || body === undefined
				? {headers: {}, query: ''}
				: signatureOf(made.path, body, {id: `msg_${lastAddress}`, now: portal.clock.now(), env});
		const odd = Object.entries(made.headers).map(([name, value]) => [name, filled(value, world)]);
		const headers: Record<string, string> = {
			'X-Forwarded-For': address,
			...(token === undefined ? {} : {Authorization: `Bearer ${token}`}),
			...(body === undefined ? {} : {'Content-Length': String(body.length)}),
			...signature.headers,
			...Object.fromEntries(odd),
		};
		const path = filled(made.path, world);
		const whole = signature.query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${signature.query}`;
		const options = {port, host: '127.0.0.1', agent, method: made.method, path: whole, headers};
		const request = httpRequest(options, (response) => {
			const type = String(response.headers['content-type'] ?? '').split(';', 1)[0] || null;
			const heard = (text: string): Heard => ({
				status: response.statusCode ?? 0,
				type,
				policy: response.headers['content-security-policy']?.toString() ?? null,
				text,
				requestId: response.headers['x-request-id']?.toString() ?? null,
				errorCode: response.headers['x-error-code']?.toString() ?? null,
			});
			if (type === 'text/event-stream') {
				// It has no end.
				request.destroy();
				resolve(heard(''));
				return;
			}

			textOf(response).then((text) => resolve(heard(text)), reject);
		});
		request.on('error', reject);
		request.end(body);
	});

/** The CPU that this process took while `run` ran, in milliseconds. */
const cpuOf = async <T>(run: () => Promise<T>): Promise<{result: T; milliseconds: number}> => {
	const before = process.cpuUsage();
	const result = await run();
	const {user, system} = process.cpuUsage(before);
	return {result, milliseconds: (user + system) / 1000};
};

const sizeOf = ({path, headers, body}: Request): number =>
	path.length +
	JSON.stringify(headers).length +
	(body === null ? 0 : 'json' in body ? Buffer.byteLength(body.json) : body.bytes.length);

const allowance = (made: Request): number => CPU_MS * Math.max(1, sizeOf(made) / CPU_BYTES);

/** 502 and 503 that say what they are to: nothing here answers DNS, and no gateway is on. */
const EXPECTED = /^(?:The DNS lookup of .* failed|Payment gateway not configured)$/s;

/** What is wrong with an answer; null where nothing is. */
const faultOf = (
	made: Request,
	world: World,
	{status, type, policy, text, requestId, errorCode}: Heard,
): string | null => {
	if (requestId === null) {
		// What Node's parser refuses has no envelope (contract/requests 1).
		return status === 400 || status === 431 ? null : 'no X-Request-Id';
	}

	if (status >= 500 && !EXPECTED.test((JSON.parse(text || '{}') as {message?: string}).message ?? '')) {
		return `a status of ${status}`;
	}

	if (made.method === 'OPTIONS') {
		return null;
	}

	const body = type === 'application/json' && made.method !== 'HEAD' ? text : null;
	return checkAnswer({
		method: made.method,
		path: filled(made.path, world),
		status,
		errorCode,
		type,
		policy,
		text: body,
	});
};

const heapUsed = (): number => {
	setFlagsFromString('--expose-gc');
	(runInNewContext('gc') as () => void)();
	return process.memoryUsage().heapUsed;
};

test('no request that can be made up is answered with 5xx, without the envelope or in an undocumented form', async (t) => {
	t.timeout(Math.max(600_000, REQUESTS * 50));
	const faults = new Map<string, string>();
	const statuses = new Map<number, number>();
	const batches = Math.ceil(REQUESTS / BATCH);
	const cpu = process.cpuUsage();
	let early = 0;
	let worst = {milliseconds: 0, where: ''};
	let current = await createWorld(portal);
	for (let batch = 0; batch < batches; batch += 1) {
		// Windows of all limits but an hour's have passed, and tokens of sessions have ended.
		portal.clock.advance(61);
		if (batch % BATCHES_OF_A_WORLD === 0) {
			current = await createWorld(portal);
		}

		await current.renew();
		const world = current.names;
		const requests = requestsOf(SEED + batch, BATCH);
		for (const [index, made] of requests.entries()) {
			const where = `seed ${SEED + batch}, ${index}`;
			const note = (fault: string, answer = ''): void => {
				faults.set(`${made.operation} ${fault}`, `${where}: ${JSON.stringify(made).slice(0, 1500)} → ${answer}`);
			};
			try {
				let {result: heard, milliseconds} = await cpuOf(() => ask(made, world));
				// What else the process did meanwhile, such as collecting garbage, it does not do every time.
				for (let again = 0; again < 4 && milliseconds > allowance(made); again += 1) {
					milliseconds = Math.min(milliseconds, (await cpuOf(() => ask(made, world))).milliseconds);
				}

				statuses.set(heard.status, (statuses.get(heard.status) ?? 0) + 1);
				const share = (milliseconds * CPU_MS) / allowance(made);
				if (share > worst.milliseconds) {
					worst = {milliseconds: share, where: `${made.operation}, ${where}`};
				}

				if (milliseconds > allowance(made)) {
					note(`${heard.status}: ${Math.round(milliseconds)} ms of CPU`);
				}

				const fault = faultOf(made, world, heard);
				if (fault !== null) {
					note(`${heard.status}: ${fault}`, heard.text.slice(0, 400));
				}
			} catch (error) {
				const {code, message} = error as NodeJS.ErrnoException;
				note(code ?? message);
			}
		}

		if (batch === Math.floor(batches / 2)) {
			early = heapUsed();
		}
	}

	t.log(`${Math.round(process.cpuUsage(cpu).user / 1e6)} s of CPU`);
	t.log(`most CPU for 16 KB: ${worst.milliseconds.toFixed(1)} ms, ${worst.where}`);
	t.log(
		[...statuses]
			.map(([status, count]) => `${status}: ${count}`)
			.toSorted()
			.join(', '),
	);
	for (const [fault, example] of faults) {
		t.log(`${fault}\n${example}`);
	}

	t.deepEqual([...faults.keys()], []);
	t.true((statuses.get(200) ?? 0) + (statuses.get(201) ?? 0) > REQUESTS / 10, 'too few requests got through');
	t.true(heapUsed() - early < GROWTH_BYTES, `the heap grew by ${heapUsed() - early} bytes`);
});
