import {spawnSync} from 'node:child_process';
import {chmod, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test, {type ExecutionContext} from 'ava';
import {folderOf} from '../helpers/folder.ts';
import {ends, runCli} from './_run-cli.ts';

/** The candidates for the last word of a line, with descriptions if `isDescribed`; after a space it is empty. */
const complete = async (line: string, isDescribed = false): Promise<string[]> => {
	const {exitCode, stdout, stderr} = await runCli(['__complete', ...line.split(' ')]);
	if (exitCode !== 0 || stderr !== '') {
		throw new Error(`__complete ended with ${exitCode}: ${stderr}`);
	}

	const lines = stdout.split('\n').filter((line) => line !== '');
	return isDescribed ? lines : lines.map((line) => line.split('\t')[0] ?? '');
};

test('commands and groups are completed, with what they do', async (t) => {
	const all = await complete('', true);
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

test('choices are completed, and nothing where files or names of the server fit', async (t) => {
	for (const [line, ...expected] of [
		['qr export x --ecc ', 'L', 'M', 'Q', 'H'],
		['qr export x --format=s', '--format=svg'],
		['qr export x --format = ', 'svg', 'png'],
		['qr export x --format =', 'svg', 'png'],
		['qr export --ecc L x --format p', 'png'],
		['stats --interval day --org '],
		['app-config set --org Ab12 --file '],
		['orgs show '],
		['links import ', 'verify'],
		['links import li'],
	] satisfies Array<[string, ...string[]]>) {
		t.deepEqual(await complete(line), expected, line);
	}

	t.true((await complete('help ')).includes('orgs'));
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
const bashOffers = async (t: ExecutionContext, words: string[], answer: string) => {
	const folder = await folderOf(t);
	await writeFile(path.join(folder, 'answer'), answer);
	await writeFile(path.join(folder, 'oplink'), '#!/bin/sh\nprintf "%s\\n" "$@" > asked\ncat answer\n');
	await chmod(path.join(folder, 'oplink'), 0o755);
	const {stdout: script} = await runCli('completion bash');
	const call = `COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
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

bash('bash hands over the words up to the cursor, and inserts a value without its description', async (t) => {
	const {offers, rest, stderr} = await bashOffers(t, ['links', 'cr', ''], 'create\tCreate a link\nlist\tList links\n');
	t.deepEqual(offers, ['create', 'list']);
	t.is(rest, '__complete\nlinks\ncr\n\ncomplete -o default -F _oplink oplink\n');
	t.is(stderr, '');
	t.deepEqual((await bashOffers(t, ['x', ''], '')).offers, []);
});
