import test from 'ava';
import {runCli} from '../../cli/_run-cli.ts';
import {organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {clicked, iPhoneApp, network, open} from '../match/_phones.ts';
import {deliveriesOf, startReceiver, subscribed, untilTrue} from './_receiver.ts';

const service = serviceOf(test);

test('what deliveries hold of a person is exported and erased with them, and a waiting one is not sent', async (t) => {
	const {acme, receiver, path} = await subscribed(t, service, '*');
	const host = network();
	const tapped = await clicked(service, acme, host(1));
	const deviceId = 'device of "Ann"';
	t.true((await open(service, host(1), {...iPhoneApp, deviceId, clipboardToken: tapped.token}, acme)).body.matched);
	await acme.client.post('/sdk/session', {deviceId});
	await acme.client.post('/sdk/session', {deviceId: 'another-device'});
	await receiver.until(1, ({json}) => json.type === 'match.found');
	receiver.respond((response, {body}) => response.writeHead(500).end(body));
	await acme.client.post('/sdk/events', {deviceId, eventName: 'purchase'});
	await acme.client.post('/sdk/events', {deviceId: 'another-device', eventName: 'purchase'});
	const deliveries = () => deliveriesOf(service, path);
	const isTried = ({type, tries}: {type: string; tries: unknown[]}) => type === 'event.tracked' && tries.length === 1;
	await untilTrue(async () => (await deliveries()).filter(isTried).length === 2);
	const subject = `/admin/organizations/${acme.id}/devices/${encodeURIComponent(deviceId)}/data`;
	const {body: exported} = await admin(service).get(subject);
	t.true(exported.deliveries.length >= 2);
	t.true(exported.deliveries.every(({body}: {body: string}) => body.includes('Ann') || body.includes('click')));
	const {body: erased} = await admin(service).delete(subject);
	t.is(erased.erased.deliveries, exported.deliveries.length);
	const {rows} = await service.services.db.raw(
		`SELECT body, answer, status FROM endpoint_deliveries JOIN (SELECT delivery_id, answer FROM delivery_tries) AS tries ON delivery_id = id
		WHERE organization_id = ?`,
		[acme.id],
	);
	t.false(JSON.stringify(rows).includes('Ann'));
	const events = (await deliveries()).filter(({type}: {type: string}) => type === 'event.tracked');
	t.deepEqual(events.map(({status}: {status: string}) => status).toSorted(), ['FAILED', 'PENDING']);
});

test('the commands add, show, test, rotate, list, replay and delete an endpoint, and the secret is shown twice only', async (t) => {
	const acme = await organization(service);
	const receiver = await startReceiver(t);
	const env = {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken};
	const cli = (...argv: string[]) => runCli(['endpoints', ...argv, '--org', acme.orgKey], {env});
	const json = async (...argv: string[]) => JSON.parse((await cli(...argv, '--json')).stdout);
	t.regex((await cli('list')).stderr, /^None yet\. Next: oplink endpoints add/);
	const added = await cli('add', receiver.url, '--event', 'link.created', '--tag', 'spring', '--description', 'CRM');
	t.is(added.exitCode, 0);
	t.regex(added.stdout, /^secret +whsec_/m);
	t.regex(added.stderr, /shown this once/);
	const [{id}] = (await json('list')).data;
	t.false((await cli('show', id)).stdout.includes('whsec_'));
	t.deepEqual((await json('update', id, '--event', '*')).events, ['*']);
	t.is((await cli('update', id)).exitCode, 2);
	t.is((await cli('test', id)).exitCode, 0);
	receiver.respond((response) => response.writeHead(500).end());
	t.is((await cli('test', id)).exitCode, 1);
	t.regex((await cli('rotate', id, '--yes')).stdout, /whsec_/);
	const deliveries = await cli('deliveries', id);
	t.regex(deliveries.stdout, /endpoint\.test +DELIVERED +204/);
	t.is((await cli('replay', id)).exitCode, 2);
	const [{id: delivery}] = (await json('deliveries', id)).data;
	t.is((await json('replay', id, '--delivery', delivery)).replayed, 1);
	t.is((await json('replay', id, '--since', '2020-01-01T00:00:00Z')).replayed, 0);
	t.is((await cli('delete', id, '--yes')).exitCode, 0);
	t.is((await cli('show', id)).exitCode, 4);
});
