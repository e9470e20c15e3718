import {mkdir, symlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {folderOf} from '../helpers/folder.ts';
import {doc, yamlOf} from './_apply.ts';
import {startRecordingServer} from './_recording-server.ts';
import {ends} from './_run-cli.ts';

/** `oplink apply` of files, by name, in a folder of their own, with a server that must not be asked. */
const refuse = async (
	t: ExecutionContext,
	files: Record<string, string | Buffer>,
	argv: string[] = ['.'],
	stdin = '',
) => {
	const {cli, requests} = await startRecordingServer(t, {});
	const folder = await folderOf(t);
	for (const [name, content] of Object.entries(files)) {
		await writeFile(path.join(folder, name), content);
	}

	const ended = await cli(['apply', ...argv], {stdin, io: {cwd: folder}});
	t.is(ended.exitCode, 2, ended.stderr);
	t.is(ended.stdout, '');
	t.deepEqual(requests, []);
	return ended.stderr;
};

test('every fault of all files is said at once, with its line and column, and nothing is sent', async (t) => {
	const files = {
		'a.yaml': `kind: Link
name: spring
spec:
  path: 7
  tags: [a, 5]
  og: {imageUrl: "ftp://x"}
  colour: red
  templateId: x
---
kind: Link
spec:
  title: without
---
kind: Campaign
name: later
---
kind: Chanel
name: x
---
kind: Template
name: Sale
labels: {}
spec: {name: Other, matchWindowHours: 0}
`,
		'b.json':
			'[\n\t{"kind": "Endpoint", "name": "nowhere", "spec": {"events": [], "secret": "x"}},\n\t{"kind": "Domain", "name": "localhost"}\n]\n',
		'c.json': '{"kind": "Channel",}',
		'd.yml': 'kind: Channel\nname: a: b\n',
		'e.yaml': 'kind: Channel\nname: x\norg: 5\nspec: 7\n',
		'f.yaml': 'kind: Link\nname: on\nspec: {path: /, domainId: x}\n',
	};
	t.is(
		await refuse(t, files),
		`a.yaml:4:9: Link spring: path must be a string
a.yaml:6:18: Link spring: og.imageUrl must be an http or https URL of a public host
a.yaml:5:13: Link spring: tags.1 must be a string
a.yaml:7:11: Link spring: colour is not allowed
a.yaml:8:15: Link spring: templateId is not allowed: write template: NAME
a.yaml:10:1: Link: name is required
a.yaml:12:3: Link: path is required
a.yaml:14:7: Campaign later: unknown kind "Campaign": this version has Organization, AppConfig, Channel, Domain, Template, Link, Endpoint
a.yaml:17:7: Chanel x: unknown kind "Chanel": is it Channel?
a.yaml:23:39: Template Sale: matchWindowHours must be greater than or equal to 1
a.yaml:22:9: Template Sale: labels is not allowed
a.yaml:23:14: Template Sale: name must be the name of the document; leave it out
b.json:2:31: Endpoint nowhere: name must be a URL
b.json:2:61: Endpoint nowhere: events must contain at least 1 items
b.json:2:75: Endpoint nowhere: secret is not allowed: the server makes it
b.json:3:29: Domain localhost: name must be a host name with a public suffix, such as go.example.com
c.json:1:20: not JSON: Unexpected token RBrace found.
d.yml:2:7: Nested mappings are not allowed in compact mappings
e.yaml:3:6: Channel x: org must be a string
e.yaml:4:7: Channel x: spec must be of type object
f.yaml:3:27: Link on: domainId is not allowed: write domain: HOST
`,
	);
});

test('documents that claim the same name or short code are faults, also in two files and forms', async (t) => {
	const files = {
		'a.yaml': yamlOf([
			doc('Domain', 'Go.Acme.example', {default: true}),
			doc('Endpoint', 'https://HOOKS.example.com', {events: ['*']}),
			doc('Link', 'one', {path: '/1', shortCode: 'x'}),
			{...doc('Link', 'one', {path: '/1', shortCode: 'x'}), org: 'Ab12'},
		]),
		'b.json': JSON.stringify([
			doc('Domain', 'go.acme.example'),
			doc('Endpoint', 'https://hooks.example.com/', {events: ['*']}),
			doc('Link', 'two', {path: '/2', shortCode: 'x'}),
			doc('Domain', 'go2.acme.example', {default: true}),
			{kind: 'AppConfig'},
			{kind: 'AppConfig', name: 'again'},
		]),
	};
	const stderr = await refuse(t, files);
	t.deepEqual(
		stderr
			.trim()
			.split('\n')
			.map((line) => line.replace(/^b\.json:1:\d+: /, '')),
		[
			'Domain go.acme.example: Domain go.acme.example is there twice, first in a.yaml:1',
			'Endpoint https://hooks.example.com/: Endpoint https://hooks.example.com/ is there twice, first in a.yaml:6',
			"Link two: the short code 'x' is there twice, first in a.yaml:12",
			'Domain go2.acme.example: a default domain is there twice, first in a.yaml:1',
			'AppConfig: AppConfig is there twice, first in b.json:1',
		],
	);
});

const nested = (depth: number) => `kind: Channel\nname: x\nspec: ${'['.repeat(depth)}${']'.repeat(depth)}\n`;
const aliases = (count: number) => `kind: Channel\nname: &x a\nspec: {name: *x, a: [${'*x, '.repeat(count - 1)}]}\n`;
const bomb = `a: &a [x, x, x, x, x, x, x, x, x]
${['b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcdefgh'[index]}`)}]`).join('\n')}
`;

