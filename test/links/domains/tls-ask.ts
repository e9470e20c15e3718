import test from 'ava';
import {anonymous, send} from '../../helpers/callers.ts';
import {domainStage, freshHost} from './_domains.ts';

const {stage, setup} = domainStage(test);

/** As a proxy on this machine asks, for itself. */
const ask = async (domain: string, host = '127.0.0.1'): Promise<number> =>
	(await send(stage.service.url, 'GET', `/internal/tls/ask?domain=${domain}`, {Host: host})).status;

test('certificates are allowed for verified domains of active organizations, and for nothing else', async (t) => {
	const {org, operator, add, act, approved} = await setup();
	const {hostname} = await approved();
	const [pending, rejected] = [await add(), await add()];
	await act(rejected.id, 'reject');
	t.is(await ask(hostname), 200);
	t.is(await ask(`${hostname.toUpperCase()}.`), 200);
	for (const other of [pending.hostname, rejected.hostname, `sub.${hostname}`, freshHost(), '127.0.0.1', '']) {
		t.is(await ask(other), 404, other);
	}

	await operator.post(`/admin/organizations/${org.id}/suspend`);
	t.is(await ask(hostname), 404);
	await operator.post(`/admin/organizations/${org.id}/activate`);
	t.is(await ask(hostname), 200);
});

test('a proxy may use an address, a single-label name or a private name, but not a public name', async (t) => {
	const {hostname} = await (await setup()).approved();
	const machines = ['localhost:3000', '127.0.0.1', '10.0.0.7:3000', '[::1]:3000', 'oplink:3000', 'oplink.default.svc'];
	for (const host of machines) {
		t.is(await ask(hostname, host), 200, host);
	}

	for (const host of [hostname, 'go.oplink.test', 'api.oplink.test', 'evil.example', '..']) {
		t.is(await ask(hostname, host), 404, host);
	}
});

test('a forwarded caller gets 404, whatever header says so, unless it is the operator', async (t) => {
	const {operator, approved} = await setup();
	const path = `/internal/tls/ask?domain=${(await approved()).hostname}`;
	for (const name of ['Forwarded', 'Via', 'X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Real-IP', 'CF-Connecting-IP']) {
		for (const one of [path, '/metrics']) {
			t.is((await send(stage.service.url, 'GET', one, {[name]: 'x'})).status, 404, name);
		}
	}

	const stranger = await anonymous(stage.service).get(path);
	t.is(stranger.status, 404);
	t.is(stranger.body.message, 'Not found');
	t.is((await operator.get(path)).status, 200);
});
