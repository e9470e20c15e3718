import {readdir, readFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {parseAllDocuments} from 'yaml';
import {approvedDomain, exampleAppConfig, link, organization} from '../helpers/builders.ts';
import {admin} from '../helpers/callers.ts';
import {applier, type Doc, doc} from './_apply.ts';
import {ends} from './_run-cli.ts';
import {serviceCli} from './_service-cli.ts';

const given = serviceCli(test);

const read = (text: string): Doc[] => parseAllDocuments(text).map((document) => document.toJS());

test('an export, applied to nothing and exported again, is the same but for what the server makes', async (t) => {
	const acme = await applier(t, given);
	// Without the orgKey, which the export must not have.
	const host = `rt-${acme.id.slice(0, 8)}.example`;
	const docs = [
		{
			kind: 'AppConfig',
			spec: {...exampleAppConfig, browserPaths: ['/help/*'], errorPages: true, minimumConfidence: 'high'},
		},
		doc('Channel', 'fax'),
		doc('Domain', host, {
			pathPrefixes: ['b', 'a'],
			unknownCodes: {url: 'https://old.example.com/{code}'},
			default: true,
		}),
		doc('Template', 'yes', {path: '/sale', matchWindowHours: 24, clientCreate: {fields: ['params']}, tags: ['é', '1']}),
		doc('Link', 'on', {path: '/on', domain: host, shortCode: 'on'}),
		doc('Link', '2026', {
			template: 'yes',
			shortCode: '123',
			expiry: '2030-01-01T00:00:00Z',
			isActive: false,
			title: 'a: "b"\n# c',
		}),
		doc('Link', 'window', {
			template: 'yes',
			matchWindowHours: 168,
			minimumVersion: {ios: '2.10', android: 7},
			shortCode: 'w',
		}),
		doc('Endpoint', 'https://hooks.example.com/rt', {
			events: ['click.recorded', '*'],
			enabled: false,
			filter: {tags: ['b', 'a']},
		}),
	];
	const {id: domain} = await approvedDomain(acme, host);
	ends(t, await acme.apply(docs), 0);
	await link(acme, {path: '/unnamed'});
	const exported = await acme.run(['--export', acme.orgKey]);
	ends(t, exported, 0, {stderr: '1 link left out: without an externalId, or made by apps\n'});
	t.notRegex(
		exported.stdout,
		new RegExp(`null|(?<![\\w-])${acme.orgKey}(?![\\w-])|${acme.id}|orgKey|organizationId|${domain}`),
	);
	t.deepEqual(
		read(exported.stdout)
			.map(({kind}) => kind)
			.filter((kind, index, all) => kind !== all[index - 1]),
		['Organization', 'AppConfig', 'Channel', 'Domain', 'Template', 'Link', 'Endpoint'],
	);
	await acme.write('here.yaml', exported.stdout);
	ends(t, await acme.run(['here.yaml']), 0, {stdout: /^0 created, 0 changed/});

	// As on another server: the organization is gone, and its domain is verified as soon as it is there.
	await acme.operator.put('/plan', {plan: null});
	await acme.operator.delete('');
	ends(t, await acme.run(['here.yaml']), 1, {stderr: new RegExp(`Link 2026: Domain ${host} is not verified`)});
	const [{id}] = (await admin(given.service).get(`/admin/organizations?owns=${host}`)).body.data;
	const [{id: again}] = (await admin(given.service).get(`/admin/organizations/${id}/domains`)).body.data;
	await admin(given.service).post(`/admin/organizations/${id}/domains/${again}/approve`);
	ends(t, await acme.run(['here.yaml']), 0);
	const second = await acme.run(['--export', acme.name]);
	ends(t, second, 0, {stdout: exported.stdout, stderr: ''});
	ends(t, await acme.run(['here.yaml']), 0, {stdout: /^0 created, 0 changed/});
	t.deepEqual(read(second.stdout), JSON.parse((await acme.run(['--export', acme.name, '--json'])).stdout));
});

test('the export of an organization whose name looks like an orgKey creates it elsewhere', async (t) => {
	const acme = await applier(t, given, {name: 'Nike'});
	const {stdout} = ends(t, await acme.run(['--export', acme.orgKey]), 0, {
		stdout: /^kind: Organization\nname: Nike\nspec:\n {2}name: Nike\n/,
	});
	await acme.write('here.yaml', stdout);
	ends(t, await acme.run(['here.yaml']), 0, {stdout: /^0 created, 0 changed/});
	await acme.operator.put('/plan', {plan: null});
	await acme.operator.delete('');
	ends(t, await acme.run(['here.yaml']), 0, {stdout: /^\+ Organization Nike \(\w{4}\)\n/});
	ends(t, await acme.run(['--export', 'nike']), 0, {stdout});
});

test('an organization in which apps make links is exported and applied without theirs', async (t) => {
	const [acme, other] = [await applier(t, given), await applier(t, given)];
	const docs = [
		doc('Template', 'invite', {path: '/invite', clientCreate: {fields: ['title', 'params']}}),
		doc('Link', 'own', {template: 'invite', shortCode: 'own'}),
	];
	ends(t, await acme.apply(docs), 0);
	t.is((await acme.client.post('/sdk/links', {deviceId: 'device-of-ada', template: 'invite'})).status, 201);
	const {stdout} = ends(t, await acme.run(['--export', acme.orgKey]), 0, {stderr: /^1 link left out/});
	await acme.write('here.yaml', stdout);
	ends(t, await acme.run(['here.yaml', '--prune', 'Link', '--yes']), 0, {stdout: /^0 created, 0 changed, 0 deleted/});
	t.is((await acme.rows('links')).length, 2);
	await other.write('there.yaml', stdout.replace(/^kind: Organization\n(?:.*\n)*?---\n/, ''));
	ends(t, await other.run(['there.yaml', '--org', other.orgKey]), 0, {stdout: /\+ Link own/});
	t.like((await other.rows('templates'))[0], {name: 'invite', clientCreate: {fields: ['title', 'params']}});
	const externalIds = (await other.rows('links')).map(({externalId}) => externalId);
	t.deepEqual(externalIds, ['own']);
});

test('an export to a folder is a file a kind, and replaces none without --yes', async (t) => {
	const acme = await applier(t, given);
	ends(t, await acme.run(['--export', acme.orgKey, 'out/acme']), 0, {
		stdout: '',
		stderr: /^11 documents written to out\/acme\n$/,
	});
	const out = path.join(acme.folder, 'out/acme');
	t.deepEqual((await readdir(out)).sort(), ['app-config.yaml', 'channels.yaml', 'organization.yaml']);
	ends(t, await acme.run(['out']), 0, {stdout: '0 created, 0 changed, 0 deleted, 11 unchanged\n'});
	await acme.write('out/acme/channels.yaml', 'mine');
	ends(t, await acme.run(['--export', acme.orgKey, 'out/acme']), 2, {
		stderr: /organization\.yaml is there already\nNext: .*--yes/,
	});
	t.is(await readFile(path.join(out, 'channels.yaml'), 'utf8'), 'mine');
	ends(t, await acme.run(['--export', acme.orgKey, 'out/acme', '--yes']), 0);
	ends(t, await acme.run(['--export', acme.orgKey, 'out', 'in']), 2);
	ends(t, await acme.run(['--export', acme.orgKey, '--check']), 2);
	ends(t, await acme.run(['--export', 'Zz9z']), 4, {stderr: /There is no organization 'Zz9z'/});
	const other = await organization(given.service);
	const bound = {env: {OPLINK_ADMIN_TOKEN: await acme.token('viewer')}};
	ends(t, await acme.run(['--export', acme.orgKey], bound), 3, {stderr: /webhooks:read/});
	ends(t, await acme.run(['--export', other.orgKey], bound), 4);
});
