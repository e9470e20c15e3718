import {randomUUID} from 'node:crypto';
import test from 'ava';
import {type FakeDns, startDns} from '../../fakes/dns.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {member, ops, type Portal, startPortal} from '../../helpers/portal.ts';
import {invalid, refused, tooLow} from './_refused.ts';

let dns: FakeDns;
let portal: Portal;
test.serial.before(async () => {
	dns = await startDns();
	portal = await startPortal({DNS_SERVERS: dns.address});
});
test.after.always(async () => {
	await portal?.stop();
	await dns?.stop();
});

const domains = '/portal/domains';
const notFound = {status: 404, message: 'Domain not found'};
const unavailable = {
	status: 403,
	message: 'Your plan does not include the feature custom_domains',
	code: 'FEATURE_NOT_AVAILABLE',
};

let lastHost = 0;
const freshHost = (): string => {
	lastHost += 1;
	return `go${lastHost}.acme.test`;
};

test('an admin adds, proves, chooses and removes a domain; a viewer watches', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'admin'});
	const viewer = await member(portal, {organization: acme});
	const hostname = freshHost();
	const added = await caller.post(domains, {hostname});
	t.is(added.status, 201);
	t.like(added.body, {hostname, status: 'PENDING', isDefault: false});
	t.like(added.body.verification, {type: 'TXT', name: `_oplink.${hostname}`});
	const {id, verification} = added.body;

	dns.setTxt(verification.name, 'something else');
	const early = await caller.post(`${domains}/${id}/verify`);
	t.is(early.status, 409);
	t.regex(early.body.message, /No TXT record with the value/);
	refused(t, await caller.post(`${domains}/${id}/default`), {status: 409, message: 'The domain is not verified'});

	dns.setTxt(verification.name, verification.value);
	const verified = await caller.post(`${domains}/${id}/verify`);
	t.is(verified.status, 200);
	t.is(verified.body.status, 'VERIFIED');
	const chosen = await caller.post(`${domains}/${id}/default`);
	t.deepEqual({status: chosen.status, body: chosen.body}, {status: 200, body: {...verified.body, isDefault: true}});
	const list = await viewer.caller.get(domains);
	t.is(list.status, 200);
	t.is(list.body.total, 2);
	t.deepEqual(list.body.data[0], chosen.body);
	t.is(list.body.data[1].isDefault, false);

	const gone = await caller.delete(`${domains}/${id}`);
	t.deepEqual({status: gone.status, body: gone.body}, {status: 200, body: {id, deleted: true}});
	const left = (await viewer.caller.get(domains)).body;
	t.is(left.total, 1);
	t.true(left.data[0].isDefault);
});

test('a hostname that is verified elsewhere is 409', async (t) => {
	const {organization: other} = await member(portal);
	const hostname = freshHost();
	const base = `/admin/organizations/${other.id}/domains`;
	const {id} = (await admin(portal).post(base, {hostname})).body;
	await admin(portal).post(`${base}/${id}/approve`);
	const {caller} = await member(portal, {role: 'admin'});
	refused(t, await caller.post(domains, {hostname}), {
		status: 409,
		message: `Domain '${hostname}' is already in use`,
	});
});

for (const plan of ['STARTER', 'SOLO']) {
	test(`on the plan ${plan} there are no custom domains, but the shared one is listed`, async (t) => {
		const {caller} = await member(portal, {plan, role: 'admin'});
		const answer = await caller.post(domains, {hostname: freshHost()});
		refused(t, answer, unavailable);
		t.is(answer.body.feature, 'custom_domains');
		t.is((await caller.get(domains)).body.total, 1);
	});
}

test('without a plan a domain is 402, and so is one more than the quota', async (t) => {
	const without = await member(portal, {plan: null, role: 'admin'});
	refused(t, await without.caller.post(domains, {hostname: freshHost()}), {
		status: 402,
		message: 'Select a plan first',
		code: 'PLAN_NOT_SELECTED',
	});
	const {caller} = await member(portal, {role: 'admin'});
	t.is((await caller.post(domains, {hostname: freshHost()})).status, 201);
	const second = await caller.post(domains, {hostname: freshHost()});
	refused(t, second, {status: 402, message: "You've reached your domains limit.", code: 'QUOTA_EXCEEDED'});
	t.is(second.body.quota, 'domains');
});

