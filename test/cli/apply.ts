import test from 'ava';
import {exampleAppConfig, organization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {applier, doc, yamlOf} from './_apply.ts';
import {ends, runOnScreen} from './_run-cli.ts';
import {environment, serviceCli} from './_service-cli.ts';

const given = serviceCli(test);
const {service} = given;

/** One document of each kind but Organization. */
const whole = (host: string) => [
	doc('Endpoint', `https://hooks.${host}/oplink`, {events: ['link.created', 'link.updated'], description: 'ours'}),
	doc('Link', 'spring', {template: 'Sale', shortCode: 'spring', tags: ['b', 'a'], params: {id: '7'}}),
	doc('Template', 'Sale', {path: '/sale', channel: 'newsletter', matchWindowHours: 24, og: {title: 'Sale'}}),
	doc('Domain', host, {pathPrefixes: ['promos'], rootUrl: 'https://acme.example'}),
	doc('Channel', 'newsletter'),
	{kind: 'AppConfig', spec: {...exampleAppConfig, fallbackUrl: 'https://acme.example'}},
];

test('documents are applied in the order of dependencies, field by field; a second run does and writes nothing', async (t) => {
	const acme = await applier(t, given);
	const host = `go.${acme.orgKey}.example`.toLowerCase();
	const key = `(${acme.orgKey})`;
	const text = [
		`~ AppConfig ${key}\n  + fallbackUrl: "https://acme.example/"`,
		`+ Channel newsletter ${key}`,
		`+ Domain ${host} ${key}\n  + pathPrefixes: ["promos"]\n  + rootUrl: "https://acme.example/"`,
		`+ Template Sale ${key}\n  + path: "/sale"\n  + channel: "newsletter"\n  + matchWindowHours: 24\n  + og.title: "Sale"`,
		`+ Link spring ${key}\n  + template: "Sale"\n  + shortCode: "spring"\n  + tags: ["a","b"]\n  + params.id: "7"`,
		`+ Endpoint https://hooks.${host}/oplink ${key}\n  + events: ["link.created","link.updated"]\n  + description: "ours"\n  + secret: (set)`,
	].join('\n');
	const checked = await acme.apply(whole(host), '--check');
	ends(t, checked, 1, {stdout: `${text}\n5 to create, 1 to change, 0 to delete, 0 unchanged\n`, stderr: ''});
	t.is((await acme.rows('links')).length, 0);
	const record = new RegExp(`Domain ${host} is PENDING.*\\n  _oplink.${host} TXT oplink-verification=`);
	ends(t, await acme.apply(whole(host)), 0, {
		stdout: `${text}\n5 created, 1 changed, 0 deleted, 0 unchanged\n`,
		stderr: record,
	});
	const audits = await acme.audits();
	const deliveries = async () =>
		(await service.services.db('endpoint_deliveries').where({organization_id: acme.id})).length;
	const before = await deliveries();
	ends(t, await acme.apply(whole(host)), 0, {stdout: '0 created, 0 changed, 0 deleted, 6 unchanged\n', stderr: record});
	ends(t, await acme.apply(whole(host), '--check'), 0);
	t.is(await acme.audits(), audits);
	t.is(await deliveries(), before);
	const [link] = await acme.rows('links');
	t.like(link, {externalId: 'spring', shortCode: 'spring', matchWindowHours: 24, tags: ['b', 'a']});
});

test('only named fields change, null clears, parts of objects stay, and --json says it all', async (t) => {
	const acme = await applier(t, given);
	const link = (spec: object) => [doc('Link', 'spring', {path: '/a', ...spec})];
	const first = {title: 'a', isActive: true, og: {title: 'one', description: 'two'}, expiry: '2030-01-01T00:00Z'};
	ends(t, await acme.apply(link(first)), 0);
	ends(t, await acme.apply(link({})), 0, {stdout: /^0 created, 0 changed/});
	const next = {
		title: 'b',
		og: {title: null},
		expiry: '2030-01-01T01:00+01:00',
		deferredDeepLinking: true,
		isActive: null,
	};
	const changed = await acme.apply(link(next), '--json');
	ends(t, changed, 0, {
		json: {
			applied: true,
			changes: [
				{
					action: 'update',
					kind: 'Link',
					name: 'spring',
					org: acme.orgKey,
					file: 'docs.yaml',
					line: 1,
					fields: [
						{field: 'title', from: 'a', to: 'b'},
						{field: 'og.title', from: 'one', to: null},
					],
					status: 'done',
				},
			],
			summary: {created: 0, updated: 1, deleted: 0, unchanged: 0},
		},
	});
	const [row] = await acme.rows('links');
	t.like(row, {title: 'b', og: {title: null, description: 'two', imageUrl: null}});
	const cleared = await acme.apply(link({title: null, isActive: false, matchWindowHours: 24}));
	ends(t, cleared, 0, {
		stdout: [/^ {2}- title: "b"$/m, /^ {2}~ isActive: true → false$/m, /^ {2}~ matchWindowHours: 168 → 24$/m],
	});
});

test('an app configuration is whole: what its document leaves out is cleared, and forms of one value are equal', async (t) => {
	const acme = await applier(t, given);
	const {ios, android} = exampleAppConfig;
	const [app] = android;
	const fingerprints = app?.sha256Fingerprints.map((text) => text.replaceAll(':', '').toLowerCase());
	const same = {
		ios: {...ios, teamId: 'abcde12345'},
		android: [{...app, sha256Fingerprints: [...(fingerprints ?? []), ...(fingerprints ?? [])]}],
	};
	ends(t, await acme.apply([{kind: 'AppConfig', spec: {...same, minimumConfidence: 'low', og: null}}]), 0, {
		stdout: '0 created, 0 changed, 0 deleted, 1 unchanged\n',
	});
	ends(t, await acme.apply([{kind: 'AppConfig', spec: {ios: same.ios, clipboardFormat: 'url'}}]), 0, {
		stdout: [/^ {2}~ android: \[\{.*\}\] → \[\]$/m, /^ {2}~ clipboardFormat: "token" → "url"$/m],
	});
	t.like((await acme.operator.get('/app-config')).body, {android: [], clipboardFormat: 'url'});
});

test('a link compares with what its template gives, also in a run that changes the template', async (t) => {
	const acme = await applier(t, given);
	const docs = (hours: number, spec: object) => [
		doc('Template', 'Sale', {path: '/sale', matchWindowHours: hours}),
		doc('Link', 'spring', {template: 'Sale', ...spec}),
	];
	ends(t, await acme.apply(docs(24, {matchWindowHours: null})), 0);
	ends(t, await acme.apply(docs(24, {matchWindowHours: 24})), 0, {stdout: /^0 created, 0 changed/});
	ends(t, await acme.apply(docs(24, {matchWindowHours: null})), 0, {stdout: /^0 created, 0 changed/});
	ends(t, await acme.apply(docs(48, {matchWindowHours: 24})), 0, {
		stdout: / {2}\+? ?~? ?matchWindowHours: .*24 → 48[\s\S]*2 changed/,
	});
	ends(t, await acme.apply(docs(48, {matchWindowHours: 24})), 0, {stdout: /^0 created, 0 changed/});
	t.is((await acme.rows('links'))[0]?.['matchWindowHours'], 24);
});

test('an organization is created with all it has, found again by its name, and renamed by its orgKey', async (t) => {
	const acme = await applier(t, given);
	const name = `Brand ${acme.orgKey}`;
	const docs = [
		doc('Organization', name, {plan: 'scale', contactEmail: 'ops@acme.example'}),
		doc('Channel', 'email'),
		{kind: 'AppConfig', spec: exampleAppConfig},
		doc('Template', 'Sale', {path: '/sale'}),
		doc('Link', 'spring', {template: 'Sale', channel: 'email'}),
	];
	await acme.write('brand.yaml', docs);
	const seeded = /\n\+ AppConfig .*\n(?: {2}.*\n)+\+ Template Sale .*\n {2}.*\n\+ Link spring /;
	ends(t, await acme.run(['brand.yaml', '--org', name, '--check', '--prune', 'Channel']), 1, {
		stdout: [seeded, /\n4 to create, .* 0 to delete, 1 unchanged/],
	});
	ends(t, await acme.run(['brand.yaml']), 0, {
		stdout: [
			new RegExp(`^\\+ Organization ${name} \\(\\w{4}\\)\\n {2}\\+ plan: "SCALE"\\n`),
			seeded,
			/\n4 created, .* 1 unchanged/,
		],
	});
	ends(t, await acme.run(['brand.yaml']), 0, {stdout: '0 created, 0 changed, 0 deleted, 5 unchanged\n'});
	const {data} = (await admin(service).get(`/admin/organizations?q=${encodeURIComponent(name)}`)).body;
	const {orgKey} = data[0];
	t.like(data[0], {name, plan: 'SCALE', contactEmail: 'ops@acme.example'});
	await acme.write('rename.yaml', [doc('Organization', orgKey, {name: `${name} 2`, plan: null})]);
	ends(t, await acme.run(['rename.yaml']), 0, {stdout: [/ {2}~ name: /, / {2}- plan: "SCALE"/]});
	ends(t, await acme.run(['rename.yaml']), 0, {stdout: /^0 created, 0 changed/});
});

test('a document is of its org, of --org, of the only Organization document, or of the only organization', async (t) => {
	const [acme, other] = [await applier(t, given), await organization(service)];
	const channel = (org?: string) => ({...doc('Channel', 'fax'), ...(org && {org})});
	await acme.write('by-name.yaml', [channel(acme.name.toUpperCase())]);
	ends(t, await acme.run(['by-name.yaml', '--check']), 1, {
		stdout: new RegExp(`^\\+ Channel fax \\(${acme.orgKey}\\)`),
	});
	await acme.write('by-document.yaml', [channel(), doc('Organization', acme.name)]);
	ends(t, await acme.run(['by-document.yaml', '--check']), 1, {
		stdout: new RegExp(`^\\+ Channel fax \\(${acme.orgKey}\\)`),
	});
	await acme.write('none.yaml', [channel()]);
	ends(t, await acme.run(['none.yaml', '--check']), 2, {stderr: /organizations: --org ORG is needed/});
	ends(t, await acme.run(['none.yaml', '--check'], {env: {OPLINK_ADMIN_TOKEN: await acme.token('channels:read')}}), 1);
	ends(t, await acme.run(['by-name.yaml', '--org', other.orgKey]), 2, {
		stderr: /^by-name\.yaml:1:1: Channel fax: it is not of --org/,
	});
	await acme.write('unknown.yaml', [channel('Zz9z'), channel('No such brand'), doc('Organization', 'Zy9z')]);
	ends(t, await acme.run(['unknown.yaml']), 2, {
		stderr: [
			/^unknown\.yaml:1:1: Channel fax: there is no organization 'Zz9z'$/m,
			/'No such brand'$/m,
			/Organization Zy9z: no organization has this orgKey/,
		],
	});
	await service.services.db('organizations').where({id: other.id}).update({name: acme.name, shares_name: true});
	ends(t, await acme.run(['by-name.yaml', '--check']), 5, {
		stderr: /Several organizations are named .*\nNext: Write the orgKey/,
	});
});

test('a run on a terminal of 80 columns, a bad token and a silent server say what to do', async (t) => {
	const acme = await applier(t, given);
	const file = await acme.write('a.yaml', [doc('Channel', 'fax')]);
	const screen = await runOnScreen(['apply', file, '--org', acme.orgKey], environment(service));
	ends(t, screen, 0, {stdout: `+ Channel fax (${acme.orgKey})\n1 created, 0 changed, 0 deleted, 0 unchanged\n`});
	ends(t, await acme.run([file], {env: {OPLINK_ADMIN_TOKEN: 'x'.repeat(40)}}), 3, {
		stdout: '',
		stderr: /^Error: .*\nNext: oplink login/s,
	});
	ends(t, await acme.run([file], {env: {OPLINK_URL: 'http://127.0.0.1:2'}}), 7, {
		stdout: '',
		stderr: /^Error: Cannot reach/,
	});
	ends(t, await acme.run([]), 2, {stderr: /Name files or folders/});
	ends(t, await acme.run(['-', '--org', acme.orgKey], {stdin: yamlOf([doc('Channel', 'fax')])}), 0, {
		stdout: /1 unchanged/,
	});
	ends(t, await acme.run(['-', '--org', acme.orgKey], {stdin: JSON.stringify([doc('Channel', 'fax')])}), 0, {
		stdout: /1 unchanged/,
	});
});
