import {once} from 'node:events';
import test from 'ava';
import {link, organization} from '../helpers/builders.ts';
import {isDeep} from '../helpers/deep.ts';
import {applier, type Doc, doc, yamlOf} from './_apply.ts';
import {createTerminal} from './_fake-terminal.ts';
import {ends} from './_run-cli.ts';
import {environment, serviceCli} from './_service-cli.ts';
import {finish, start} from './_spawn-cli.ts';

const given = serviceCli(test);
const {service} = given;

const links = (count: number, more: object = {}) =>
	Array.from({length: count}, (_, index) => doc('Link', `l${index}`, {path: `/item/${index}`, ...more}));

test('two pipelines at once both succeed, and make everything once', async (t) => {
	const acme = await applier(t, given);
	const brand = `Two ${acme.orgKey}`;
	const docs = [
		doc('Channel', 'fax'),
		doc('Template', 'Sale', {path: '/sale', og: {title: 'x'}}),
		doc('Endpoint', 'https://hooks.example.com/two', {events: ['*']}),
		doc('Domain', `two-${acme.orgKey}.example`.toLowerCase(), {pathPrefixes: ['a']}),
		...links(20, {template: 'Sale', channel: 'fax'}),
	];
	const file = await acme.write('two.yaml', docs);
	const run = () => finish(start(t, ['apply', file, '--org', acme.orgKey], environment(service)));
	for (const ended of await Promise.all([run(), run(), run()])) {
		ends(t, ended, 0);
	}

	t.is((await acme.rows('links')).length, 20);
	t.is((await acme.rows('webhook-endpoints')).length, 1);
	ends(t, await run(), 0, {stdout: '0 created, 0 changed, 0 deleted, 24 unchanged\n'});
	const own = await acme.write('brand.yaml', [doc('Organization', brand, {plan: 'SOLO'}), doc('Channel', 'fax')]);
	const create = () => finish(start(t, ['apply', own], environment(service)));
	for (const ended of await Promise.all([create(), create()])) {
		ends(t, ended, 0);
	}
});

for (const [what, signal] of [
	['a killed run', 'SIGKILL'],
	['a run that Ctrl-C ends', 'SIGINT'],
] as const) {
	test(`${what} goes on where it was`, async (t) => {
		const acme = await applier(t, given);
		const file = await acme.write('links.yaml', links(300));
		const program = start(t, ['apply', file, '--org', acme.orgKey], environment(service));
		await once(program.stdout, 'data');
		program.kill(signal);
		const ended = await finish(program);
		if (signal === 'SIGINT') {
			ends(t, ended, 130, {stderr: /^Interrupted\n\d+ of 300 applied; run it again to go on\n$/});
		}

		const {total} = (await acme.operator.get('/links?limit=1')).body;
		t.true(total > 0 && total < 300, `${total}`);
		const again = ends(t, await acme.run([file, '--org', acme.orgKey]), 0);
		const [, created, unchanged] = /(\d+) created, 0 changed, 0 deleted, (\d+) unchanged\n$/.exec(again.stdout) ?? [];
		t.is(Number(created) + Number(unchanged), 300);
		t.true(Number(unchanged) >= total);
		ends(t, await acme.run([file, '--org', acme.orgKey]), 0, {
			stdout: /^0 created, 0 changed, 0 deleted, 300 unchanged/,
		});
	});
}

test('a token that may write links applies links alone; a check needs to read them alone', async (t) => {
	const acme = await applier(t, given);
	const [writer, reader] = [await acme.token('links:write'), await acme.token('links:read')];
	const as = (token: string) => ({env: {OPLINK_ADMIN_TOKEN: token}});
	const file = await acme.write('links.yaml', links(2, {channel: 'email', shortCode: undefined}));
	ends(t, await acme.run([file, '--check'], as(reader)), 1, {stdout: /2 to create/});
	ends(t, await acme.run([file], as(reader)), 3, {
		stdout: '0 created, 0 changed, 0 deleted, 0 unchanged\n',
		stderr: /^\S+links\.yaml:1:1: Link l0: .*links:write\n.*\nNext: .*\n0 of 2 applied; run it again to go on\n$/s,
	});
	ends(t, await acme.run([file], as(writer)), 0, {stdout: /2 created/});
	ends(t, await acme.run([file, '--org', acme.orgKey], as(writer)), 0, {stdout: /2 unchanged/});
	const other = await acme.write('other.yaml', [doc('Template', 'Sale', {path: '/x'})]);
	ends(t, await acme.run([other], as(writer)), 3, {stderr: /templates:read/});
	const all = await acme.token('admin');
	ends(t, await acme.run([other, '--org', acme.orgKey], as(all)), 0);
	ends(
		t,
		await acme.run(
			[await acme.write('x.yaml', [{...doc('Channel', 'x'), org: (await organization(service)).orgKey}])],
			as(all),
		),
		2,
	);
});

