import test from 'ava';
import {organization} from '../../helpers/builders.ts';
import {admin, anonymous, send} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test, {LINK_DOMAIN: 'go.oplink.test', PUBLIC_URL: 'https://api.oplink.test'});

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

test('a proxy may use an address, a single-label name or a private name, but not a public name', async (t) => {
	await domainOf('tls4.acme.test', 'approve');
	for (const host of [
		'localhost:3000',
		'127.0.0.1',
		'10.0.0.7:3000',
		'[::1]:3000',
		'oplink:3000',
		'oplink.default.svc',
	]) {
		t.is(await ask('tls4.acme.test', host), 200, host);
	}

	for (const host of ['tls4.acme.test', 'go.oplink.test', 'api.oplink.test', 'evil.example', '..']) {
		t.is(await ask('tls4.acme.test', host), 404, host);
	}
});

test('a proxy that says by any header that it forwards gets 404', async (t) => {
	await domainOf('tls6.acme.test', 'approve');
	for (const name of ['Forwarded', 'Via', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Real-IP', 'CF-Connecting-IP']) {
		for (const path of ['/internal/tls/ask?domain=tls6.acme.test', '/metrics']) {
			t.is((await send(service.url, 'GET', path, {[name]: 'x'})).status, 404, name);
		}
	}
});

test('a forwarded caller gets 404, unless it is the operator', async (t) => {
	const {operator} = await domainOf('tls5.acme.test', 'approve');
	const path = '/internal/tls/ask?domain=tls5.acme.test';
	const stranger = await anonymous(service).get(path);
	t.is(stranger.status, 404);
	t.is(stranger.body.message, 'Not found');
	t.is((await operator.get(path)).status, 200);
});