test('after a downgrade a domain is neither verified nor chosen, but it can be removed', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'admin'});
	const {body} = await caller.post(domains, {hostname: freshHost()});
	dns.setTxt(body.verification.name, body.verification.value);
	const shared = (await caller.get(domains)).body.data[1];
	await ops(portal).caller.post(`/portal/admin/billing/organizations/${acme.id}/plan`, {plan: 'SOLO'});
	refused(t, await caller.post(`${domains}/${body.id}/verify`), unavailable);
	refused(t, await caller.post(`${domains}/${body.id}/default`), unavailable);
	t.is((await caller.post(`${domains}/${shared.id}/default`)).status, 200);
	t.is((await caller.get(domains)).body.data[0].status, 'PENDING');
	t.is((await caller.delete(`${domains}/${body.id}`)).status, 200);
});

test('a domain of another organization is 404 on every route', async (t) => {
	const {caller} = await member(portal, {role: 'owner'});
	const other = await member(portal, {role: 'admin'});
	const {id} = (await other.caller.post(domains, {hostname: freshHost()})).body;
	for (const unknown of [id, randomUUID()]) {
		refused(t, await caller.post(`${domains}/${unknown}/verify`), notFound);
		refused(t, await caller.post(`${domains}/${unknown}/default`), notFound);
		refused(t, await caller.delete(`${domains}/${unknown}`), notFound);
	}

	t.is((await caller.get(domains)).body.total, 1);
	t.is((await other.caller.get(domains)).body.total, 2);
});

test('a developer can only read domains; only the operator can approve them', async (t) => {
	const {organization: acme, caller} = await member(portal, {role: 'developer'});
	const owner = await member(portal, {organization: acme, role: 'owner'});
	const {id} = (await owner.caller.post(domains, {hostname: freshHost()})).body;
	refused(t, await caller.post(domains, {hostname: freshHost()}), tooLow);
	refused(t, await caller.post(`${domains}/${id}/verify`), tooLow);
	refused(t, await caller.post(`${domains}/${id}/default`), tooLow);
	refused(t, await caller.delete(`${domains}/${id}`), tooLow);
	t.is((await caller.get(domains)).status, 200);
	for (const action of ['approve', 'reject']) {
		refused(t, await owner.caller.post(`${domains}/${id}/${action}`), {status: 404, message: 'Not found'});
	}
});

test('bad values are 400', async (t) => {
	const {caller} = await member(portal, {role: 'admin'});
	refused(t, await caller.post(domains, {hostname: 'no host'}), invalid);
	refused(t, await caller.post(domains, {hostname: freshHost(), status: 'VERIFIED'}), invalid);
	refused(t, await caller.post(`${domains}/nonsense/verify`), invalid);
});

test('portal routes are unknown on a link domain, and allow no other origin anywhere', async (t) => {
	const {caller} = await member(portal, {role: 'admin'});
	const hostname = freshHost();
	const {id, verification} = (await caller.post(domains, {hostname})).body;
	dns.setTxt(verification.name, verification.value);
	await caller.post(`${domains}/${id}/verify`);
	const unknown = {status: 404, message: 'Not found'};
	refused(t, await caller.get('/portal/links', {Host: hostname}), unknown);
	refused(t, await anonymous(portal).get('/portal/api-keys', {Host: hostname}), unknown);
	refused(t, await ops(portal).caller.get('/dev/session', {Host: hostname}), unknown);
	t.is((await caller.get('/portal/links', {Host: 'api.elsewhere.test'})).status, 200);

	const origin = {Origin: 'https://portal.example.com'};
	t.is((await caller.get('/portal/links', origin)).headers['access-control-allow-origin'], undefined);
	const preflight = await caller.options('/portal/links', {...origin, 'Access-Control-Request-Method': 'GET'});
	refused(t, preflight, unknown);
	t.is(preflight.headers['access-control-allow-origin'], undefined);
});