test('a renamed template is a new one; --prune deletes the old one, no other kind and no other organization', async (t) => {
	const [acme, other] = [await applier(t, given), await applier(t, given)];
	const docs = (name: string) => [doc('Template', name, {path: '/sale'}), doc('Link', 'spring', {template: name})];
	ends(t, await other.apply(docs('Old')), 0);
	ends(t, await acme.apply([...docs('Old'), doc('Channel', 'fax')]), 0);
	await link(acme, {path: '/by-hand'});
	const prune = ['--prune', 'Template', '--prune', 'Link'];
	ends(t, await acme.apply(docs('New'), ...prune), 2, {stdout: '', stderr: /^Error: This needs confirmation/});
	const names = (await acme.rows('templates')).map(({name}) => name);
	t.deepEqual(names, ['Old']);
	ends(t, await acme.apply(docs('New'), '--check', ...prune), 1, {
		stdout: `+ Template New (${acme.orgKey})\n  + path: "/sale"\n~ Link spring (${acme.orgKey})\n  ~ template: "Old" → "New"\n- Template Old (${acme.orgKey})\n1 to create, 1 to change, 1 to delete, 0 unchanged\n`,
	});
	ends(t, await acme.apply(docs('New'), '--yes', ...prune), 0, {
		stdout: /\n- Template Old \(\w+\)\n1 created, 1 changed, 1 deleted/,
	});
	const found = (await acme.rows('templates')).map(({name}) => name);
	t.deepEqual(found, ['New']);
	t.is((await acme.rows('links')).length, 2);
	t.is((await acme.rows('channels')).length, 10);
	t.is((await other.rows('templates')).length, 1);
	ends(t, await acme.apply(docs('New'), '--prune', 'Channel'), 2, {
		stderr: `--prune Channel: the files have no Channel of ${acme.orgKey}\n`,
	});
	await link(acme, {path: '/x', templateId: (await acme.rows('templates'))[0]?.['id']});
	ends(t, await acme.apply([doc('Template', 'Newest', {path: '/'})], '--prune', 'Template', '--yes'), 5, {
		stdout: /^\+ Template Newest .*\n {2}\+ path: "\/"\n1 created, 0 changed, 0 deleted, 0 unchanged\n$/,
		stderr: /^Template New \(\w+\): .*\n.*\nNext: .*\n1 of 2 applied; run it again to go on\n$/,
	});
	ends(t, await acme.apply([], '--prune', 'Organization'), 2, {
		stderr: /Allowed choices are Channel, Template, Domain, Endpoint, Link/,
	});
});

test('a link that an app made is neither pruned nor exported, also with an externalId, and a document may name it', async (t) => {
	const acme = await applier(t, given);
	ends(t, await acme.apply([doc('Template', 'invite', {path: '/invite', clientCreate: {fields: ['title']}})]), 0);
	const made = await acme.client.post('/sdk/links', {deviceId: 'device-of-ada', template: 'invite', title: 'Ada'});
	await acme.operator.patch(`/links/${made.body.id}`, {externalId: 'ada'});
	ends(t, await acme.apply([doc('Link', 'own', {path: '/'})]), 0);
	const prune = ['--prune', 'Link', '--yes'];
	ends(t, await acme.apply([doc('Link', 'other', {path: '/'})], ...prune), 0, {
		stdout: /\n- Link own .*\n1 created, 0 changed, 1 deleted/,
	});
	const exported = await acme.run(['--export', acme.orgKey]);
	ends(t, exported, 0, {stdout: /name: other/, stderr: '1 link left out: without an externalId, or made by apps\n'});
	t.notRegex(exported.stdout, /ada/i);
	const named = [doc('Link', 'other', {path: '/'}), doc('Link', 'ada', {template: 'invite', title: 'Bob'})];
	ends(t, await acme.apply(named, ...prune), 0);
	ends(t, await acme.apply(named), 0, {stdout: /^0 created, 0 changed, 0 deleted, 2 unchanged/});
	t.is((await acme.rows('links')).find(({externalId}) => externalId === 'ada')?.['title'], 'Bob');
});

test('a prune that is declined at the prompt does nothing at all', async (t) => {
	const acme = await applier(t, given);
	ends(t, await acme.apply([doc('Channel', 'fax')]), 0);
	await acme.write('docs.yaml', [doc('Channel', 'post')]);
	const terminal = createTerminal('n\r');
	const argv = ['docs.yaml', '--org', acme.orgKey, '--prune', 'Channel'];
	ends(t, await acme.run(argv, {io: terminal.io}), 1, {stdout: ''});
	t.regex(
		terminal.text().replace(/\s+/g, ' '),
		/: Delete Channel email \(\w+\), Channel fax .*\? \[y\/N\].*Nothing was changed/,
	);
	t.is((await acme.rows('channels')).length, 10);
});

