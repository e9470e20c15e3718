import test from 'ava';
import {createClock} from '../../src/clock.ts';
import {limits} from '../../src/limits/limits.ts';
import {type IdentityProvider, startIdentityProvider} from '../fakes/identity-provider/identity-provider.ts';
import {organization, type TestOrganization} from '../helpers/builders.ts';
import {type Asked, burst} from '../helpers/burst.ts';
import {anonymous} from '../helpers/callers.ts';
import {redisOfOwn, startWorkers, type Workers} from '../helpers/workers.ts';

type World = {workers: Workers; provider: IdentityProvider; acme: TestOrganization};

const bearer = (credential: string) => ({Authorization: `Bearer ${credential}`});

/** A request under each limit of contract/limits 1, of an address, and with a key, that nobody else has. */
const rows: Record<keyof typeof limits, (world: World) => Promise<Asked> | Asked> = {
	resolution: async ({acme}) => {
		const {body} = await acme.server.post('/links', {path: '/sale'});
		return {method: 'GET', path: new URL(body.url).pathname};
	},
	match: () => ({method: 'POST', path: '/match', body: {}}),
	// Limits precede validation (contract/requests 4), and the refused requests need no database.
	linkReads: ({acme}) => ({method: 'GET', path: '/links?limit=none', headers: bearer(acme.serverKey)}),
	linkWrites: ({acme}) => ({method: 'POST', path: '/links', headers: bearer(acme.serverKey), body: {}}),
	sdkDevices: ({acme}) => ({method: 'POST', path: '/sdk/session', headers: bearer(acme.clientKey), body: {}}),
	sdkEvents: ({acme}) => ({method: 'POST', path: '/sdk/events', headers: bearer(acme.clientKey), body: {}}),
	portal: () => ({method: 'GET', path: '/portal/billing/pricing'}),
	regenerateKey: async ({provider}) => {
		// A session of an organization that is not mirrored: its limit precedes the lookup.
		const user = provider.user({});
		const organization = provider.organization({name: 'Acme'});
		provider.member({organization, user, role: 'owner'});
		const headers = bearer(await provider.token({user, organization}));
		return {method: 'POST', path: '/portal/api-keys/client/regenerate', headers, body: {}};
	},
};

/**
 * On a busy machine a burst may take longer than a second, in which more is right, and Redis longer than it is waited
 * for, where the supervisor goes on by itself.
 */
const ATTEMPTS = 5;

for (const {name, env} of [
	{name: 'without Redis', env: {}},
	{name: 'with Redis', env: {REDIS_URL: redisOfOwn(1)}},
]) {
	let workers: Workers;
	let provider: IdentityProvider;
	const outages = () => [...workers.stderr().matchAll(/Redis (is unavailable; enforcing|is back; sharing)/g)].length;
	test.serial.before(async () => {
		provider = await startIdentityProvider({clock: createClock(0)});
		workers = await startWorkers({...provider.env, ...env});
	});
	test.after.always(async () => {
		await workers?.stop();
		await provider?.stop();
	});

	for (const limit of Object.values(limits)) {
		test.serial(`two workers ${name}: of a burst ${limit.name} admits the limit, to the request`, async (t) => {
			const windowMs = limit.windowSeconds * 1000;
			for (let attempt = 1, isOver = false; !isOver && attempt <= ATTEMPTS; attempt += 1) {
				const acme = await organization(workers.service);
				const asked = await rows[limit.name]({workers, provider, acme});
				const visitor = anonymous(workers.service);
				const headers = {'X-Forwarded-For': visitor.address, ...asked.headers};
				const before = outages();
				const {statuses, lasted} = await burst(workers.url, Math.ceil(limit.max * 1.2) + 40, {...asked, headers});
				const admitted = statuses.filter((status) => status !== 429).length;
				t.log(`${admitted} of ${statuses.length} in ${Math.round(lasted)} ms`, new Set(statuses));
				await visitor.get('/health/ready');
				if (before === outages()) {
					t.true(admitted >= limit.max);
					t.true(admitted <= limit.max * Math.ceil(lasted / windowMs));
					isOver = lasted < windowMs;
				}
			}
		});
	}
}
