import {randomUUID} from 'node:crypto';
import {readFile, writeFile} from 'node:fs/promises';
import {request as httpRequest} from 'node:http';
import path from 'node:path';
import test from 'ava';
import {parse} from 'csv-parse/sync';
import {guarded} from '../../../src/platform/formula-guard.ts';
import {runCli} from '../../cli/_run-cli.ts';
import {link, organization, type TestOrganization} from '../../helpers/builders.ts';
import {anonymous} from '../../helpers/callers.ts';
import {dataDirectory} from '../../helpers/process.ts';
import {serviceOf} from '../../helpers/service.ts';
import {linked} from '../_own.ts';
import {clicked, iPhoneApp, network, open, pathOf, visit} from '../matches/_phones.ts';
import {untilTrue} from '../webhooks/_receiver.ts';
import {linesOf} from './_lines.ts';

const service = serviceOf(test);

const exportOf = (acme: TestOrganization, kind: string, query = '') => acme.operator.get(`/export/${kind}${query}`);

const UTM = 'utmSource,utmMedium,utmCampaign,utmContent,utmTerm';
const COLUMNS = {
	clicks: `id,at,linkId,channel,referrer,platform,os,browser,deviceModel,language,country,botClass,${UTM}`,
	events: 'id,eventId,eventName,deviceId,linkId,properties,occurredAt,receivedAt',
	matches: 'id,at,deviceId,matched,method,confidence,score,linkId,reason',
};

test('clicks, events and matches are exported in the order of the contract, and a run ends with a cursor', async (t) => {
	const acme = await organization(service);
	const host = network();
	const tapped = await clicked(service, acme, host(1), {channel: 'email'});
	await clicked(service, await organization(service), host(2));
	await anonymous(service, host(3)).get(pathOf(tapped.link.url), {'User-Agent': 'WhatsApp/2.23.20.0'});
	await open(service, host(1), {...iPhoneApp, deviceId: 'device-1', clipboardToken: tapped.token}, acme);
	const properties = {note: 'a "quote", a comma\nand a line', price: 12.5};
	const event = {deviceId: 'device-1', eventName: 'purchase', properties, eventId: 'eee'};
	await acme.client.post('/sdk/events', event);
	for (const [kind, columns] of Object.entries(COLUMNS)) {
		const {status, headers, text} = await exportOf(acme, kind);
		t.deepEqual([status, headers['content-type']], [200, 'application/x-ndjson; charset=utf-8']);
		const lines = linesOf(text);
		t.deepEqual(lines.at(-1), {cursor: headers['x-cursor']});
		t.is(lines.length, kind === 'clicks' ? 3 : 2, kind);
		t.is(Object.keys(lines[0] ?? {}).join(), columns);
		const csv = await exportOf(acme, kind, '?format=csv');
		t.is(csv.headers['content-type'], 'text/csv; charset=utf-8; header=present');
		t.true(csv.text.startsWith(`${columns}\n`));
		t.false(csv.text.includes(host(1)) || csv.text.includes('AppleWebKit'));
		const cast = (value: string, {header, column}: {header: boolean; column: string | number}) =>
			!header && /^(?:properties|matched|score)$/.test(String(column)) ? JSON.parse(value || 'null') : value || null;
		t.deepEqual(parse(csv.text, {columns: true, cast}), lines.slice(0, -1), kind);
	}

	t.like(linesOf((await exportOf(acme, 'events')).text)[0], {eventName: 'purchase', properties});
	const person = linesOf((await exportOf(acme, 'clicks')).text).find(({botClass}) => botClass === null);
	t.like(person, {at: '2026-03-10T12:00:00.000Z', linkId: tapped.link.id, channel: 'email', platform: 'ios'});
});

test('a run after a cursor has what was stored since, and a click that was just answered', async (t) => {
	const {acme, ...made} = await linked(service);
	const host = network();
	let cursor = '';
	for (let run = 0; run < 5; run += 1) {
		await visit(service, made, host(1 + run));
		const {headers, text} = await exportOf(acme, 'clicks', cursor === '' ? '' : `?cursor=${cursor}`);
		t.is(linesOf(text).length, 2);
		cursor = String(headers['x-cursor']);
	}

	const byHeader = await acme.operator.get('/export/clicks', {'X-Cursor': cursor});
	t.is(linesOf(byHeader.text).length, 1);
	for (const [query, lines] of [
		[`?cursor=${cursor}`, 1],
		['?since=2026-03-10T12:00:00Z', 6],
		['?since=2026-03-10T12:00:01Z', 1],
	] as const) {
		t.is(linesOf((await exportOf(acme, 'clicks', query)).text).length, lines, query);
	}
});

