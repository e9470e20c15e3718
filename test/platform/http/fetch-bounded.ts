import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {gzipSync} from 'node:zlib';
import test from 'ava';
import {SignJWT} from 'jose';
import {pino} from 'pino';
import {createSessionVerifier} from '../../../src/accounts/auth/session.ts';
import {createPaymobHttp} from '../../../src/accounts/billing/paymob/paymob-http.ts';
import {createStripe} from '../../../src/accounts/billing/stripe/stripe-client.ts';
import {createProviderClient} from '../../../src/accounts/identity/provider-client.ts';
import {findKeys} from '../../../src/accounts/tokens/operator-providers.ts';
import {probe} from '../../../src/operations/doctor/probe.ts';
import {loadConfig} from '../../../src/platform/config/config.ts';
import {fetchBounded} from '../../../src/platform/http/fetch-bounded.ts';
import {createClickHouse} from '../../../src/visits/click-stores/clickhouse/clickhouse.ts';
import {createFakeClock} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';

/** What an answer may have sent when it is given up: twice what is read, and what sockets hold. */
const MAX_SENT = 16 * 1024 * 1024;
const PIECE = Buffer.alloc(64 * 1024, ' ');

/** Answers that never end, as fast as they are read; `sent` by the first segment of the path. */
const endless = startedFor(test, async () => {
	const sent = new Map<string, {bytes: number; isClosed: Promise<void>}>();
	const server = createServer((request, response) => {
		const [, name = ''] = request.url?.split('/') ?? [];
		const closed = new Promise<void>((resolve) => {
			response.once('close', resolve);
		});
		const state = {bytes: sent.get(name)?.bytes ?? 0, isClosed: closed};
		sent.set(name, state);
		const isBomb = name === 'compressed';
		const piece = isBomb ? gzipSync(Buffer.alloc(64 * 1024 * 1024)) : PIECE;
		response.writeHead(200, {'Content-Type': 'application/json', ...(isBomb ? {'Content-Encoding': 'gzip'} : {})});
		const write = (): void => {
			state.bytes += piece.length;
			if (isBomb) {
				response.end(piece);
			} else if (!response.destroyed && state.bytes < 4 * MAX_SENT) {
				response.write(piece, () => setImmediate(write));
			}
		};
		write();
	});
	await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
	const {port} = server.address() as AddressInfo;
	return {
		sent,
		url: (name: string) => `http://127.0.0.1:${port}/${name}`,
		stop: () => {
			server.closeAllConnections();
			server.close();
		},
	};
});

const clock = createFakeClock();
const log = pino({level: 'silent'});
const session = async (url: string): Promise<unknown> => {
	const config = loadConfig({IDP_ISSUER: 'https://idp.example', IDP_JWKS_URL: url, ADMIN_TOKEN: 'x'.repeat(32)});
	const token = await new SignJWT({}).setProtectedHeader({alg: 'HS256', kid: 'x'}).sign(Buffer.alloc(32));
	const [, claims, signature] = token.split('.');
	const header = Buffer.from(JSON.stringify({alg: 'RS256', kid: 'x'})).toString('base64url');
	return createSessionVerifier(config, clock, log)(`Bearer ${header}.${claims}.${signature}`);
};

/** Every caller of another service, and what it makes of an answer without an end. */
const callers: Record<string, {ask: (url: string) => Promise<unknown>; gives?: object | null; throws?: RegExp}> = {
	compressed: {ask: async (url) => (await fetchBounded(url, {})).text(), throws: /has more than 262144 bytes/},
	'key set of sessions': {ask: session, throws: /./},
	'identity provider': {
		ask: (apiUrl) => createProviderClient({apiUrl, apiKey: 'x', log}).countMembers('org_1'),
		throws: /./,
	},
	'key set of operators': {ask: findKeys, throws: /./},
	Stripe: {
		ask: (url) => {
			// The library takes a host without a path.
			const stripe = createStripe({secretKey: 'sk_test_x', apiUrl: new URL(url).origin} as never);
			return stripe.subscriptions.retrieve('sub_1', {}, {maxNetworkRetries: 0});
		},
		throws: /./,
	},
	Paymob: {
		ask: (apiUrl) => createPaymobHttp({apiUrl, log})({method: 'GET', path: '/x', authorization: null}),
		gives: null,
	},
	ClickHouse: {
		ask: (origin) => createClickHouse({origin, user: 'x', password: 'x', database: 'x'}).insert('clicks', 'x'),
		throws: /./,
	},
	doctor: {ask: (url) => probe(url), gives: {failure: 'X'}},
};

for (const [name, {ask, gives, throws}] of Object.entries(callers)) {
	test(`an answer without an end is given up: ${name}`, async (t) => {
		const place = name === 'Stripe' ? 'v1' : name.replaceAll(' ', '-');
		const url = endless.url(place);
		if (throws === undefined) {
			const given = await ask(url);
			t.deepEqual(Object.keys(given ?? {}), Object.keys(gives ?? {}));
		} else {
			await t.throwsAsync(ask(url), {message: throws});
		}

		const state = endless.sent.get(place);
		await state?.isClosed;
		t.true(state !== undefined && state.bytes < MAX_SENT, `${state?.bytes} bytes`);
	});
}
