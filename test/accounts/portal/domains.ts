import {randomUUID} from 'node:crypto';
import test from 'ava';
import {type FakeDns, startDns} from '../../fakes/dns.ts';
import {anonymous} from '../../helpers/callers.ts';
import {member, ops, type Portal, startPortal} from '../../helpers/portal.ts';
import {refused} from './_refused.ts';

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
	const record = {type: 'TXT', name: `_oplink.${hostname}`};
	t.like(added, {status: 201, body: {hostname, status: 'PENDING', isDefault: false, verification: record}});
	const {id, verification} = added.body;

	dns.setTxt(verification.name, 'something else');
	const early = await caller.post(`${domains}/${id}/verify`);
	t.is(early.status, 409);
	t.regex(early.body.message, /No TXT record with the value/);
	refused(t, await caller.post(`${domains}/${id}/default`), {status: 409, message: 'The domain is not verified'});

	dns.setTxt(verification.name, verification.value);
	const verified = await caller.post(`${domains}/${id}/verify`);
	t.like(verified, {status: 200, body: {status: 'VERIFIED'}});
	const chosen = {...verified.body, isDefault: true};
	t.deepEqual((await caller.post(`${domains}/${id}/default`)).body, chosen);
	t.like((await viewer.caller.get(domains)).body, {total: 2, data: [chosen, {isDefault: false}]});
	t.deepEqual((await caller.delete(`${domains}/${id}`)).body, {id, deleted: true});
	t.like((await viewer.caller.get(domains)).body, {total: 1, data: [{isDefault: true}]});
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
