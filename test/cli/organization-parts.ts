import test from 'ava';
import {organization} from '../helpers/builders.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {ends} from './_run-cli.ts';
import {serviceCli} from './_service-cli.ts';

const {service, cli, json, onScreen} = serviceCli(test);

test('channels are listed, created, renamed and deleted by name, and an unknown one on a link lists them', async (t) => {
	const {orgKey} = await organization(service);
	const org = `--org ${orgKey}`;
	t.is((await json(`channels create newsletter ${org}`)).name, 'newsletter');
	t.is((await json(`channels update Newsletter --name post ${org}`)).name, 'post');
	t.regex((await cli(`channels list ${org}`)).stdout, /^post /m);
	ends(t, await cli(`links create --path /a --channel newsletter ${org}`), 1, {stderr: /^Next: Channels are .*post/m});
	t.is((await cli(`channels delete post --yes ${org}`)).exitCode, 0);
	t.is((await cli(`channels delete post --yes ${org}`)).exitCode, 4);
});

test('an empty list says what to do next', async (t) => {
	const {orgKey} = await organization(service);
	for (const [list, next] of [
		['templates list', 'None yet. Next: oplink templates create NAME --path /sale\n'],
		['match list', 'None yet. Next: oplink '],
		['domains unknown', 'None yet. Next: oplink '],
		['billing events --org', 'None yet. Next: oplink billing events without a filter'],
		['domains list', 'That is the shared domain. Next: oplink domains add'],
	] as const) {
		const {stderr} = await cli(`${list} ${orgKey}`);
		t.true(stderr.startsWith(next), stderr);
	}
});

test('templates are created, changed, shown and deleted by name, and links take them by name', async (t) => {
	const {orgKey} = await organization(service);
	const org = `--org ${orgKey}`;
	const {id} = await json(`templates create Spring --path sale --utm-campaign spring ${org}`);
	t.like(await json(`templates show spring ${org}`), {path: '/sale', utmCampaign: 'spring'});
	const opened = await json(`templates update Spring --open-field params --open-path /sale ${org}`);
	t.deepEqual(opened.clientCreate, {fields: ['params'], pathPrefix: '/sale'});
	t.false('clientCreate' in (await json(`templates update Spring --clear clientCreate ${org}`)));
	t.is((await json(`templates update Spring --name Easter ${org}`)).name, 'Easter');
	t.is((await cli(`templates update Easter ${org}`)).exitCode, 2);
	t.is((await json(`links create --template easter ${org}`)).templateId, id);
	t.is((await json(`links create --template-id ${id} ${org}`)).templateId, id);
	ends(t, await cli(`templates delete Easter --yes ${org}`), 5);
	t.regex((await cli(`templates list ${org}`)).stdout, /^Easter +\/sale +-$/m);
	ends(t, await cli(`templates show Winter ${org}`), 4, {stderr: /It has Easter/});
});

test('devices and events that an app reported are listed, and one device is shown', async (t) => {
	const {orgKey, client} = await organization(service);
	const org = `--org ${orgKey}`;
	t.is((await client.post('/sdk/session', {deviceId: 'device-0001', platform: 'iOS'})).status, 200);
	t.is((await client.post('/sdk/events', {deviceId: 'device-0001', eventName: 'purchase'})).status, 200);
	t.regex((await cli(`devices list ${org}`)).stdout, /device-0001 +iOS/);
	t.is((await json(`devices show device-0001 ${org}`)).deviceId, 'device-0001');
	t.is((await cli(`devices show device-0002 ${org}`)).exitCode, 4);
	t.regex((await cli(`events list ${org}`)).stdout, /purchase +device-0001/);
});

test('plan list fits 80 columns, and orgs show has used and limit', async (t) => {
	const {orgKey} = await organization(service);
	const {stdout} = await onScreen('plan list');
	t.regex(stdout, /^STARTER +\d/m);
	t.true(stdout.split('\n').every((line) => line.length <= 80));
	t.regex((await cli(`orgs show ${orgKey}`)).stdout, /^links {2,}0 of [\d,]+$/m);
});

test('keys show has an earlier key with its end, and keys revoke ends it at once', async (t) => {
	const acme = await organization(service);
	const org = `--org ${acme.orgKey}`;
	await cli(`keys regenerate CLIENT --yes ${org}`);
	const session = () => acme.client.post('/sdk/session', {deviceId: 'device-0001'});
	t.is((await session()).status, 200);
	const [earlier] = (await json(`keys show ${org}`)).earlier;
	t.true(acme.clientKey.startsWith(earlier.prefix));
	const {stdout} = await cli(`keys show ${org}`);
	t.true(stdout.includes(earlier.expiresAt) && stdout.includes(acme.serverKey), stdout);
	t.is((await cli(`keys revoke opl_sdk_nobodys_ --yes ${org}`)).exitCode, 4);
	t.is((await cli(`keys revoke ${acme.clientKey} --yes ${org}`)).exitCode, 0);
	t.is((await session()).status, 401);
	t.deepEqual((await json(`keys show ${org}`)).earlier, []);
	t.regex((await cli(`audit ${org}`)).stdout, /REVOKE +ApiKey/);
});

