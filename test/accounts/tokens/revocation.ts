import {once} from 'node:events';
import {request as httpRequest, type IncomingMessage} from 'node:http';
import test from 'ava';
import {organization} from '../../helpers/builders.ts';
import {admin, withKey} from '../../helpers/callers.ts';
import {isDeep} from '../../helpers/deep.ts';
import {startTwoServices} from '../../helpers/two-services.ts';

const PARTS = isDeep ? 10 : 1;
const ROUNDS = isDeep ? 125 : 10;
const LANES = 8;

let pair: Awaited<ReturnType<typeof startTwoServices>>;

test.serial.before(async () => {
	pair = await startTwoServices({});
});
test.after.always(async () => {
	await pair?.stop();
});

for (let part = 1; part <= PARTS; part += 1) {
	test.serial(`a revocation by one process holds at the next request to another (${part})`, async (t) => {
		const {one, other} = pair;
		let stale = 0;
		const lane = async (number: number) => {
			for (let round = 0; round < ROUNDS; round += 1) {
				const name = `token ${part} ${number} ${round}`;
				const {body: made} = await admin(one).post('/admin/tokens', {name, scopes: ['orgs:read']});
				const {id, token} = made as {id: string; token: string};
				t.is((await withKey(other, token).get('/admin/organizations')).status, 200);
				await admin(one).delete(`/admin/tokens/${id}`);
				stale += (await withKey(other, token).get('/admin/organizations')).status === 401 ? 0 : 1;
			}
		};
		await Promise.all(Array.from({length: LANES}, (_, number) => lane(number)));
		t.is(stale, 0);
	});

	test.serial(`a token that is being revoked leaves none behind in another process (${part})`, async (t) => {
		const {one, other} = pair;
		let [left, made] = [0, 0];
		const scopes = ['system:write'];
		const lane = async (number: number) => {
			for (let round = 0; round < ROUNDS / 2; round += 1) {
				const name = `maker ${part} ${number} ${round}`;
				const {body: maker} = await admin(one).post('/admin/tokens', {name, scopes});
				const making = [1, 2, 3].map((of) =>
					withKey(other, maker.token).post('/admin/tokens', {name: `${name} ${of}`, scopes}),
				);
				if (round % 2 === 0) {
					await making[0];
				}

				await admin(one).delete(`/admin/tokens/${maker.id}`);
				const answers = await Promise.all(making);
				for (const {status, body} of answers.filter((answer) => answer.status !== 401)) {
					t.is(status, 201);
					made += 1;
					left += (await withKey(other, body.token).get('/admin/tokens')).status === 401 ? 0 : 1;
				}
			}
		};
		await Promise.all(Array.from({length: LANES}, (_, number) => lane(number)));
		t.is(left, 0);
		t.true(made >= (LANES * ROUNDS) / 4);
	});
}

/** A long answer of the other process to a token; `ended` once its connection is closed. */
const beginLong = async (token: string, method: 'GET' | 'POST', path: string) => {
	const headers = {Authorization: `Bearer ${token}`};
	const request = httpRequest(`${pair.other.url}${path}`, {agent: false, method, headers});
	request.on('error', () => {});
	// An import whose sender goes on: it is answered meanwhile.
	if (method === 'GET') {
		request.end();
	} else {
		request.flushHeaders();
	}

	const [response] = (await once(request, 'response')) as [IncomingMessage];
	response.on('error', () => {});
	response.resume();
	const ended = new Promise<void>((resolve) => {
		response.once('close', resolve);
	});
	return {status: response.statusCode, ended, isOpen: () => !response.closed, leave: () => request.destroy()};
};

type Ended = {id: string; orgId: string};
const ends: Record<string, (made: Ended) => unknown> = {
	'the revocation of its token by another process': ({id}) => admin(pair.one).delete(`/admin/tokens/${id}`),
	'the suspension of its organization': ({orgId}) => admin(pair.one).post(`/admin/organizations/${orgId}/suspend`),
	// The last one, since it moves the clock of one process.
	'the end of its token': () => pair.other.clock.advance(3601),
};

for (const [what, end] of Object.entries(ends)) {
	test.serial(`every stream and long answer ends at ${what}, and no other one`, async (t) => {
		const {one, other} = pair;
		const [acme, neighbour] = [await organization(one), await organization(one)];
		const make = async (name: string, rest: object) => {
			const scopes = ['stats:read', 'links:write'];
			const {body} = await admin(one).post('/admin/tokens', {name: `${name} ${what}`, scopes, ...rest});
			return body as {id: string; token: string};
		};
		const made = await make('its', {expires: '1h'});
		const others = await make('another', {expires: '90d'});
		const begun = await Promise.all([
			beginLong(made.token, 'GET', `/admin/clicks/stream?orgId=${acme.id}`),
			beginLong(made.token, 'POST', `/admin/organizations/${acme.id}/links/import`),
			beginLong(made.token, 'POST', `/admin/organizations/${acme.id}/links/import?dryRun=true`),
			beginLong(others.token, 'GET', `/admin/clicks/stream?orgId=${neighbour.id}`),
			beginLong(other.adminToken, 'GET', '/admin/clicks/stream'),
		]);
		t.deepEqual(new Set(begun.map(({status}) => status)), new Set([200]));
		const [stream, applied, dry, ...kept] = begun;
		await end({id: made.id, orgId: acme.id});
		await Promise.all([stream, applied, dry].map((one) => one?.ended));
		t.true(kept.every(({isOpen}) => isOpen()));
		for (const {leave} of kept) {
			leave();
		}
	});
}

test.serial('an operator may follow an organization that was suspended before', async (t) => {
	const acme = await organization(pair.one);
	await admin(pair.one).post(`/admin/organizations/${acme.id}/suspend`);
	const {status, isOpen, leave} = await beginLong(
		pair.other.adminToken,
		'GET',
		`/admin/clicks/stream?orgId=${acme.id}`,
	);
	t.is(status, 200);
	// Longer than the pause between two checks: another stream ends in it.
	const {body} = await admin(pair.one).post('/admin/tokens', {name: 'passing', scopes: ['stats:read']});
	const passing = await beginLong(body.token, 'GET', '/admin/clicks/stream');
	await admin(pair.one).delete(`/admin/tokens/${body.id}`);
	await passing.ended;
	t.true(isOpen());
	leave();
});
