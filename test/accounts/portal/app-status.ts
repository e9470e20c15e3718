import test from 'ava';
import {organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {member, ops, portalOf} from '../../helpers/portal.ts';
import {missing, noRole, refused, tooLow} from './_refused.ts';

const portal = portalOf(test);

test('an analyst gets the admin’s app status of the own organization; a viewer and a session without a role get none', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'analyst'});
	const other = await organization(portal);
	await acme.client.post('/sdk/session', {deviceId: 'device-of-acme', platform: 'iOS'});
	await other.client.post('/sdk/session', {deviceId: 'device-of-other', platform: 'Android'});
	const {status, body} = await caller.get('/portal/app-status?since=1d');
	t.is(status, 200);
	t.like(body, {organizationId: acme.id, since: '2026-03-09T12:00:00.000Z', until: '2026-03-10T12:00:00.000Z'});
	t.like(body.platforms[0], {platform: 'ios', sessions: {count: 1}});
	t.like(body.platforms[1], {platform: 'android', sessions: {count: 0}});
	t.deepEqual(body, (await admin(portal).get(`/admin/organizations/${acme.orgKey}/app-status?since=1d`)).body);
	t.deepEqual((await ops(portal).caller.get(`/portal/app-status?orgId=${acme.id}&since=1d`)).body, body);
	t.is((await caller.get('/portal/app-status?since=30m')).status, 400);
	for (const [role, expected] of [
		['viewer', tooLow],
		[null, noRole],
	] as const) {
		refused(t, await (await member(portal, {role, organization: acme})).caller.get('/portal/app-status'), expected);
	}

	refused(t, await anonymous(portal).get('/portal/app-status'), missing);
});
