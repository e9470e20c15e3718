import test from 'ava';
import {member, type Portal, startPortal} from '../helpers/portal.ts';

let portal: Portal;
test.before(async () => {
	portal = await startPortal();
});
test.after.always(() => portal?.stop());

test('a member without a role sees both keys', async (t) => {
	const {caller} = await member(portal, {role: null});
	const answer = await caller.get('/portal/api-keys');
	t.is(answer.status, 200, answer.text);
});