test('a cursor of another kind, of another organization and a forged one are 400', async (t) => {
	const [acme, other] = [await organization(service), await organization(service)];
	const cursor = String((await exportOf(acme, 'clicks')).headers['x-cursor']);
	const forged = (position: string) =>
		Buffer.from(JSON.stringify([1, 'clicks', acme.id, position])).toString('base64url');
	for (const [owner, kind, given, message] of [
		[acme, 'events', cursor, 'cursor is not one of events of this organization'],
		[other, 'clicks', cursor, 'cursor is not one of clicks of this organization'],
		[acme, 'clicks', forged('999999999:999999999:'), 'cursor is of another database; begin again without it'],
		[acme, 'clicks', forged("1:1:'; DROP"), 'cursor is not one of an export'],
		[acme, 'clicks', 'nonsense', 'cursor is not one of an export'],
		[acme, 'clicks', 'W10', 'cursor is not one of an export'],
	] as const) {
		const answer = await exportOf(owner, kind, `?cursor=${given}`);
		t.like(answer, {status: 400, body: {details: {0: {message}}}}, given);
	}

	t.is((await exportOf(acme, 'clicks', `?cursor=${cursor}&since=2026-01-01`)).status, 400);
	t.is((await exportOf(acme, 'clicks', '?format=xml')).status, 400);
});

test('runs one after another hold every row once, while transactions commit in any order', async (t) => {
	const acme = await organization(service);
	const {db} = service.services;
	const now = service.clock.now();
	const row = {organization_id: acme.id, event_name: 'late', properties: '{}', occurred_at: now, received_at: now};
	const ids: string[] = [];
	const insert = async (on: typeof db) => {
		const id = randomUUID();
		await on('events').insert({...row, id});
		ids.push(id);
	};
	const seen: string[] = [];
	let cursor = '';
	const run = async (isKilled = false) => {
		const {headers, text} = await exportOf(acme, 'events', cursor === '' ? '' : `?cursor=${cursor}`);
		// A run that was killed leaves no cursor, and what it wrote is thrown away.
		if (!isKilled) {
			const rows = linesOf(text).slice(0, -1);
			seen.push(...rows.map(({id}) => String(id)));
			cursor = String(headers['x-cursor']);
		}
	};
	for (let round = 0; round < 10; round += 1) {
		const late = await db.transaction();
		await insert(late);
		await insert(db);
		await run(round % 3 === 0);
		await insert(late);
		await insert(db);
		await run();
		await late.commit();
		await run(round % 2 === 0);
	}

	await run();
	t.deepEqual(seen.toSorted(), ids.toSorted());
});

test('readers that go away at once give their connections back', async (t) => {
	const acme = await organization(service);
	const away = async () => {
		const url = `${service.url}/admin/organizations/${acme.id}/export/events`;
		const request = httpRequest(url, {headers: {Authorization: `Bearer ${service.adminToken}`}});
		request.on('error', () => {}).end();
		setImmediate(() => request.destroy());
		await new Promise((resolve) => request.on('close', resolve));
	};
	await Promise.all(Array.from({length: 30}, away));
	// More than the pool has connections, one after the other.
	for (let run = 0; run < 12; run += 1) {
		t.is((await exportOf(acme, 'events')).status, 200);
	}

	const leaked = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'";
	// A leaked one stays; those of the service's own jobs come and go.
	await untilTrue(async () => (await service.services.db.raw(leaked)).rowCount === 0);
	t.pass();
});

test('exports at once end all of them, also where one fails', async (t) => {
	const acme = await organization(service);
	const queries = Array.from({length: 20}, (_, index) => (index % 2 === 0 ? '' : '?cursor=nonsense'));
	const answers = await Promise.all(queries.map((query) => exportOf(acme, 'events', query)));
	t.is(answers.map(({status}) => status).join(), Array(10).fill('200,400').join());
});

