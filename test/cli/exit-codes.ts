import test from 'ava';
import {reportError} from '../../src/cli/report-error.ts';
import {OplinkConnectionError} from '../../src/client/errors.ts';
import {
	clickStoreUnavailable,
	domainNotVerified,
	domainRecordMissing,
	type HttpError,
	organizationHasSubscription,
	organizationNameTaken,
	organizationNotFound,
	shortCodeTaken,
	unknownPlan,
} from '../../src/platform/errors.ts';
import {closedAddress, pageOf, startRecordingServer} from './_recording-server.ts';
import {ends, runCli} from './_run-cli.ts';

const answerOf = ({status, code, message}: HttpError) => ({
	status,
	headers: {'X-Error-Code': code},
	body: {statusCode: status, message},
});

for (const [status, code, exitCode, next] of [
	[400, '', 1],
	[401, '', 3, /OPLINK_ADMIN_TOKEN/],
	[402, 'PLAN_NOT_SELECTED', 6, /oplink plan set/],
	[402, 'QUOTA_EXCEEDED', 6, /oplink plan set/],
	[403, '', 3, /SERVER key/],
	[403, 'FEATURE_NOT_AVAILABLE', 6, /oplink plan set/],
	[404, '', 4],
	[409, '', 5],
	[422, 'USE_BILLING_FLOW', 6],
	[428, 'APP_CONFIG_REQUIRED', 6, /oplink app-config set/],
	[429, '', 1],
	[500, '', 1],
] satisfies Array<[number, string, number, RegExp?]>) {
	test(`${status} ${code || 'without a code'} ends with ${exitCode} and one clear line`, async (t) => {
		const body = {statusCode: status, message: 'It is refused', requestId: 'request-7', ...(code ? {code} : {})};
		const {cli} = await startRecordingServer(t, {'GET /admin/organizations/Ab12': {status, body}});
		const {stderr} = ends(t, await cli('orgs show Ab12 --json'), exitCode, {stdout: ''});
		const [first, second, third] = stderr.split('\n');
		t.deepEqual([first, second], ['Error: It is refused', 'Request id: request-7']);
		t.regex(third ?? '', next ?? /^$/);
	});
}

test('a refusal that the operator can fix has a next step', async (t) => {
	const {cli} = await startRecordingServer(t, {
		'GET /admin/organizations/Acme/api-keys': () => answerOf(organizationNotFound()),
		'DELETE /admin/organizations/Ab12': () => answerOf(organizationHasSubscription()),
		'PUT /admin/organizations/Ab12/plan': () => answerOf(unknownPlan('BOGUS')),
		'GET /admin/organizations/Ab12/domains': {body: pageOf([{id: 'd', hostname: 'go.acme.example'}])},
		'POST /admin/organizations/Ab12/domains/d/verify': () => answerOf(domainRecordMissing('_oplink.x', 'y', [])),
		'POST /admin/organizations/Ab12/domains/d/default': () => answerOf(domainNotVerified()),
		'POST /admin/organizations': () => answerOf(organizationNameTaken('Acme')),
		'POST /admin/organizations/Ab12/links': () => answerOf(shortCodeTaken('sale')),
		'GET /admin/status': {status: 404, body: {error: 'no such page'}},
	});
	const plans = 'STARTER, SOLO, GROWTH, SCALE, ENTERPRISE, none, or those in PLANS_FILE';
	for (const [line, exitCode, next] of [
		['domains verify Ab12 go.acme.example', 5, /\nNext: Set that TXT record .* dig \+short/],
		['domains default Ab12 go.acme.example', 5, /\nNext: Verify the domain: oplink domains verify DOMAIN/],
		['keys show --org Acme', 4, /\nNext: .*oplink orgs list --search/],
		['orgs delete Ab12 --yes', 5, /\nNext: Cancel it at once, .* with oplink plan set --org ORG none/],
		['plan set --org Ab12 BOGUS', 1, new RegExp(`\\nNext: Plans are ${plans}`)],
		['orgs create --name Acme', 5, /\nNext: Choose another name; oplink orgs list --search TEXT shows/],
		[
			'links create --path /a --short-code sale --org Ab12',
			5,
			/\nNext: Choose another short code, .* links list --search TEXT/,
		],
		['status', 1, /\nNext: Check the address of the server/],
	] as const) {
		ends(t, await cli(line), exitCode, {stderr: next});
	}
});

test("without the header of the code, as behind a proxy that removes it, a refusal's status has the next step", async (t) => {
	const {cli} = await startRecordingServer(t, {
		'GET /admin/status': {...answerOf(clickStoreUnavailable()), headers: {}},
		'GET /admin/organizations/Ab12/stats': () => answerOf(clickStoreUnavailable()),
	});
	t.regex((await cli('status')).stderr, /\nNext: Run oplink doctor to see what is unavailable/);
	t.regex((await cli('stats --org Ab12')).stderr, /\nNext: The ClickHouse of CLICKS_URL/);
});

