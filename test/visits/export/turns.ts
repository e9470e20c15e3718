import {once} from 'node:events';
import {type ClientRequest, request as httpRequest, type IncomingMessage} from 'node:http';
import test from 'ava';
import type {TestOrganization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {linked} from '../_own.ts';
import {untilTrue} from '../webhooks/_receiver.ts';

// One test after another: they share the turns and move the clock.
const service = serviceOf(test);

const never = (): AbortSignal => new AbortController().signal;
const turns = () => service.services.longReads;

/** Takes all turns by other organizations. @returns what gives them back. */
const takeAll = async (of: keyof ReturnType<typeof turns>, most = 3): Promise<() => void> => {
	const others = Array.from({length: most}, () => ({organizationId: crypto.randomUUID(), hungUp: never()}));
	const ends = await Promise.all(others.map((one) => turns()[of].take(one)));
	return () => {
		for (const end of ends) {
			end();
		}
	};
};

/** A request whose answer nobody reads. */
const ask = (path: string, options: {method?: string} = {}): ClientRequest => {
	const headers = {Authorization: `Bearer ${service.adminToken}`};
	const request = httpRequest(`${service.url}${path}`, {agent: false, headers, ...options});
	request.on('error', () => {});
	return request;
};

const pathOf = ({id}: TestOrganization, rest: string) => `/admin/organizations/${id}${rest}`;

/** 20 MB of an export: more than sockets hold. */
const manyEvents = async ({id}: TestOrganization): Promise<void> => {
	await service.services.db.raw(
		`INSERT INTO events (id, organization_id, event_name, properties, occurred_at, received_at)
		SELECT gen_random_uuid(), :id, 'seen', jsonb_build_object('text', repeat('x', 4000)), :at, :at FROM generate_series(1, 5000)`,
		{id, at: service.clock.now()},
	);
};

test.serial('a reader slower than 4 MiB a minute is cut off, and gives its turn to the next', async (t) => {
	const {acme} = await linked(service);
	await manyEvents(acme);
	const slow = ask(pathOf(acme, '/export/events')).end();
	const [response] = (await once(slow, 'response')) as [IncomingMessage];
	response.on('error', () => {});
	const cut = new Promise((resolve) => {
		response.once('close', resolve);
	});
	const {acme: other} = await linked(service);
	t.is((await admin(service).get(pathOf(other, '/export/clicks'))).status, 200, 'others have turns');

	let isAnswered = false;
	const second = admin(service).get(pathOf(acme, '/export/matches'));
	void second.finally(() => {
		isAnswered = true;
	});
	t.is((await admin(service).get(pathOf(acme, '/stats'))).status, 200);
	t.false(isAnswered, 'an organization has one turn');
	// In the first minute sockets take what they hold.
	for (let minute = 0; minute < 2; minute += 1) {
		service.clock.advance(61);
		await second;
	}

	await untilTrue(async () => {
		service.clock.advance(61);
		return (await admin(service).get(pathOf(acme, '/export/matches'))).status === 200;
	});
	response.resume();
	await cut;
	t.false(response.complete);
});

for (const [what, of, most, rest, options] of [
	['an export', 'exports', 3, '/export/clicks', {}],
	['a funnel', 'reports', 3, '/stats/funnel', {}],
	['a filtered report', 'reports', 3, '/stats?tag=spring', {}],
	['a dry run', 'dryRuns', 2, '/links/import?dryRun=true', {method: 'POST'}],
] as const) {
	test.serial(`${what} that waits for 10 s is refused with 503 and Retry-After`, async (t) => {
		const {acme} = await linked(service, {tags: ['spring']});
		const giveBack = await takeAll(of, most);
		t.teardown(giveBack);
		const request = ask(pathOf(acme, rest), options).end();
		const answered = once(request, 'response') as Promise<[IncomingMessage]>;
		await untilTrue(async () => turns()[of].waiting(acme.id) === 1);
		service.clock.advance(11);
		const [response] = await answered;
		t.deepEqual([response.statusCode, response.headers['retry-after']], [503, '5']);
		response.resume();
	});
}

test.serial('of callers that wait no more than a hundred are of an organization', async (t) => {
	const {acme} = await linked(service);
	const giveBack = await takeAll('reports');
	const callers = Array.from({length: 100}, () => new AbortController());
	const waiting = callers.map(({signal: hungUp}) =>
		turns()
			.reports.take({organizationId: acme.id, hungUp})
			.catch((error: {status: number}) => error.status),
	);
	const {status, headers, body} = await admin(service).get(pathOf(acme, '/stats/funnel'));
	t.deepEqual([status, headers['retry-after']], [503, '5']);
	t.is(body.message, 'Too many reports or exports run at once. Try again in 5 seconds.');
	for (const caller of callers) {
		caller.abort();
	}

	t.deepEqual(new Set(await Promise.all(waiting)), new Set([400]));
	giveBack();
	t.is((await admin(service).get(pathOf(acme, '/stats/funnel'))).status, 200);
});

test.serial('callers that hang up while they wait leave the queue, and nothing is done for them', async (t) => {
	const {acme} = await linked(service);
	const giveBack = await takeAll('reports');
	const {reports} = turns();
	for (let round = 0; round < 3; round += 1) {
		const asked = Array.from({length: 8}, () => ask(pathOf(acme, '/stats/funnel')).end());
		await untilTrue(async () => reports.waiting(acme.id) === 8);
		for (const request of asked) {
			request.destroy();
		}

		await untilTrue(async () => reports.waiting(acme.id) === 0);
	}

	giveBack();
	t.is((await admin(service).get(pathOf(acme, '/stats/funnel'))).status, 200);
});

test.serial(
	'a caller that hangs up during its report gives its turn back at once: the statement is cancelled',
	async (t) => {
		const {acme} = await linked(service, {tags: ['spring']});
		const lock = await service.services.db.transaction();
		await lock.raw('LOCK TABLE match_attempts IN ACCESS EXCLUSIVE MODE');
		const waits = async () => {
			const {rows} = await lock.raw<{rows: Array<{count: number}>}>(
				`SELECT CAST(count(*) AS float8) AS count FROM pg_stat_activity
			WHERE datname = current_database() AND wait_event_type = 'Lock'`,
			);
			return rows[0]?.count;
		};
		for (const rest of ['/stats/funnel', '/stats?tag=spring']) {
			const request = ask(pathOf(acme, rest)).end();
			await untilTrue(async () => (await waits()) === 1);
			request.destroy();
			// The lock is still held.
			const end = await turns().reports.take({organizationId: acme.id, hungUp: never()});
			end();
			t.is(await waits(), 0, rest);
		}

		await lock.rollback();
	},
);