test('a CSV export has every value as it is, and with --spreadsheet none that a spreadsheet evaluates', async (t) => {
	const acme = await organization(service);
	const made = await link(acme);
	const values = [
		'=HYPERLINK("https://evil.example")',
		'+1',
		'-1',
		'@SUM(1)',
		'\t=1',
		'\r=1',
		"'quoted",
		'＝1',
		'a=b',
		'plain',
	];
	const host = network();
	for (const [index, value] of values.entries()) {
		await visit(service, made, host(index + 1), {query: `?utm_source=${encodeURIComponent(value)}`});
		await acme.client.post('/sdk/session', {deviceId: 'device-1'});
		const event = {deviceId: 'device-1', eventName: value, eventId: value, properties: {note: value}};
		t.is((await acme.client.post('/sdk/events', event)).status, 200);
	}

	const env = {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken};
	const cli = (...argv: string[]) => runCli(['export', ...argv, '--org', acme.orgKey], {env});
	for (const [kind, columns] of [
		['clicks', ['utmSource']],
		['events', ['eventName', 'eventId']],
	] as const) {
		const raw = parse((await cli(kind, '--format', 'csv')).stdout, {columns: true}) as Array<Record<string, string>>;
		const safe = parse((await cli(kind, '--spreadsheet')).stdout, {columns: true}) as Array<Record<string, string>>;
		for (const column of columns) {
			t.deepEqual(raw.map((row) => row[column]).sort(), values.toSorted(), column);
			t.deepEqual(safe.map((row) => row[column]).sort(), values.map(guarded).sort(), column);
		}

		t.deepEqual(Object.keys(safe[0] ?? {}).join(), COLUMNS[kind]);
		t.false(safe.some((row) => Object.values(row).some((cell) => /^[=+\-@\t\r＝]/.test(cell))));
	}

	t.like(await cli('clicks', '--format', 'ndjson', '--spreadsheet'), {exitCode: 2, stdout: ''});
});

test('oplink export goes on from its state file, which an export that fails leaves alone', async (t) => {
	const acme = await organization(service);
	const folder = await dataDirectory(t);
	const env = {OPLINK_URL: service.url, OPLINK_ADMIN_TOKEN: service.adminToken};
	const cli = (...argv: string[]) => runCli(['export', ...argv, '--org', acme.orgKey], {env, io: {cwd: folder}});
	const made = await link(acme);
	const host = network();
	await visit(service, made, host(1));
	const read = (name: string) => readFile(path.join(folder, name), 'utf8');
	const first = await cli('clicks', '--state', 'clicks.cursor');
	t.like(first, {exitCode: 0, stderr: ''});
	t.is(linesOf(first.stdout).length, 2);
	const state = await read('clicks.cursor');
	t.is(linesOf(first.stdout).at(-1)?.['cursor'], state.trim());
	await visit(service, made, host(2));
	env.OPLINK_ADMIN_TOKEN = 'x'.repeat(48);
	t.is((await cli('clicks', '--state', 'clicks.cursor')).exitCode, 3);
	env.OPLINK_ADMIN_TOKEN = service.adminToken;
	t.is(await read('clicks.cursor'), state);
	t.is((await cli('clicks', '--state', 'clicks.cursor', '--format', 'csv', '--output', 'clicks.csv')).exitCode, 0);
	t.is((await read('clicks.csv')).trim().split('\n').length, 2);
	t.is(linesOf((await cli('clicks', '--state', 'clicks.cursor')).stdout).length, 1);
	t.regex((await cli('clicks', '--since', '2026-03-01')).stderr, /^Next: --since [\w-]+\n$/);
	await writeFile(path.join(folder, 'other.txt'), 'not a cursor!');
	t.is((await cli('clicks', '--state', 'other.txt')).exitCode, 1);
	t.is((await cli('clicks', '--since', 'nonsense')).exitCode, 1);
	t.is((await cli('clicks', '--state', 'nowhere/clicks.cursor', '--output', 'lost.ndjson')).exitCode, 1);
	await t.throwsAsync(read('lost.ndjson'), {code: 'ENOENT'}, 'rows whose cursor cannot be kept');
});
