import test from 'ava';
import {approvedDomain} from '../helpers/builders.ts';
import {applier, doc, yamlOf} from './_apply.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {ends} from './_run-cli.ts';
import {serviceCli} from './_service-cli.ts';

const given = serviceCli(test);

test('a channel that nobody has is a fault before anything is sent, unless the token may not read channels', async (t) => {
	const acme = await applier(t, given);
	const docs = [
		doc('Template', 'Sale', {path: '/', channel: 'none'}),
		doc('Link', 'x', {path: '/', channel: 'none'}),
		doc('Link', 'y', {path: '/', channel: 'email'}),
	];
	const stderr =
		"docs.yaml:5:12: Template Sale: there is no channel 'none'\ndocs.yaml:11:12: Link x: there is no channel 'none'\n";
	ends(t, await acme.apply(docs, '--check'), 2, {stdout: '', stderr});
	ends(t, await acme.apply(docs), 2, {stdout: '', stderr});
	t.is((await acme.rows('templates')).length, 0);
	const file = await acme.write('links.yaml', docs.slice(1));
	const writer = {env: {OPLINK_ADMIN_TOKEN: await acme.token('links:write')}};
	ends(t, await acme.run([file], writer), 1, {stderr: /Link x: Unknown channel 'none'[\s\S]*\n0 of 2 applied/});
});

test('a rejected domain shows its record and the command that lifts the rejection', async (t) => {
	const acme = await applier(t, given);
	const host = `no-${acme.orgKey}.example`.toLowerCase();
	const {id} = (await acme.operator.post('/domains', {hostname: host})).body;
	await acme.operator.post(`/domains/${id}/reject`);
	const docs = [doc('Domain', host, {rootUrl: 'https://acme.example', default: true})];
	const note = new RegExp(
		`^Domain ${host} is REJECTED\\. Next: run oplink domains approve ${host}, then oplink apply again\\n  _oplink\\.${host} TXT oplink-verification=\\w+\\n`,
	);
	ends(t, await acme.apply(docs), 0, {stdout: /\+ rootUrl: [\s\S]*\n0 created, 1 changed/, stderr: note});
	ends(t, await acme.apply(docs), 0, {stdout: /^0 created, 0 changed, 0 deleted, 1 unchanged/, stderr: note});
	ends(t, await acme.apply([...docs, doc('Link', 'on', {path: '/', domain: host})]), 1, {
		stderr: [
			note,
			new RegExp(
				`Link on: Domain ${host} is not verified\\nNext: oplink domains approve --org ${acme.orgKey} ${host}\\n`,
			),
		],
	});
});

test('a row that vanishes during the run ends it with 4, and the next run creates it', async (t) => {
	const at = '/admin/organizations/o1';
	let data: object[] = [{id: 't1', name: 'Sale', path: '/old'}];
	const {cli, requests} = await startRecordingServer(t, {
		'GET /admin/organizations/Ab12': {body: {id: 'o1', orgKey: 'Ab12', name: 'Acme'}},
		[`GET ${at}/templates`]: () => ({body: pageOf(data)}),
		[`PATCH ${at}/templates/t1`]: () => {
			data = [];
			return {status: 404, body: {statusCode: 404, message: 'Template not found'}};
		},
		[`POST ${at}/templates`]: {status: 201, body: {id: 't2', name: 'Sale', path: '/sale'}},
	});
	const stdin = yamlOf([doc('Template', 'Sale', {path: '/sale'})]);
	ends(t, await cli('apply - --org Ab12', {stdin}), 4, {
		stdout: '0 created, 0 changed, 0 deleted, 0 unchanged\n',
		stderr: /^-:1:1: Template Sale: Template not found\n[\s\S]*0 of 1 applied; run it again to go on\n$/,
	});
	ends(t, await cli('apply - --org Ab12', {stdin}), 0, {stdout: /^\+ Template Sale \(Ab12\)[\s\S]*\n1 created/});
	t.deepEqual(requests.at(-1)?.body, {name: 'Sale', path: '/sale'});
});