for (const [what, text, fault] of [
	['tabs as indentation', 'kind: Channel\nspec:\n\tname: x\n', 'x.yaml:3:1: Tabs are not allowed as indentation'],
	['an anchor bomb', bomb, 'x.yaml:1:1: aliases for too many values'],
	['more than 100 aliases', aliases(101), 'x.yaml:3:418: more than 100 aliases'],
	['an alias within its anchor', 'kind: &x\n  a: *x\n', 'x.yaml:2:6: *x has no anchor before it'],
	['an alias without an anchor', 'kind: *x\n', 'x.yaml:1:7: *x has no anchor before it'],
	['tags', 'kind: !!str Channel\nname: x\n', 'x.yaml:1:13: tags are not read: write a plain value'],
	['merge keys', 'kind: Channel\nspec: {<<: {}}\n', 'x.yaml:2:8: merge keys are not read: write the fields'],
	['duplicate keys', 'kind: Channel\nname: x\nname: y\n', 'x.yaml:3:1: Map keys must be unique'],
	['YAML 1.1', '%YAML 1.1\n---\nkind: Channel\n', 'x.yaml:1:1: it must be YAML 1.2'],
	['100,000 levels', nested(100_000), 'x.yaml:1:1: nested too deeply'],
	['NUL', 'kind: "\0"\n', 'x.yaml:1:1: not UTF-8 text'],
	['UTF-16', Buffer.from('\ufeffkind: Channel\n', 'utf16le'), 'x.yaml:1:1: not UTF-8 text'],
	['Latin-1', Buffer.from('kind: Channel\nname: caf\xe9\n', 'latin1'), 'x.yaml:1:1: not UTF-8 text'],
	['a text', 'hello\n', 'x.yaml:1:1: kind is required'],
] as const) {
	test(`${what} in YAML are refused by their place`, async (t) => {
		t.is(await refuse(t, {'x.yaml': text}), `${fault}\n`);
	});
}

test('JSON may be too deep, or repeat a key', async (t) => {
	t.regex(await refuse(t, {'x.json': '['.repeat(100_000)}), /^x\.json:1:\d+: (?:nested too deeply|not JSON)/);
	t.is(await refuse(t, {'x.json': '{"kind": "Channel", "kind": "Link"}'}), 'x.json:1:21: Map keys must be unique\n');
});