test('if no plan of the server is larger, the next step says so', async (t) => {
	const quotas = {links: 10, clicks: 10, members: 10, domains: 1};
	const plan = (name: string, domains: number) => ({plan: name, features: {}, quotas: {...quotas, domains}});
	const path = '/admin/organizations/Ab12/domains';
	const refusal = {message: "You've reached your domains limit.", code: 'QUOTA_EXCEEDED', quota: 'domains', path};
	const {cli} = await startRecordingServer(t, {
		[`POST ${path}`]: {status: 402, body: {statusCode: 402, ...refusal}},
		'GET /admin/organizations/Ab12': {body: {plan: 'WIDE'}},
		'GET /portal/billing/pricing': {body: [plan('NARROW', 1), plan('WIDE', 5), plan('OTHER', 5)]},
	});
	const stderr = /\nNext: No plan has more domains than WIDE/;
	ends(t, await cli('domains add --org Ab12 go.example.com'), 6, {stderr});
});

test('bad fields are listed one per line, each named once', async (t) => {
	const details = [
		{field: 'name', message: 'name is required'},
		{field: 'contactEmail', message: 'must be an address'},
	];
	const body = {statusCode: 400, message: 'Validation failed', details};
	const {cli} = await startRecordingServer(t, {'POST /admin/organizations': {status: 400, body}});
	ends(t, await cli('orgs create --name x'), 1, {
		stderr: 'Error: Validation failed\n  --name is required\n  contactEmail: must be an address\n',
	});
});

test('no text of a server, a file or the command line steers the terminal by an error', async (t) => {
	const body = {statusCode: 400, message: 'It is \u001B[31mred\u0007', details: [{message: 'name\u009B1m'}]};
	const {cli} = await startRecordingServer(t, {
		'POST /admin/organizations': {status: 400, body},
		'GET /admin/organizations/Ab12/links': {body: pageOf([])},
	});
	t.is((await cli('orgs create --name x')).stderr, 'Error: It is  [31mred \n  name 1m\n');
	const stdin = 'pa\u001B[31mth,\u0007x\n/a,b\n';
	const columns = await cli('links import - --format csv --org Ab12', {stdin});
	const option = await runCli(['orgs', 'list', '--\u001B[31mred']);
	for (const {stderr} of [columns, option]) {
		t.regex(stderr, /^Error: .* \[31m/);
		t.notRegex(stderr, /[^\P{Cc}\n]/u);
	}
});

test('an answer that is not valid JSON, and a page of another server, are failures that say so', async (t) => {
	for (const [status, stderr] of [
		[502, /^Error: request failed with status 502\n/],
		[200, /is this the address of an Oplink server/],
	] as const) {
		const body = Buffer.from('<html>Hello</html>');
		const {cli} = await startRecordingServer(t, {'GET /admin/status': {status, body}});
		ends(t, await cli('status'), 1, {stderr});
	}
});

test('an unreachable server ends with 7, its address and the next step', async (t) => {
	const {stderr} = ends(t, await runCli(`status --url ${closedAddress} --token x`), 7, {
		stdout: '',
		stderr: /\nNext: Start the server with oplink serve/,
	});
	t.true(stderr.startsWith(`Error: Cannot reach ${closedAddress}: connect ECONNREFUSED`));
});

test('a wrong configuration ends with 78 and one line per fault', async (t) => {
	const env = {PORT: 'many', REDIS_URL: 'nowhere'};
	ends(t, await runCli('migrate status', {env}), 78, {stderr: /^PORT .*\nREDIS_URL .*\n$/});
});

test('a failed system call is reported in a sentence', async (t) => {
	const {cli} = await startRecordingServer(t, {});
	ends(t, await cli('app-config set --org Ab12 --file absent.json'), 1, {
		stderr: 'Error: The folder /nonexistent does not exist\nNext: Correct --file\n',
	});
	const inUse = Object.assign(new Error('listen EADDRINUSE'), {code: 'EADDRINUSE', syscall: 'listen', port: 3000});
	t.deepEqual(reportError(inUse).lines, [
		'Error: Port 3000 is in use by another program',
		'Next: Stop that program, or set PORT to another port',
	]);
});

test('a server whose certificate is not trusted is said to be up', (t) => {
	const request = {method: 'GET', baseUrl: 'https://links.example', path: '/admin/status'};
	const {lines} = reportError(new OplinkConnectionError(request, new Error('self-signed certificate')));
	t.regex(lines[1] ?? '', /server is up, but its certificate is not trusted/);
});

test('what deletes or ends something does nothing off a terminal without --yes', async (t) => {
	const {cli, requests} = await startRecordingServer(t, {});
	for (const line of [
		'orgs delete Ab12',
		'links delete some-id',
		'keys regenerate --org Ab12 SERVER',
		'domains remove --org Ab12 go.acme.example',
		'migrate down',
	]) {
		ends(t, await cli(line), 2, {stderr: /Add --yes/});
	}

	t.deepEqual(requests, []);
});
