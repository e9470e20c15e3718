import test from 'ava';
import type {LinkData, MatchFound} from '../../src/client/oplink.ts';
import {link, organization} from '../helpers/builders.ts';
import {serviceOf} from '../helpers/service.ts';
import {type Fate, faultyServer, session, updatesOf} from './_faulty-server.ts';
import {oplinkOf} from './_oplink-of.ts';

const service = serviceOf(test);

const minimumVersion = {ios: '2.10.0', android: 210};
const plain: LinkData = {linkId: '5f0c1f5e-8a58-4a0c-9a43-0d9c2b1b7a10', path: '/sale', params: {}};
const newer: LinkData = {...plain, minimumVersion};
const found: MatchFound = {matched: true, matchMethod: 'CLIPBOARD', matchConfidence: 'exact', ...newer};
const data: Fate = {status: 200, body: newer};

const iOS = {deviceId: 'device-0001', platform: 'iOS', appVersion: '2.9.1'} as const;

test('a first open is compared before its link is handed over, which it is all the same', async (t) => {
	const {oplink} = await faultyServer(t, [session, {status: 200, body: found}]);
	const received: unknown[] = [];
	oplink.onLink((...given) => void received.push(given));
	oplink.onUpdateRequired((one) => void received.push(one));
	await oplink.start(iOS);
	t.deepEqual(received, [{minimumVersion: '2.10.0', link: newer}, [newer, found]]);
});

test('a link that was resolved before the app is known is compared then, once', async (t) => {
	const {oplink} = await faultyServer(t, [data, session, session]);
	await oplink.resolve('Ab12', 'sale');
	await oplink.session(iOS);
	await oplink.session(iOS);
	const required = updatesOf(oplink);
	await null;
	t.deepEqual(required, [{minimumVersion: '2.10.0', link: newer}]);
});

test('a link without a minimum version asks nothing, and a failing listener or answer harms nobody', async (t) => {
	const none: Fate = {status: 200, body: 'null'};
	const {oplink, log} = await faultyServer(t, [session, {status: 200, body: plain}, data, none, none]);
	let calls = 0;
	oplink.onUpdateRequired(() => {
		calls += 1;
		throw new Error('listener');
	});
	await oplink.session(iOS);
	t.deepEqual(await oplink.resolve('Ab12', 'plain'), plain);
	t.is(calls, 0);
	t.deepEqual(await oplink.resolve('Ab12', 'sale'), newer);
	t.is(calls, 1);
	const messages = log.map(({message}) => message);
	t.deepEqual(messages, ['oplink: an update listener failed']);
	t.is(await oplink.resolve('Ab12', 'sale'), null as never);
	t.is(await oplink.match(), null as never);
});

test('a link of the server that needs a newer app is found by its data', async (t) => {
	const acme = await organization(service);
	const made = await link(acme, {minimumVersion});
	const {oplink} = oplinkOf(service, acme);
	const required = updatesOf(oplink);
	await oplink.start({deviceId: 'device-0001', platform: 'Android', appVersionCode: 7});
	const resolved = await oplink.resolve(acme.orgKey, made.shortCode);
	t.deepEqual(resolved, {linkId: made.id, path: '/sale', params: {}, minimumVersion});
	t.deepEqual(required, [{minimumVersion: 210, link: resolved}]);
});