test('texts of YAML 1.2 stay what they are, empty documents and a byte order mark are skipped', async (t) => {
	const text =
		'\ufeff---\n---\n# nothing\n---\nkind: Template\nname: yes\nspec: {utmSource: 2020-01-01, utmTerm: no, path: 0o14}\n...\n---\n';
	t.is(await refuse(t, {'x.yaml': text}), 'x.yaml:7:50: Template yes: path must be a string\n');
	t.is(await refuse(t, {'x.yaml': `${aliases(100)}`}), 'x.yaml:3:21: Channel a: a is not allowed\n');
});

test('folders are read in the order of paths, without hidden files, other files and node_modules', async (t) => {
	const folder = await folderOf(t);
	const bad = 'kind: 1\n';
	for (const name of [
		'b/z.yml',
		'b.yaml',
		'a/a.json',
		'a/.hidden.yaml',
		'.git/x.yaml',
		'node_modules/x.yaml',
		'notes.md',
		'a/b/c.yaml',
	]) {
		await mkdir(path.dirname(path.join(folder, name)), {recursive: true});
		await writeFile(path.join(folder, name), name.endsWith('.json') ? '{"kind": 1}' : bad);
	}

	const {cli} = await startRecordingServer(t, {});
	const {stderr} = ends(t, await cli('apply . ./b.yaml -', {stdin: bad, io: {cwd: folder}}), 2);
	t.deepEqual(
		stderr
			.trim()
			.split('\n')
			.map((line) => line.split(':')[0]),
		['a/a.json', 'a/b/c.yaml', 'b.yaml', 'b/z.yml', './b.yaml', '-'],
	);
	await mkdir(path.join(folder, 'empty'));
	ends(t, await cli('apply empty', {io: {cwd: folder}}), 2, {
		stderr: /^Error: empty has no \.yaml, \.yml or \.json file/,
	});
	ends(t, await cli('apply missing.yaml', {io: {cwd: folder}}), 1, {stderr: /missing\.yaml does not exist/});
});

test('symbolic links are followed, back to a folder that was read too, and a dangling one is named', async (t) => {
	const folder = await folderOf(t);
	await mkdir(path.join(folder, 'real'));
	await mkdir(path.join(folder, 'top'));
	await writeFile(path.join(folder, 'real/c.yaml'), 'kind: 1\n');
	for (const [name, target] of [
		['again', '../real'],
		['shared.yaml', '../real'],
		['file.yaml', '../real/c.yaml'],
		['loop', '.'],
		['up', '..'],
		['nowhere', 'missing'],
	] as const) {
		await symlink(target, path.join(folder, 'top', name));
	}

	const {cli} = await startRecordingServer(t, {});
	const words =
		'1:7: unknown kind 1: this version has Organization, AppConfig, Channel, Domain, Template, Link, Endpoint';
	ends(t, await cli('apply top', {io: {cwd: folder}}), 2, {
		stderr: `top/again/c.yaml:${words}\ntop/file.yaml:${words}\n`,
	});
	await symlink('missing', path.join(folder, 'top/dangling.yml'));
	ends(t, await cli('apply top', {io: {cwd: folder}}), 1, {stderr: /top\/dangling\.yml does not exist/});
});

test('more than 10,000 documents and more than 64 MB are refused with a hint at imports', async (t) => {
	const many = 'kind: Channel\nname: x\n---\n'.repeat(10_001);
	t.regex(
		await refuse(t, {'x.yaml': many}),
		/^Error: apply takes at most 10,000 documents\nNext: oplink links import FILE /,
	);
	const large = Buffer.alloc(33 * 1024 * 1024, '#');
	t.regex(
		await refuse(t, {'x.yaml': large, 'y.yaml': large}),
		/^Error: apply takes at most 64 MB\nNext: oplink links import FILE /,
	);
});
