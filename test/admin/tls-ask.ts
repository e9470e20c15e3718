import test from 'ava';
import {organization} from '../helpers/builders.ts';
import {admin, anonymous, send} from '../helpers/callers.ts';
import {startService, type TestService} from '../helpers/service.ts';

let service: TestService;
test.before(async () => {
	service = await startService({LINK_DOMAIN: 'go.oplink.test', PUBLIC_URL: 'https://api.oplink.test'});
});
test.after.always(() => service?.stop());

const domainOf = async (hostname: string, ...actions: string[]) => {
	const org = await organization(service);
	const operator = admin(service);
	const {body} = await operator.post(`/admin/organizations/${org.id}/domains`, {hostname});
	for (const action of actions) {
		await operator.post(`/admin/organizations/${org.id}/domains/${body.id}/${action}`);
	}

	return {org, operator};
};

/** As a proxy on this machine asks, for itself. */
const ask = async (domain: string, host = '127.0.0.1'): Promise<number> =>
	(await send(service.url, 'GET', `/internal/tls/ask?domain=${domain}`, {Host: host})).status;

test('certificates are allowed for verified domains of active organizations, and for nothing else', async (t) => {
	const {org, operator} = await domainOf('tls1.acme.test', 'approve');
	await domainOf('tls2.acme.test');
	await domainOf('tls3.acme.test', 'approve', 'reject');
	t.is(await ask('tls1.acme.test'), 200);
	t.is(await ask('TLS1.acme.test.'), 200);
	for (const other of [
		'tls2.acme.test',
		'tls3.acme.test',
		'sub.tls1.acme.test',
		'unknown.acme.test',
		'127.0.0.1',
		'',
	]) {
		t.is(await ask(other), 404, other);
	}

	await operator.post(`/admin/organizations/${org.id}/suspend`);
	t.is(await ask('tls1.acme.test'), 404);
	await operator.post(`/admin/organizations/${org.id}/activate`);
	t.is(await ask('tls1.acme.test'), 200);
});

test('a proxy may ask under whatever host it was asked for', async (t) => {
	await domainOf('tls4.acme.test', 'approve');
	t.is(await ask('tls4.acme.test', 'tls4.acme.test'), 200);
	t.is(await ask('tls4.acme.test', 'go.oplink.test'), 200);
});

test('whoever is forwarded gets 404, unless it is the operator', async (t) => {
	const {operator} = await domainOf('tls5.acme.test', 'approve');
	const path = '/internal/tls/ask?domain=tls5.acme.test';
	const stranger = await anonymous(service).get(path);
	t.is(stranger.status, 404);
	t.is(stranger.body.message, 'Not found');
	t.is((await operator.get(path)).status, 200);
});