test('a short code that another link has is a conflict, which a check sees, unless the run frees it', async (t) => {
	const acme = await applier(t, given);
	await link(acme, {path: '/theirs', shortCode: 'spring'});
	const docs = [doc('Channel', 'fax'), doc('Link', 'ours', {path: '/', shortCode: 'spring'})];
	ends(t, await acme.apply(docs, '--check'), 5, {
		stderr: /^docs\.yaml:8:14: Link ours: the short code 'spring' is taken\n$/,
	});
	ends(t, await acme.apply(docs), 5, {
		stderr: /^docs\.yaml:4:1: Link ours: .*\nNext: .*\n1 of 2 applied; run it again to go on\n$/s,
		stdout: /1 created/,
	});
	const both = (one: string, two: string) => [
		doc('Link', 'one', {path: '/', shortCode: one}),
		doc('Link', 'two', {path: '/', shortCode: two}),
	];
	ends(t, await acme.apply(both('a1', 'b1')), 0);
	ends(t, await acme.apply(both('c1', 'a1'), '--check'), 1, {stderr: ''});
	ends(t, await acme.apply(both('c1', 'a1')), 0, {stdout: /2 changed/});
	ends(t, await acme.apply(both('a1', 'c1'), '--check'), 5);
	// The first refusal is the last request of a small run.
	const refused = await acme.apply([doc('Channel', 'post'), ...both('e1', 'spring'), doc('Channel', 'fax2')], '--json');
	ends(t, refused, 5);
	t.like(JSON.parse(refused.stdout), {
		applied: false,
		changes: [{status: 'done'}, {status: 'done'}, {status: 'done'}, {status: 'failed'}],
		summary: {created: 2, updated: 1, unchanged: 0},
		failure: {exitCode: 5},
	});
	const three = [doc('Link', 'x1', {path: '/'}), docs[1] as Doc, doc('Link', 'x2', {path: '/'})];
	ends(t, await acme.apply(three), 5, {stderr: /\n1 of 3 applied; run it again to go on\n$/});
	t.false((await acme.rows('links')).some(({externalId}) => externalId === 'x2'));
});

test('a domain waits for its record; its link is refused until then, and it becomes the default once verified', async (t) => {
	const acme = await applier(t, given);
	const host = `wait-${acme.orgKey}.example`.toLowerCase();
	const docs = [doc('Link', 'on', {path: '/', domain: host.toUpperCase()}), doc('Domain', host, {default: true})];
	const refused = await acme.apply(docs);
	ends(t, refused, 1, {
		stdout: /^\+ Domain wait-.*\n1 created/,
		stderr: new RegExp(
			`^Domain ${host} is PENDING[\\s\\S]*\\ndocs\\.yaml:1:1: Link on: Domain ${host} is not verified\\nNext: oplink domains verify [\\s\\S]*\\n1 of 2 applied`,
		),
	});
	const [{id}] = (await acme.rows('domains')) as [{id: string}];
	await acme.operator.post(`/domains/${id}/approve`);
	ends(t, await acme.apply(docs), 0, {stdout: /~ Domain .*\n {2}\+ default: true\n\+ Link on/, stderr: ''});
	ends(t, await acme.apply(docs), 0, {stdout: /^0 created, 0 changed, 0 deleted, 2 unchanged/});
	ends(t, await acme.apply([doc('Link', 'on', {path: '/', domain: null})]), 0, {stdout: /^0 created, 0 changed/});
	ends(t, await acme.apply([doc('Link', 'on', {path: '/', domain: 'nowhere.example'})]), 2, {
		stderr: "docs.yaml:5:11: Link on: there is no domain 'nowhere.example'\n",
	});
	ends(t, await acme.apply([doc('Link', 'x', {template: 'None'}), doc('Link', 'y', {template: 'None'})]), 2, {
		stderr:
			/^docs\.yaml:4:13: Link x: there is no template 'None'\ndocs\.yaml:9:13: Link y: there is no template 'None'\n$/,
	});
});

test('no secret of an endpoint is shown, in no form', async (t) => {
	const acme = await applier(t, given);
	const docs = [doc('Endpoint', 'https://hooks.example.com/secret', {events: ['*']})];
	for (const more of [['--check'], ['--check', '--json'], ['--json'], []]) {
		const {stdout, stderr} = await acme.apply(docs, ...more);
		t.notRegex(stdout + stderr, /whsec_/);
	}

	const exported = await acme.run(['--export', acme.orgKey]);
	t.notRegex(exported.stdout, /whsec_|secret:/);
});

test('thousands of documents are applied once and then not again', async (t) => {
	const count = isDeep ? 10_000 : 300;
	const acme = await applier(t, given, {plan: 'ENTERPRISE'});
	const stdin = yamlOf([doc('Template', 'Sale', {path: '/'}), ...links(count - 1, {template: 'Sale', tags: ['a']})]);
	const argv = ['-', '--org', acme.orgKey];
	ends(t, await acme.run(argv, {stdin}), 0, {
		stdout: new RegExp(`\\n${count} created, 0 changed, 0 deleted, 0 unchanged\\n$`),
	});
	const audits = await acme.audits();
	ends(t, await acme.run(argv, {stdin}), 0, {stdout: `0 created, 0 changed, 0 deleted, ${count} unchanged\n`});
	t.is(await acme.audits(), audits);
});
