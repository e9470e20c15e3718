import test from 'ava';
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
