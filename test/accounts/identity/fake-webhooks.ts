import {mkdtempSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import type {AddressInfo} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {text} from 'node:stream/consumers';
import test, {type ExecutionContext} from 'ava';
import {Webhook} from 'svix';
import {startDevelopment} from '../../fakes/identity-provider/development.ts';
import {startIdentityProvider} from '../../fakes/identity-provider/identity-provider.ts';
import {createFakeClock} from '../../helpers/service.ts';
import {startedFor} from '../../helpers/started.ts';

type Received = {path: string | undefined; headers: Record<string, string>; body: string};

const clock = createFakeClock();
const idp = startedFor(test, () => startIdentityProvider({clock}));

/** A service that stores what it receives and answers with `status()`. */
const receiver = async (t: ExecutionContext, status = () => 200) => {
	const received: Received[] = [];
	const server = createServer(async (request, response) => {
		const body = await text(request);
		received.push({path: request.url, headers: request.headers as Record<string, string>, body});
		response.writeHead(status()).end('{}');
	});
	await new Promise<void>((resolve) => {
		server.listen(0, '127.0.0.1', resolve);
	});
	t.teardown(() => server.close());
	return {url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received};
};

/** The development of a provider whose webhooks go to a service, with a file of the test's own. */
const developmentFor = (t: ExecutionContext, service: {url: string}) => {
	const folder = mkdtempSync(path.join(tmpdir(), 'oplink-idp-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	const stateFile = path.join(folder, 'state.json');
	return () => startDevelopment({port: 0, webhookUrl: `${service.url}/webhooks/idp`, stateFile, say: () => undefined});
};

test('events are delivered in order, signed and dated by the clock, leave the queue, and are the same again', async (t) => {
	const service = await receiver(t);
	const user = idp.user({email: 'mona@acme.test'});
	const organization = idp.organization({createdBy: user});
	const events = idp.eventsAbout(user, organization);
	const deliveries = await idp.deliver(service, ...events);
	const found = deliveries.map(({event, status}) => [event.type, status]);
	t.deepEqual(found, [
		['user.created', 200],
		['organization.created', 200],
		['organizationMembership.created', 200],
	]);
	t.deepEqual(idp.eventsAbout(user, organization), []);
	await idp.deliverTogether(service, ...events);
	t.is(service.received.length, 6);
	t.is(new Set(service.received.map(({headers, body}) => `${headers['svix-id']} ${body}`)).size, 3);
	for (const {path, headers, body} of service.received) {
		t.is(path, '/webhooks/idp');
		const id = headers['svix-id'] ?? '';
		t.is(headers['svix-timestamp'], String(clock.now().getTime() / 1000));
		t.is(headers['svix-signature'], new Webhook(idp.env.IDP_WEBHOOK_SECRET).sign(id, clock.now(), body));
		const {timestamp, ...event} = JSON.parse(body);
		t.is(timestamp, clock.now().getTime());
		t.deepEqual(Object.keys(event).toSorted(), ['data', 'event_attributes', 'instance_id', 'object', 'type']);
	}
});

test('in development webhooks are delivered as things happen, also after a refusal, and a token waits for them', async (t) => {
	const statuses = [500];
	const service = await receiver(t, () => statuses.pop() ?? 200);
	const {idp: provider, delivery, stop} = await developmentFor(t, service)();
	t.teardown(stop);
	await delivery.settle(10);
	const found = delivery.attempts.slice(0, 2).map((attempt) => [attempt.type, attempt.status]);
	t.deepEqual(found, [
		['organization.created', 500],
		['organization.created', 200],
	]);
	const get = async (path: string) => (await fetch(`${provider.url}${path}`)).text();
	const claims = async (query: string) =>
		JSON.parse(Buffer.from((await get(`/dev/token?${query}`)).split('.')[1] ?? '', 'base64url').toString());
	const signedUp = await claims('user=new@acme.test&ttl=3600');
	const isKnown = service.received.some(({body}) => body.includes(signedUp.sub));
	t.true(isKnown, 'the sign-up is known when the token is there');
	t.is(signedUp.exp - signedUp.iat, 3600);
	t.like(await claims('role=analyst'), {email: 'analyst@acme.test', org_metadata: {role: 'analyst'}});
	t.is((await claims('org=ops')).o.id, provider.env.OPS_ORG_ID);
	t.regex(await get('/env'), /^export IDP_ISSUER='http:\/\/127\.0\.0\.1:\d+'\n/);

	const before = service.received.length;
	delivery.hold();
	provider.updateUser(signedUp.sub, {firstName: 'Ana'});
	t.is(delivery.waiting().length, 1);
	delivery.release();
	await delivery.settle(10);
	t.is(service.received.length, before + 1);
});

test('in development records survive a restart and are sent again', async (t) => {
	const service = await receiver(t);
	const development = developmentFor(t, service);
	const before = await development();
	const mona = before.idp.user({email: 'mona@acme.test'});
	const organization = before.idp.organization({name: 'Mona Inc', createdBy: mona});
	await before.delivery.settle(10);
	await before.stop();
	service.received.length = 0;

	const after = await development();
	t.teardown(after.stop);
	await after.delivery.settle(10);
	t.is(after.idp.directory.organizations.get(organization.id)?.name, 'Mona Inc');
	const found = service.received.filter(({body}) => body.includes(mona.id)).map(({body}) => JSON.parse(body).type);
	t.deepEqual(found, ['organization.created', 'user.created', 'organizationMembership.created']);
});
