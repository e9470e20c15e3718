import {execFile, execFileSync} from 'node:child_process';
import {mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {type ConfigError, loadConfig} from '../../../src/platform/config/config.ts';
import {splitEnvFiles} from '../../../src/platform/config/describe-config.ts';
import {configTable, secretNames} from '../../../src/platform/config/variables.ts';
import {ends, runCli} from '../../cli/_run-cli.ts';
import {binary} from '../../helpers/process.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'oplink-secrets-'));
test.after.always(() => rmSync(folder, {recursive: true, force: true}));

const TOKEN = 'x7'.repeat(20);
const OTHER = 'y8'.repeat(20);

let files = 0;
const file = (content: string | Buffer): string => {
	files += 1;
	const name = path.join(folder, `secret-${files}`);
	writeFileSync(name, content);
	return name;
};

const faultsOf = (env: Record<string, string>): string[] => {
	try {
		loadConfig(env);
		return [];
	} catch (error) {
		return (error as ConfigError).faults;
	}
};

test('each secret, and no other variable, is read from the file that NAME_FILE names', (t) => {
	t.deepEqual(
		secretNames,
		configTable.flatMap(({name, isSecret}) => (isSecret ? [name] : [])),
	);
	t.true(secretNames.includes('DATABASE_URL') && secretNames.includes('PAYMOB_HMAC_SECRET'));
	for (const content of [TOKEN, `${TOKEN}\n`, `${TOKEN}\r\n`]) {
		t.is(loadConfig({ADMIN_TOKEN_FILE: file(content)}).adminToken, TOKEN);
	}

	const link = path.join(folder, 'link');
	symlinkSync(file(TOKEN), link);
	t.is(loadConfig({ADMIN_TOKEN: ' ', ADMIN_TOKEN_FILE: link}).adminToken, TOKEN);
	t.is(loadConfig({ADMIN_TOKEN: TOKEN, ADMIN_TOKEN_FILE: ' '}).adminToken, TOKEN);
	t.is(loadConfig({OPLINK_KEY_SECRET_FILE: file(`${'k'.repeat(65_535)}\n`)}).keySecret?.length, 65_535);
	t.is(loadConfig({PORT_FILE: file('80')}).port, 3000);
});

test('a credential of systemd comes last, and a folder without it says nothing', (t) => {
	const credentials = path.join(folder, 'credentials');
	mkdirSync(credentials);
	writeFileSync(path.join(credentials, 'ADMIN_TOKEN'), `${OTHER}\n`);
	const env = {CREDENTIALS_DIRECTORY: credentials};
	t.is(loadConfig(env).adminToken, OTHER);
	t.is(loadConfig({...env, ADMIN_TOKEN: TOKEN}).adminToken, TOKEN);
	t.is(loadConfig({...env, ADMIN_TOKEN_FILE: file(TOKEN)}).adminToken, TOKEN);
	t.is(loadConfig({CREDENTIALS_DIRECTORY: path.join(folder, 'nowhere')}).adminToken, null);
	mkdirSync(path.join(credentials, 'DATABASE_URL'));
	t.deepEqual(faultsOf(env), [`DATABASE_URL cannot be read from ${credentials}/DATABASE_URL: it is a folder`]);
});

for (const [title, make, reason] of [
	['an empty file', () => file(''), 'it is empty'],
	['a line break alone', () => file('\n'), 'it is empty'],
	['65,537 bytes', () => file('k'.repeat(65_537)), 'it is larger than 65,536 bytes'],
	['a missing file', () => path.join(folder, 'missing'), 'there is no such file'],
	['a folder', () => folder, 'it is a folder'],
	['a device', () => '/dev/null', 'it is not a regular file'],
	['a NUL', () => file(`${TOKEN}\0`), 'it is not a text in UTF-8'],
	['Latin-1', () => file(Buffer.from([0x73, 0xe9])), 'it is not a text in UTF-8'],
	[
		'a pipe',
		() => {
			const pipe = path.join(folder, 'pipe');
			execFileSync('mkfifo', [pipe]);
			return pipe;
		},
		'it is not a regular file',
	],
] as const) {
	test(`${title} as a secret is one fault with the file's name and none of its content`, (t) => {
		const from = make();
		t.deepEqual(faultsOf({NODE_ENV: 'production', ADMIN_TOKEN_FILE: from}), [
			`ADMIN_TOKEN cannot be read from ${from}: ${reason}`,
		]);
	});
}

test('a variable that is set twice, and an invalid value in a file, are a line each', (t) => {
	const short = file('s3cret\n');
	const broken = file(`${TOKEN}\n\n`);
	t.deepEqual(
		faultsOf({
			ADMIN_TOKEN_FILE: short,
			STRIPE_SECRET_KEY: 'sk',
			STRIPE_SECRET_KEY_FILE: short,
			IDP_API_KEY_FILE: broken,
			DATABASE_URL_FILE: file('mysql://me:s3cret@db/app'),
		}),
		[
			'STRIPE_SECRET_KEY and STRIPE_SECRET_KEY_FILE are both set: remove one of them',
			`DATABASE_URL must be a URL that begins with postgres:// or postgresql:// (in ${folder}/secret-${files})`,
			`ADMIN_TOKEN must be at least 32 visible ASCII characters (in ${short})`,
			`IDP_API_KEY must have no control characters (in ${broken})`,
		],
	);
});

type Line = {name: string; value: string | null; source: string | null; from: string | null};

test('config says where each value came from, and ends with 78 for an unusable file', async (t) => {
	const from = file(TOKEN);
	const envFile = file(`PORT=81\nIDP_API_KEY=${OTHER}\nHOST=::1\n`);
	const args = [`--env-file=${envFile}`, binary, 'config', '--json'];
	const {stdout} = await promisify(execFile)(process.execPath, args, {
		env: {HOST: '127.0.0.2', ADMIN_TOKEN_FILE: from, STRIPE_SECRET_KEY: OTHER},
	});
	t.false(stdout.includes(TOKEN) || stdout.includes(OTHER));
	const lines: Line[] = JSON.parse(stdout);
	const originOf = (wanted: string) => {
		const {value, source, from} = lines.find(({name}) => name === wanted) ?? t.fail();
		return [value, source, from];
	};
	t.deepEqual(originOf('ADMIN_TOKEN'), ['********', 'file', from]);
	t.deepEqual(originOf('IDP_API_KEY'), ['********', 'env-file', envFile]);
	t.deepEqual(originOf('PORT'), ['81', 'env-file', envFile]);
	t.deepEqual(originOf('HOST'), ['127.0.0.2', 'environment', null]);
	t.deepEqual(originOf('STRIPE_SECRET_KEY'), ['********', 'environment', null]);
	t.deepEqual(originOf('LOG_LEVEL'), [null, 'default', null]);
	t.deepEqual(originOf('DATABASE_URL'), [null, null, null]);

	const shown = await runCli('config --json', {env: {CREDENTIALS_DIRECTORY: folder}});
	t.is((JSON.parse(shown.stdout) as Line[]).find(({name}) => name === 'ADMIN_TOKEN')?.source, 'default');
	ends(t, await runCli('config', {env: {ADMIN_TOKEN_FILE: from}}), 0, {stdout: new RegExp(`ADMIN_TOKEN .*${from}`)});
	const missing = path.join(folder, 'missing');
	ends(t, await runCli('config', {env: {DATABASE_URL_FILE: missing}}), 78, {
		stderr: new RegExp(`DATABASE_URL cannot be read from ${missing}: there is no such file`),
	});
});

test('serve, migrate, backup and restore end with 78 for an unusable file', async (t) => {
	const env = {DATABASE_URL_FILE: folder};
	for (const line of ['serve', 'migrate up', `backup ${folder}/b`, 'restore -']) {
		ends(t, await runCli(line, {env}), 78, {stderr: /DATABASE_URL cannot be read from \S+: it is a folder/});
	}

	const doctor = await runCli('doctor --url http://127.0.0.1:9 --token x', {env});
	t.regex(doctor.stdout, /DATABASE_URL cannot be read from\s+\S+: it is a folder/);
});

test('the CLI reads its own two credentials from files, and says which one it cannot', async (t) => {
	for (const [name, line] of [
		['OPLINK_ADMIN_TOKEN', 'orgs list --url http://127.0.0.1:9'],
		['ADMIN_TOKEN', 'orgs list --url http://127.0.0.1:9'],
		['OPLINK_API_KEY', 'links list --url http://127.0.0.1:9'],
	] as const) {
		ends(t, await runCli(line, {env: {[`${name}_FILE`]: file(TOKEN)}}), 7, {});
		ends(t, await runCli(line, {env: {[`${name}_FILE`]: folder}}), 78, {
			stderr: new RegExp(`${name} cannot be read from ${folder}: it is a folder`),
		});
	}
});

test('the options of Node that name files of variables are told apart', (t) => {
	t.deepEqual(splitEnvFiles(['--import=x', '--env-file=a', '--env-file', 'b', '--env-file-if-exists=c', '-r', 'd']), {
		files: ['a', 'b', 'c'],
		others: ['--import=x', '-r', 'd'],
	});
});