test('null clears the filter of an endpoint, and YAML on standard input may begin with a brace', async (t) => {
	const acme = await applier(t, given);
	const at = (filter: object | null) => [doc('Endpoint', 'https://hooks.example.com/', {events: ['*'], filter})];
	ends(t, await acme.apply(at({tags: ['spring']})), 0, {stdout: /\n1 created/});
	ends(t, await acme.apply(at(null)), 0, {stdout: /- filter\.tags: \["spring"\]\n0 created, 1 changed/});
	t.like(await acme.rows('webhook-endpoints'), [{filter: {}}]);
	ends(t, await acme.apply(at(null)), 0, {stdout: /1 unchanged/});
	for (const stdin of [
		'{kind: Channel, name: fax}\n',
		'[{"kind": "Channel", "name": "pager"}]',
		'{"kind": "Channel", "name": "telex"}',
	]) {
		ends(t, await acme.run(['-', '--org', acme.orgKey], {stdin}), 0, {stdout: /^\+ Channel \w+ /});
	}
});

test('a change that is refused half made says which half, and the next run makes the rest', async (t) => {
	const acme = await applier(t, given);
	const host = `half-${acme.orgKey}.example`.toLowerCase();
	const ours = `ours-${host}`;
	await approvedDomain(acme, ours);
	const domain = (code: string) => doc('Domain', host, {unknownCodes: {url: `https://${code}/{code}`}});
	ends(t, await acme.apply([doc('Channel', 'fax'), domain(ours), doc('Link', 'x', {path: '/'})]), 1, {
		stdout: `+ Channel fax (${acme.orgKey})\n+ Domain ${host} (${acme.orgKey})\n2 created, 0 changed, 0 deleted, 0 unchanged\n`,
		stderr: [new RegExp(`Domain ${host}: Validation failed\\n`), /\n2 of 4 applied; run it again to go on\n$/],
	});
	ends(t, await acme.apply([domain('old.example')]), 0, {
		stdout: `~ Domain ${host} (${acme.orgKey})\n  + unknownCodes.url: "https://old.example/{code}"\n0 created, 1 changed, 0 deleted, 0 unchanged\n`,
	});
	const renamed = (plan: string) => [doc('Organization', acme.orgKey, {name: `${acme.name} 2`, plan})];
	const half = ends(t, await acme.apply(renamed('NOPLAN'), '--json'), 1, {
		stderr: [/Unknown plan 'NOPLAN'/, /\n1 of 2 applied; run it again to go on\n$/],
	});
	t.like(JSON.parse(half.stdout), {
		applied: false,
		changes: [
			{action: 'update', fields: [{field: 'name', from: acme.name, to: `${acme.name} 2`}], status: 'done'},
			{action: 'update', fields: [{field: 'plan', from: 'SCALE', to: 'NOPLAN'}], status: 'failed'},
		],
		summary: {created: 0, updated: 1, deleted: 0, unchanged: 0},
	});
	ends(t, await acme.apply(renamed('GROWTH')), 0, {
		stdout: /^~ Organization \w+\n {2}~ plan: "SCALE" → "GROWTH"\n0 created, 1/,
	});
	ends(t, await acme.apply([doc('Organization', acme.orgKey, {plan: 'NOPLAN'})]), 1, {stderr: /\n0 of 1 applied/});
});

test('a token of one organization takes its name and its keys, and applies nothing meant for another', async (t) => {
	const [acme, other] = [await applier(t, given), await applier(t, given)];
	// A name that looks like an orgKey.
	const name = [...acme.orgKey].reverse().join('');
	await acme.operator.patch('', {name});
	for (const token of [await acme.token('links:write'), await acme.token('links:write', 'orgs:read')]) {
		const run = (argv: string[]) => acme.run(argv, {env: {OPLINK_ADMIN_TOKEN: token}});
		for (const foreign of [other.name, other.orgKey, other.id, 'No such brand']) {
			const file = await acme.write('x.yaml', [doc('Link', 'x', {path: '/'})]);
			ends(t, await run([file, '--org', foreign]), 4, {stdout: '', stderr: /There is no organization/});
			await acme.write('x.yaml', [{...doc('Link', 'x', {path: '/'}), org: foreign}]);
			ends(t, await run([file]), 2, {stdout: '', stderr: /Link x: there is no organization/});
		}

		for (const own of [name, name.toLowerCase(), acme.orgKey, acme.id]) {
			const file = await acme.write('x.yaml', [{...doc('Link', 'x', {path: '/'}), org: own}]);
			ends(t, await run([file, '--org', acme.id]), 0);
		}
	}

	t.is((await acme.rows('links')).length, 1);
	t.is((await other.rows('links')).length, 0);
});