test('ORG is the first argument or --org, whichever the operator types', async (t) => {
	const {orgKey, id} = await organization(service, {plan: 'SCALE'});
	for (const [words, more] of [
		['keys show', ''],
		['app-config show', ''],
		['app kit', ' --for ios'],
		['domains list', ''],
		['domains unknown', ''],
		['audit', ''],
	] as const) {
		const {stdout} = await cli(`${words} --org ${id}${more} --json`);
		ends(t, await cli(`${words} ${orgKey}${more} --json`), 0, {stdout});
	}

	ends(t, await cli(`domains add ${orgKey} go.first.example`), 0);
	t.is((await json(`domains approve ${id} go.first.example`)).status, 'VERIFIED');
	t.deepEqual((await json(`domains unknown ${orgKey} go.first.example`)).data, []);
	t.is((await cli(`plan set ${orgKey} GROWTH`)).exitCode, 0);
	t.is((await json(`keys regenerate ${orgKey} SERVER --yes`)).tier, 'SERVER');
	for (const [line, exitCode] of [
		[`keys regenerate --org ${orgKey}`, 2],
		[`keys show ${orgKey} --org ${orgKey}`, 2],
		[`keys regenerate ${orgKey} SERVER more`, 2],
		['plan set Zz99 GROWTH', 4],
	] as const) {
		t.is((await cli(line)).exitCode, exitCode, line);
	}
});

const domain = {
	id: '3f0c6f0e-6f0c-4a55-9a53-0a8f3a0e9d11',
	hostname: 'go.acme.example',
	status: 'PENDING',
	isDefault: false,
	verification: {type: 'TXT', name: '_oplink.go.acme.example', value: 'oplink-verification=abc'},
};

const configured = {
	...domain,
	pathPrefixes: ['promos', 'links/share'],
	rootUrl: 'https://www.acme.example/',
	unknownCodes: {url: 'https://old.example.link/{code}'},
};
const path = `/admin/organizations/Ab12/domains/${domain.id}`;

test('domains set sends exactly what is given, and shows the settings', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {[`PATCH ${path}`]: {body: configured}});
	const set = (flags = '') => cli(`domains set --org Ab12 ${domain.id}${flags}`);
	const prefixes = ' --path-prefix promos --path-prefix links/share';
	ends(t, await set(`${prefixes} --unknown-codes https://old.example.link/{code}`), 0, {
		stdout: /path prefixes +promos, links\/share\nroot +https:\/\/www\.acme\.example\/\nunknown codes +https:/,
	});
	t.is((await set(' --root-url https://www.acme.example/ --clear pathPrefixes')).exitCode, 0);
	const bodies = requests.map(({body}) => body);
	t.deepEqual(bodies, [
		{pathPrefixes: ['promos', 'links/share'], unknownCodes: {url: 'https://old.example.link/{code}'}},
		{pathPrefixes: null, rootUrl: 'https://www.acme.example/'},
	]);
	t.is((await set()).exitCode, 2);
	t.is((await set(' --clear hostname')).exitCode, 2);
	t.is(requests.length, 2);
});

test('domains list and show have settings where a domain has some, and no word of them elsewhere', async (t) => {
	const answers = [[domain], [domain, configured]];
	const {cli} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/domains': () => ({body: pageOf(answers.shift() ?? [configured], {limit: 100})}),
	});
	t.regex((await cli('domains list --org Ab12')).stdout, /^ID +HOSTNAME +STATUS +DEFAULT *\n/);
	t.regex((await cli('domains list --org Ab12')).stdout, /DEFAULT +PATH PREFIXES +ROOT +UNKNOWN CODES/);
	ends(t, await cli('domains show --org Ab12 go.acme.example'), 0, {
		stdout: /root +https:\/\/www\.acme\.example\/\n(.*\n)?record +TXT _oplink\.go\.acme\.example oplink-ver/m,
	});
});

test('domains unknown lists the codes of all custom domains, most visits first', async (t) => {
	const shared = {...domain, id: 'shared', hostname: 'links.example.com', verification: null};
	const other = {...domain, id: 'other', hostname: 'two.acme.example'};
	const lastAt = '2026-03-10T12:00:00.000Z';
	const codes = (...data: object[]) => ({body: pageOf(data, {limit: 20})});
	const {cli} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12/domains': {body: pageOf([domain, other, shared], {limit: 100})},
		[`GET ${path}/unknown-codes`]: () => codes({code: 'old', count: 2, lastAt}, {code: null, count: 1, lastAt}),
		'GET /admin/organizations/Ab12/domains/other/unknown-codes': () => codes({code: 'x', count: 9, lastAt}),
	});
	ends(t, await cli('domains unknown --org Ab12'), 0, {
		stdout: /^CODE +VISITS +LAST +HOSTNAME *\nx +9 .*two\.acme\.example\nold +2 .*\n\(further codes\) +1 /,
	});
	const one = await cli('domains unknown --org Ab12 go.acme.example --json');
	t.is(JSON.parse(one.stdout).data[0].hostname, 'go.acme.example');
});
