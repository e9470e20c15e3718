import {rename, utimes, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {LinkPolicy} from '../../../src/platform/policy/link-policy.ts';
import {readPolicyFile} from '../../../src/platform/policy/policy-file.ts';
import {folderOf} from '../../helpers/folder.ts';

const logged = () => {
	const lines: string[] = [];
	const note =
		(level: string) =>
		(...args: unknown[]) =>
			void lines.push(`${level} ${args.at(-1)}`);
	return {lines, log: {info: note('info'), warn: note('warn'), error: note('error')}};
};

type Given = {format?: string; action?: string; text: string | Buffer};

const writeLists = async (folder: string, lists: Given[]): Promise<string> => {
	const entries = lists.map(({format = 'domains', action = 'block'}, index) => ({
		name: `list ${index}`,
		file: `list-${index}.txt`,
		format,
		action,
	}));
	for (const [index, {text}] of lists.entries()) {
		await writeFile(path.join(folder, `list-${index}.txt`), text);
	}

	const file = path.join(folder, 'policy.json');
	await writeFile(file, JSON.stringify(entries));
	return file;
};

const openPolicy = async (t: ExecutionContext, ...lists: Given[]): Promise<LinkPolicy> =>
	LinkPolicy.open(await writeLists(await folderOf(t), lists), logged().log);

const cases: Array<{title: string; format: string; text: string; on: string[]; off: string[]}> = [
	{
		title: 'hosts files name these hosts alone',
		format: 'hosts',
		text: [
			'\uFEFF# Hosts ####',
			'########',
			'0.0.0.0 bad.example\twww.bad.example # the worst',
			'127.0.0.1 localhost',
			'0.0.0.0 0.0.0.0',
			'::1 six.example',
			'Other.Example.\r',
			'||adblock.example^',
		].join('\n'),
		on: [
			'https://bad.example/x',
			'https://www.bad.example',
			'http://BAD.EXAMPLE.:8080/?q#f',
			'https://six.example/',
			'https://other.example/',
			'https://user:password@bad.example/',
		],
		off: [
			'https://sub.bad.example/',
			'https://notbad.example/',
			'https://bad.example.org/',
			'https://good.example/?u=https://bad.example/',
			'https://localhost/',
			'https://0.0.0.0/',
			'https://adblock.example/',
		],
	},
	{
		title: 'domains include all names below them, and addresses in every form',
		format: 'domains',
		text: [
			'[Adblock Plus 2.0]',
			'! Title',
			'||bad.example^',
			'||options.example^$third-party',
			'@@||allowed.example^',
			'shop.example##.ad',
			'/regex.example/',
			'*.wild.example',
			'bücher.example',
			'192.0.2.7',
			'2001:db8::7',
			'nodot',
		].join('\r\n'),
		on: [
			'https://bad.example/',
			'https://a.b.bad.example./',
			'https://xn--bcher-kva.example/',
			'https://BÜCHER.example/',
			'http://3221225991/',
			'http://0300.0.02.07/',
			'http://0xC0.0x0.0x2.0x7/',
			'http://192.0.519/',
			'http://[::ffff:192.0.2.7]/',
			'http://[2001:DB8:0:0::7]/',
		],
		off: [
			'https://notbad.example/',
			'https://options.example/',
			'https://allowed.example/',
			'https://shop.example/',
			'https://regex.example/',
			'https://a.wild.example/',
			'https://192.0.2.8/',
		],
	},
	{
		title: 'urls are a host, or exactly one address',
		format: 'urls',
		text: [
			'http://host.example',
			'https://Path.example:8443/Login?a=1#top',
			'bare.example/x',
			'http://0xC0.0x0.0x2.0x7/x',
			'* nothing',
			'/regex.example/',
			'shop.example##.ad',
			'||adblock.example^',
			'@@allowed.example',
		].join('\n'),
		on: [
			'https://host.example/anything?q',
			'http://path.example/Login?a=1',
			'https://path.example:1/Login?a=1#other',
			'https://bare.example/x',
			'http://192.0.2.7/x',
		],
		off: [
			'https://regex.example/',
			'https://shop.example/',
			'https://adblock.example/',
			'https://allowed.example/',
			'https://192.0.2.7/',
			'https://sub.host.example/',
			'https://path.example/',
			'https://path.example/login?a=1',
			'https://path.example/Login',
			'https://bare.example/x/y',
		],
	},
];

for (const {title, format, text, on, off} of cases) {
	test(title, async (t) => {
		const policy = await openPolicy(t, {format, text});
		const found = on.filter((address) => policy.of(address)?.state !== 'block');
		t.deepEqual(found, []);
		const seen = off.filter((address) => policy.of(address) !== null);
		t.deepEqual(seen, []);
	});
}

test('of several lists one that blocks decides, then the first', async (t) => {
	const policy = await openPolicy(
		t,
		{action: 'warn', text: 'both.example\nwarned.example'},
		{action: 'warn', text: 'warned.example'},
		{text: 'both.example\nblocked.example'},
	);
	t.like(policy.of('https://both.example/'), {state: 'block', list: 'list 2'});
	t.like(policy.of('https://warned.example/'), {state: 'warn', list: 'list 0'});
	t.like(policy.ofAll([null, undefined, 'https://warned.example/', 'https://blocked.example/']), {
		state: 'block',
		list: 'list 2',
	});
	t.is(policy.of('not a URL'), null);
});

test('a changed list is used at the next look, and an unusable one leaves the former in use', async (t) => {
	const folder = await folderOf(t);
	const file = await writeLists(folder, [{text: 'old.example'}]);
	const {lines, log} = logged();
	const policy = await LinkPolicy.open(file, log);
	t.false(await policy.refresh());
	const list = path.join(folder, 'list-0.txt');

	await writeFile(list, '<!doctype html>\n<p>Not found</p>\n');
	t.false(await policy.refresh());
	t.false(await policy.refresh());
	t.is(policy.of('https://old.example/')?.state, 'block');
	t.regex(policy.faults().join(), /list 0 .*has no line that is an entry of the format domains/);
	const errors = () => lines.filter((line) => line.startsWith('error')).length;
	t.is(errors(), 1);
	await writeFile(list, '<p>Bad gateway</p>\n');
	t.false(await policy.refresh());
	t.is(errors(), 2, 'each change is logged');

	await writeFile(list, 'new.example\n');
	t.true(await policy.refresh());
	t.deepEqual([policy.of('https://old.example/'), policy.faults()], [null, []]);
	t.is(policy.of('https://new.example/')?.state, 'block');

	await rename(list, `${list}.away`);
	t.false(await policy.refresh());
	t.is(policy.of('https://new.example/')?.state, 'block');
	t.is(policy.faults().length, 1);
	// Another action on a list that cannot be read acts on its former contents.
	await writeFile(file, JSON.stringify([{name: 'list 0', file: 'list-0.txt', format: 'domains', action: 'warn'}]));
	t.true(await policy.refresh());
	t.is(policy.of('https://new.example/')?.state, 'warn');
	t.is(policy.faults().length, 1);
	await rename(`${list}.away`, list);
	await policy.refresh();
	t.deepEqual(policy.faults(), []);

	// A change of the file that names them counts as well.
	await writeLists(folder, [{action: 'warn', text: 'new.example'}]);
	await utimes(file, new Date(0), new Date(0));
	t.true(await policy.refresh());
	t.is(policy.of('https://new.example/')?.state, 'warn');
	await writeFile(file, '[]');
	t.true(await policy.refresh());
	t.deepEqual([policy.isEmpty, policy.of('https://new.example/')], [true, null]);
});

const unusable: Array<[title: string, text: string | Buffer, message: RegExp]> = [
	['an empty list', '', /is empty/],
	['one that is not UTF-8', Buffer.from([0x62, 0xff, 0x0a]), /is not UTF-8/],
	['a page saved by mistake', '<html>', /has no line that is an entry/],
];

for (const [title, text, message] of unusable) {
	test(`${title} ends a start with its name`, async (t) => {
		const [found = ''] = (await openPolicy(t, {text})).faults();
		t.regex(found, /^the list list 0 /);
		t.regex(found, message);
	});
}

test('a list of comments alone is usable, a missing one and a folder are not', async (t) => {
	const policy = await openPolicy(t, {text: '# nothing\n! yet\n\n'});
	t.like(policy.lists(), [{name: 'list 0', entries: 0, fault: null}]);
	const folder = await folderOf(t);
	const file = path.join(folder, 'policy.json');
	for (const name of ['missing.txt', '.']) {
		await writeFile(file, JSON.stringify([{name: 'x', file: name, format: 'hosts', action: 'warn'}]));
		t.is((await LinkPolicy.open(file, logged().log)).faults().length, 1, name);
	}
});

test('every fault of LINK_POLICY_FILE is a sentence', async (t) => {
	const file = path.join(await folderOf(t), 'policy.json');
	const faultsOf = async (content: string) => {
		await writeFile(file, content);
		return readPolicyFile(file).then(
			() => [],
			({message}: Error) => {
				t.true(message.startsWith(`${file}: `), message);
				return message.slice(file.length + 2).split('; ');
			},
		);
	};
	t.regex((await faultsOf('{')).join(), /JSON/);
	t.deepEqual(await faultsOf('{}'), ['must be a JSON list of at most 20 entries']);
	t.deepEqual(await faultsOf(JSON.stringify(Array.from({length: 21}, () => ({})))), [
		'must be a JSON list of at most 20 entries',
	]);
	const good = {name: 'a', file: 'a', format: 'hosts', action: 'warn'};
	t.deepEqual(await faultsOf(JSON.stringify([good, good])), ['names the list a more than once']);
	const found = await faultsOf(
		JSON.stringify([{name: 'x'.repeat(51), file: '', format: 'csv', action: 'allow', more: 1}, null]),
	);
	t.deepEqual(found, [
		'entry 1: name must be a text of 1 to 50 printable characters',
		'entry 1: file must be longer than or equal to 1 characters',
		'entry 1: format must be one of [hosts, domains, urls]',
		'entry 1: action must be one of [block, warn]',
		'entry 1: more is not allowed',
		'entry 2: body must be of type object',
	]);
	t.deepEqual(await faultsOf(`\uFEFF${JSON.stringify([good])}`), []);
});
