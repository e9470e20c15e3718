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

const idp = startedFor(test, () => startIdentityProvider());

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

/** A file in a folder of the test's own. */
const stateFileOf = (t: ExecutionContext): string => {
	const folder = mkdtempSync(path.join(tmpdir(), 'oplink-idp-'));
	t.teardown(() => rmSync(folder, {recursive: true}));
	return path.join(folder, 'state.json');
};

test('events are delivered in order, signed, and then leave the queue', async (t) => {
	const service = await receiver(t);
	const user = idp.user({email: 'mona@acme.test'});
	const organization = idp.organization({createdBy: user});
	const events = idp.eventsAbout(user, organization);
	const deliveries = await idp.deliver(service, ...events);
	t.deepEqual(
		deliveries.map(({event, status}) => [event.type, status]),
		[
			['user.created', 200],
			['organization.created', 200],
			['organizationMembership.created', 200],
		],
	);
	t.deepEqual(idp.eventsAbout(user, organization), []);
	for (const {path, headers, body} of service.received) {
		t.is(path, '/webhooks/idp');
		const verified = new Webhook(idp.env.IDP_WEBHOOK_SECRET).verify(body, headers);
		t.deepEqual(Object.keys(verified as object).toSorted(), [
			'data',
			'event_attributes',
			'instance_id',
			'object',
			'timestamp',
			'type',
		]);
	}
});

test('the data of each event has the fields that the provider documents', (t) => {
	const dataOf = (type: string, id: string) => {
		const event = idp.events.find((each) => each.type === type && each.body.includes(id));
		return JSON.parse(event?.body ?? '{}').data;
	};
	const user = idp.user({email: 'Mona@acme.test', emailVerified: false});
	const organization = idp.organization({name: 'Acme', createdBy: user});
	idp.updateMember(organization, user, {role: 'owner'});
	idp.updateUser(user, {lastName: 'Lisa'});
	idp.updateOrganization(organization, {name: 'Acme Two'});
	idp.removeMember(organization, user);
	idp.deleteOrganization(organization);
	t.like(dataOf('user.created', user.id), {
		id: user.id,
		primary_email_address_id: user.email_addresses[0]?.id,
		email_addresses: [{email_address: 'Mona@acme.test', verification: {status: 'unverified'}}],
		last_name: null,
	});
	t.is(dataOf('user.updated', user.id).last_name, 'Lisa');
	t.like(dataOf('organization.created', organization.id), {name: 'Acme', slug: null, created_by: user.id});
	t.is(dataOf('organization.updated', organization.id).name, 'Acme Two');
	t.deepEqual(dataOf('organization.deleted', organization.id), {
		object: 'organization',
		id: organization.id,
		slug: null,
		deleted: true,
	});
	const created = dataOf('organizationMembership.created', user.id);
	t.like(created, {
		role: 'org:admin',
		public_metadata: {},
		organization: {id: organization.id, created_by: user.id},
		public_user_data: {user_id: user.id, identifier: 'Mona@acme.test'},
	});
	const updated = dataOf('organizationMembership.updated', user.id);
	t.deepEqual(updated.public_metadata, {role: 'owner'});
	t.true(updated.updated_at > created.updated_at);
	t.is(dataOf('organizationMembership.deleted', user.id).id, created.id);
});

test('an event that is delivered again has the same id and body', async (t) => {
	const service = await receiver(t);
	const user = idp.user();
	const [event] = idp.eventsAbout(user);
	t.truthy(event);
	if (event !== undefined) {
		await idp.deliverTogether(service, event, event);
		await idp.deliver(service, event);
	}

	t.is(service.received.length, 3);
	t.is(new Set(service.received.map(({headers}) => headers['svix-id'])).size, 1);
	t.is(new Set(service.received.map(({body}) => body)).size, 1);
});

test('an event of any type and content can be made, dated and signed with another secret', (t) => {
	const event = idp.event('organization.deleted', {object: 'organization', deleted: true});
	const verify = (headers: Record<string, string>) =>
		new Webhook(idp.env.IDP_WEBHOOK_SECRET).verify(event.body, headers) as {type: string};
	t.is(verify(idp.sign(event)).type, 'organization.deleted');
	t.throws(() => verify(idp.sign(event, {at: new Date(Date.now() - 301_000)})), {message: /too old/});
	t.throws(() => verify(idp.sign(event, {secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}`})), {
		message: /No matching signature/,
	});
});

test('timestamps are those of the clock that was passed in', async (t) => {
	const clock = createFakeClock();
	const provider = await startIdentityProvider({clock});
	t.teardown(provider.stop);
	provider.user();
	const [event] = provider.events;
	t.is(JSON.parse(event?.body ?? '').timestamp, clock.now().getTime());
	t.is(provider.sign({id: 'msg_2x', body: ''})['svix-timestamp'], String(clock.now().getTime() / 1000));
});

test('deleting an account or an organization ends its memberships, with events if the instance sends them', async (t) => {
	const provider = await startIdentityProvider({settings: {sendsMembershipsOfDeleted: true}});
	t.teardown(provider.stop);
	const user = provider.user();
	const [first, second] = [provider.organization(), provider.organization()];
	provider.member({organization: first, user});
	provider.member({organization: second, user});
	provider.events.length = 0;
	provider.deleteOrganization(first);
	provider.deleteUser(user);
	t.deepEqual(
		provider.events.map(({type}) => type),
		['organization.deleted', 'organizationMembership.deleted', 'organizationMembership.deleted', 'user.deleted'],
	);
});

test('in development webhooks are delivered as things happen, also after a refusal, and a token waits for them', async (t) => {
	let status = 500;
	const service = await receiver(t, () => {
		const answer = status;
		status = 200;
		return answer;
	});
	const {
		idp: provider,
		delivery,
		stop,
	} = await startDevelopment({
		port: 0,
		webhookUrl: `${service.url}/webhooks/idp`,
		stateFile: stateFileOf(t),
		say: () => undefined,
	});
	t.teardown(stop);
	await delivery.settle(10);
	t.deepEqual(
		delivery.attempts.slice(0, 2).map((attempt) => [attempt.type, attempt.status]),
		[
			['organization.created', 500],
			['organization.created', 200],
		],
	);
	const get = async (path: string) => (await fetch(`${provider.url}${path}`)).text();
	const claims = async (query: string) =>
		JSON.parse(Buffer.from((await get(`/dev/token?${query}`)).split('.')[1] ?? '', 'base64url').toString());
	const signedUp = await claims('user=new@acme.test&ttl=3600');
	t.true(
		service.received.some(({body}) => body.includes(signedUp.sub)),
		'the sign-up is known when the token is there',
	);
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
	const options = {
		port: 0,
		webhookUrl: `${service.url}/webhooks/idp`,
		stateFile: stateFileOf(t),
		say: () => undefined,
	};
	const before = await startDevelopment(options);
	const mona = before.idp.user({email: 'mona@acme.test'});
	const organization = before.idp.organization({name: 'Mona Inc', createdBy: mona});
	await before.delivery.settle(10);
	await before.stop();
	service.received.length = 0;

	const after = await startDevelopment(options);
	t.teardown(after.stop);
	await after.delivery.settle(10);
	t.is(after.idp.directory.organizations.get(organization.id)?.name, 'Mona Inc');
	const sent = service.received.map(({body}) => body).filter((body) => body.includes(mona.id));
	t.deepEqual(
		sent.map((body) => JSON.parse(body).type),
		['organization.created', 'user.created', 'organizationMembership.created'],
	);
});
