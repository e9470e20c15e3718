import test from 'ava';
import {admin, withKey} from '../../helpers/callers.ts';
import {isDeep} from '../../helpers/deep.ts';
import {startTwoServices} from '../../helpers/two-services.ts';

const ROUNDS = isDeep ? 10_000 : 50;

test('a revocation by one process holds at the next request to another', async (t) => {
	const pair = await startTwoServices({});
	t.teardown(() => pair.stop());
	const {one, other} = pair;
	let stale = 0;
	for (let round = 0; round < ROUNDS; round += 1) {
		const {body: made} = await admin(one).post('/admin/tokens', {name: `token ${round}`, scopes: ['orgs:read']});
		const {id, token} = made as {id: string; token: string};
		t.is((await withKey(other, token).get('/admin/organizations')).status, 200);
		await admin(one).delete(`/admin/tokens/${id}`);
		stale += (await withKey(other, token).get('/admin/organizations')).status === 401 ? 0 : 1;
	}

	t.is(stale, 0);
});
