import {spawnSync} from 'node:child_process';
import {chmod, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {configFolder} from './_config-folder.ts';
import {folderOf} from './_folder.ts';
import {pageOf, startRecordingServer} from './_recording-server.ts';
import {ends, runCli} from './_run-cli.ts';

/** The candidates for the last word of a line, with descriptions if `isDescribed`; after a space it is empty. */
const complete = async (line: string, env: Record<string, string> = {}, isDescribed = false): Promise<string[]> => {
	const {exitCode, stdout, stderr} = await runCli(['__complete', ...line.split(' ')], {env});
	if (exitCode !== 0 || stderr !== '') {
		throw new Error(`__complete ended with ${exitCode}: ${stderr}`);
	}

	const lines = stdout.split('\n').filter((line) => line !== '');
	return isDescribed ? lines : lines.map((line) => line.split('\t')[0] ?? '');
};

const server = (t: ExecutionContext) =>
	startRecordingServer(t, {
		'GET /admin/organizations': {
			body: pageOf([
				{id: 'id-1', orgKey: 'Ab12', name: 'Acme\tand\nSons'},
				{id: 'id-2', orgKey: 'Cd34', name: 'Beta'},
			]),
		},
		'GET /admin/organizations/Ab12/links': {
			body: pageOf([{id: 'link-1', shortCode: 'spring', url: 'https://go.example/Ab12/spring', title: 'Spring'}]),
		},
		'GET /links': {
			body: pageOf([{id: 'link-2', shortCode: 'x', url: 'https://go.example/Cd34/x', title: null}]),
		},
		'GET /admin/organizations/Ab12/domains': {
			body: pageOf([{id: 'domain-1', hostname: 'go.acme.example', status: 'VERIFIED'}]),
		},
		'GET /admin/organizations/Ab12/channels': {body: pageOf([{id: 'c', name: 'email'}])},
		'GET /admin/organizations/Ab12/templates': {body: pageOf([{id: 'template-1', name: 'Sale'}])},
		'GET /admin/organizations/Ab12/matches': {
			body: pageOf([{id: 'attempt-1', at: '2026-01-01T00:00:00.000Z', method: null, reason: 'NO_CLICK'}]),
		},
	});

test('commands and groups are completed, with what they do', async (t) => {
	const all = await complete('', {}, true);
	t.true(all.includes('serve\tRun the server until Ctrl-C or SIGTERM'));
	t.false(all.some((line) => line.startsWith('__complete')));
	t.deepEqual(await complete('orgs a'), ['activate']);
	t.deepEqual(await complete('nothing '), []);
	t.deepEqual(await complete('orgs list '), []);
});

test('options are completed after a hyphen: those of the command and of the program, each once', async (t) => {
	t.deepEqual(await complete('orgs list --p'), ['--page', '--profile']);
	t.deepEqual(await complete('orgs list --all --json --a'), ['--api-key']);
	t.deepEqual(await complete('orgs list -- --'), []);
	t.true((await complete('links create --tag x --t')).includes('--tag'));
});

test('choices, plans, tiers, shells and topics are completed, and files are left to the shell', async (t) => {
	for (const [line, ...expected] of [
		['qr export x --ecc ', 'L', 'M', 'Q', 'H'],
		['qr export x --format=s', '--format=svg'],
		['orgs create --plan G', 'GROWTH'],
		['keys regenerate --org Ab12 ', 'CLIENT', 'SERVER'],
		['completion ', 'bash', 'zsh', 'fish'],
		['links create --destination i', 'ios=', 'ipad='],
		['app-config set --org Ab12 --minimum-version ', 'ios=', 'android='],
		['app-config set --org Ab12 --file ', ':files'],
		['links import ', 'verify', ':files'],
		['login --token-file=./x', ':files'],
	] satisfies Array<[string, ...string[]]>) {
		t.deepEqual(await complete(line), expected, line);
	}

	const topics = await complete('help ');
	t.true(topics.includes('environment') && topics.includes('orgs'));
});

test('ids come from the server, with descriptions, with a SERVER key too', async (t) => {
	const {env} = await server(t);
	t.deepEqual(await complete('orgs show ', env, true), ['Ab12\tAcme and Sons', 'Cd34\tBeta']);
	t.deepEqual(await complete('orgs show C', env), ['Cd34']);
	for (const [line, ...expected] of [
		['stats --interval day --org ', 'Ab12', 'Cd34'],
		['links list --org ', 'Ab12', 'Cd34'],
		['links list --org=C', '--org=Cd34'],
		['links list --org = ', 'Ab12', 'Cd34'],
		['links list --org =', 'Ab12', 'Cd34'],
		['links show --org Ab12 ', 'spring'],
		['links show --org=Ab12 s', 'spring'],
		['stats --org Ab12 --link ', 'spring'],
		['billing show '],
		['qr export other link --org Ab12 ', 'spring'],
		['domains verify --org Ab12 ', 'go.acme.example'],
		['domains default --org Ab12 ', 'go.acme.example'],
		['links create --org Ab12 --channel ', 'email'],
		['links create --org Ab12 --template ', 'Sale'],
		['links create --org Ab12 --domain ', 'go.acme.example'],
		['match explain --org Ab12 ', 'attempt-1'],
	] satisfies Array<[string, ...string[]]>) {
		t.deepEqual(await complete(line, env), expected, line);
	}

	t.deepEqual(await complete('links show ', {...env, OPLINK_API_KEY: 'opl_api_x'}), ['x']);
});

test('profiles are completed, and the named one is queried', async (t) => {
	const {url, requests} = await server(t);
	const {env} = await configFolder(t);
	const other = await startRecordingServer(t, {'GET /admin/whoami': {body: {version: '1'}}});
	t.is((await runCli(`login --name other --url ${other.url} --token x`, {env})).exitCode, 0);
	t.deepEqual(await complete('orgs list --profile ', env, true), [`other\t${other.url}`]);
	t.deepEqual(await complete('profiles use ', env), ['other']);
	t.deepEqual(await complete(`orgs show --url ${url} --token mine `, env), ['Ab12', 'Cd34']);
	t.is(requests.at(-1)?.authorization, 'Bearer mine');
});

test('an unreachable or refusing server is ignored silently', async (t) => {
	t.deepEqual(await complete('orgs show ', {OPLINK_URL: 'http://127.0.0.1:1', OPLINK_ADMIN_TOKEN: 'x'}), []);
	t.deepEqual(await complete('orgs show '), []);
	t.deepEqual(await complete('links show ', {OPLINK_URL: 'no url', OPLINK_ADMIN_TOKEN: 'x'}), []);
});

test('a slow server is not waited for, and its partial answer is used', async (t) => {
	const late = new AbortController();
	const {url} = await startRecordingServer(t, {
		'GET /admin/organizations': {
			raw: ({url: asked = ''}, response) => {
				if (asked.includes('page=1')) {
					const data = Array.from({length: 100}, (_, index) => ({orgKey: `Org${index}`, name: 'x'}));
					response.end(JSON.stringify(pageOf(data, {total: 200, limit: 100})));
				} else {
					late.abort(new DOMException('late', 'TimeoutError'));
				}
			},
		},
	});
	const asked: number[] = [];
	const deadline = (seconds: number) => {
		asked.push(seconds);
		return late.signal;
	};
	const env = {OPLINK_URL: url, OPLINK_ADMIN_TOKEN: 'x'};
	const {stdout} = ends(t, await runCli('__complete orgs show Org9', {env, io: {deadline}}), 0);
	t.is(stdout.trim().split('\n').length, 11);
	t.true(asked.length === 1 && asked.every((seconds) => seconds < 1));
});

test('the script of a shell that is unknown is a usage error', async (t) => {
	ends(t, await runCli('completion tcsh'), 2, {stderr: /Shells are bash, zsh and fish/});
});

/** Whether this machine has a shell: Debian installs neither zsh nor fish by itself. */
const has = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;

for (const shell of ['bash', 'zsh', 'fish']) {
	(has(shell) ? test : test.skip)(`${shell} accepts its completion script`, async (t) => {
		const {stdout} = ends(t, await runCli(`completion ${shell}`), 0);
		t.is(spawnSync(shell, ['-n'], {input: stdout, encoding: 'utf8'}).stderr, '');
	});
}

/** Bash's candidates for the last word of a line, with a program that answers `answer` and records its arguments. */
const bashOffers = async (t: ExecutionContext, words: string[], answer: string, type = 9) => {
	const folder = await folderOf(t);
	await writeFile(path.join(folder, 'answer'), answer);
	await writeFile(path.join(folder, 'oplink'), '#!/bin/sh\nprintf "%s\\n" "$@" > asked\ncat answer\n');
	await writeFile(path.join(folder, 'links.csv'), '');
	await chmod(path.join(folder, 'oplink'), 0o755);
	const {stdout: script} = await runCli('completion bash');
	const call = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_TYPE=${type}; COLUMNS=40
		_oplink oplink "$COMP_CWORD" ''; printf '%s\\n' "\${COMPREPLY[@]}"; echo '--'; cat asked; complete -p oplink`;
	const {stdout, stderr} = spawnSync('bash', ['--norc', '-c', `${script}\n${call}`, 'bash', 'oplink', ...words], {
		cwd: folder,
		env: {PATH: `${folder}:${process.env['PATH']}`},
		encoding: 'utf8',
	});
	const [offers = '', rest = ''] = stdout.split('--\n');
	return {offers: offers.split('\n').filter((line) => line !== ''), rest, stderr};
};

const bash = has('bash') ? test : test.skip;

bash('bash hands over the words up to the cursor, and shows what the values are', async (t) => {
	const answer = `Ab12\tAcme\nCd34\t${'x'.repeat(60)}\n`;
	const {offers, rest, stderr} = await bashOffers(t, ['orgs', 'show', ''], answer);
	t.deepEqual(offers, ['Ab12  (Acme)', `Cd34  (${'x'.repeat(31)}`]);
	t.is(rest, '__complete\norgs\nshow\n\ncomplete -F _oplink oplink\n');
	t.is(stderr, '');
	// What it has quoted it hands over as it was.
	const quoted = await bashOffers(t, ['orgs', 'show', 'Social\\ M'], '');
	t.true(quoted.rest.startsWith('__complete\norgs\nshow\nSocial M\n'));
});

bash('bash inserts a value without what it is', async (t) => {
	t.deepEqual((await bashOffers(t, ['orgs', 'show', 'A'], 'Ab12\tAcme\n')).offers, ['Ab12']);
	const inserting = await bashOffers(t, ['orgs', 'show', ''], 'Ab12\tAcme\nCd34\tBeta\n', 37);
	t.deepEqual(inserting.offers, ['Ab12', 'Cd34']);
	t.deepEqual((await bashOffers(t, ['x', ''], '')).offers, []);
});

bash('bash adds the names of files where they belong', async (t) => {
	t.deepEqual((await bashOffers(t, ['links', 'import', 'li'], ':files\n')).offers, ['links.csv']);
	const both = await bashOffers(t, ['links', 'import', 'l'], 'later\tA command\n:files\n');
	t.deepEqual(both.offers, ['later', 'links.csv']);
});

test('a tenant’s value that is unsafe as a word is not offered', async (t) => {
	const unsafe = ['x\n:files', 'a\u001B[2Jb', 'c\u009B1m', 'd\u202Ee', '--yes', ':files', ''];
	const data = ['fine', 'two words', ...unsafe, 'fine'].map((name) => ({id: name, name}));
	const {env} = await startRecordingServer(t, {'GET /admin/organizations/Ab12/channels': {body: pageOf(data)}});
	t.deepEqual(await complete('links create --org Ab12 --channel ', env), ['fine', 'two words']);
});

/** The program's arguments after the shell completed a word of a line. */
const hostile = ['x;touch y #', 'a b', '$(touch y)', '`touch y`', "q'q", '~/x', 'b\\c', '!x', '*', 'ü'];

bash('bash inserts a value as one word, whatever is in it', async (t) => {
	for (const value of hostile) {
		const {offers} = await bashOffers(t, ['orgs', 'show', ''], `${value}\n`);
		t.is(offers.length, 1);
		const {stdout, stderr} = spawnSync('bash', ['--norc', '-c', `printf '<%s>' ${offers[0]}`], {encoding: 'utf8'});
		t.is(stdout, `<${value}>`, stderr);
		// A part that several have in common is inserted, too.
		const two = await bashOffers(t, ['orgs', 'show', ''], `${value}1\tOne\n${value}2\tTwo\n`);
		const common = (offers[0] ?? '').replace(/'$/, '');
		t.true(two.offers.length === 2 && two.offers.every((offer) => offer.startsWith(common)), two.offers.join());
	}
});
