import {mkdtempSync, readFileSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import test from 'ava';
import {bodyLimits, limitOfPlan, limits} from '../../../src/platform/config/limits.ts';
import {packageRoot} from '../../../src/platform/package-root.ts';
import {organization, type TestOrganization} from '../../helpers/builders.ts';
import {admin, send} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'oplink-plans-'));
const PLANS_FILE = path.join(folder, 'plans.json');
const plans = JSON.parse(readFileSync(path.join(packageRoot, 'config', 'plans.json'), 'utf8'));
const few = {
	sdkDevices: {max: 3, seconds: 10},
	linkReads: {max: 2, seconds: 60},
	sdkDeviceLinks: {max: 1, seconds: 60},
};
writeFileSync(PLANS_FILE, JSON.stringify({...plans, FEW: {...plans.SCALE, limits: few}}));
test.after.always(() => rmSync(folder, {recursive: true}));

const service = serviceOf(test, {PLANS_FILE});

/** How many of so many requests at once are refused, and the longest wait that they name. */
const refused = async (count: number, request: () => Promise<{status: number; text: string}>) => {
	const answers = await Promise.all(Array.from({length: count}, request));
	const waits = answers.flatMap(({text}) => Number(/Retry after (\d+) second/.exec(text)?.[1] ?? 0) || []);
	return {count: answers.filter(({status}) => status === 429).length, longest: Math.max(0, ...waits)};
};

const session = ({client}: TestOrganization) => client.post('/sdk/session', {deviceId: 'device-0001'});
const list = ({server}: TestOrganization) => server.get('/links');
const figure = ({orgKey}: TestOrganization, limit: string) =>
	`oplink_refused_requests_last_day{organization="${orgKey}",limit="${limit}"}`;

test.serial('a plan may set limits of its keys; what it leaves out stays, and so do other plans', async (t) => {
	const [acme, usual] = [await organization(service, {plan: 'FEW'}), await organization(service, {plan: 'SCALE'})];
	t.deepEqual(await refused(5, () => session(acme)), {count: 2, longest: 10});
	t.deepEqual(await refused(5, () => list(acme)), {count: 3, longest: 60});
	t.is((await acme.server.get('/links/x')).status, 429, 'all reads share a window');
	t.is((await refused(5, () => session(usual))).count, 0);
	t.is((await refused(5, () => list(usual))).count, 0);
	t.is((await refused(5, () => acme.client.post('/sdk/events', {}))).count, 0);
	const invite = {deviceId: 'device-0001', template: 'invite'};
	t.is((await refused(3, () => acme.client.post('/sdk/links', invite))).count, 2);

	await acme.operator.put('/plan', {plan: 'SCALE'});
	t.is((await refused(5, () => list(acme))).count, 0);
});

test.serial('doctor and /metrics name who was refused in the last day, by which limit', async (t) => {
	const scrape = async () => (await send(service.url, 'GET', '/metrics')).text;
	const findings = async () =>
		(await admin(service).get('/admin/doctor')).body.findings.filter(
			({check}: {check: string}) => check === 'limits.refused',
		);
	const [acme, quiet] = [await organization(service, {plan: 'FEW'}), await organization(service, {plan: 'FEW'})];
	await refused(7, () => session(acme));
	await session(quiet);
	await refused(6, () => acme.client.post('/sdk/links', {deviceId: 'device-0001', template: 'invite'}));
	const text = await scrape();
	t.true(text.includes(`${figure(acme, 'sdkDevices')} 4\n`));
	t.true(text.includes(`${figure(acme, 'sdkDeviceLinks')} 5\n`));
	t.false(text.includes(`organization="${quiet.orgKey}"`));
	const own = (await findings()).filter(({message}: {message: string}) => message.startsWith(acme.orgKey));
	t.deepEqual(own[1], {
		area: 'Limits',
		check: 'limits.refused',
		status: 'warn',
		message: `${acme.orgKey}: the limit sdkDevices refused 4 requests in the last day`,
		next: 'Send fewer requests, or set limits.sdkDevices of FEW in PLANS_FILE',
	});

	service.clock.advance(12 * 3600);
	await refused(4, () => session(acme));
	t.true((await scrape()).includes(`${figure(acme, 'sdkDevices')} 5\n`));
	service.clock.advance(12 * 3600);
	t.true((await scrape()).includes(`${figure(acme, 'sdkDevices')} 1\n`));
	service.clock.advance(13 * 3600);
	t.false((await scrape()).includes('oplink_refused_requests_last_day'));
	t.deepEqual(await findings(), []);
});

test('the limits are those of the contract', (t) => {
	const all = Object.values({...limits, ...bodyLimits});
	const found = all.map(({name, max, windowSeconds, per}) => `${name}: ${max} in ${windowSeconds} s per ${per}`);
	t.deepEqual(found, [
		'resolution: 500 in 1 s per ip',
		'match: 30 in 60 s per ip',
		'linkReads: 1000 in 1 s per key',
		'linkWrites: 100 in 1 s per key',
		'sdkDevices: 60 in 60 s per key',
		'sdkEvents: 600 in 60 s per key',
		'sdkLinks: 600 in 60 s per key',
		'portal: 30 in 1 s per ip',
		'documents: 10 in 1 s per ip',
		'webhooks: 100 in 1 s per ip',
		'reports: 5 in 3600 s per ip',
		'regenerateKey: 5 in 3600 s per ip',
		'sdkDeviceLinks: 20 in 60 s per device',
	]);
});

test('a limit of a plan has windows of its own', (t) => {
	const own = {sdkDevices: {max: 900, seconds: 30}};
	t.not(limitOfPlan(limits.sdkDevices, own).name, limits.sdkDevices.name);
	t.is(limitOfPlan(limits.sdkEvents, own), limits.sdkEvents);
});
