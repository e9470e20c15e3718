import {execFile} from 'node:child_process';
import {mkdtemp, readFile, rm, writeFile} from 'node:fs/promises';
import {connect, createServer} from 'node:net';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {buildDebianPackage} from '../../scripts/debian-package.ts';
import {packServer} from '../../scripts/server-package.ts';
import {packageRoot, packageVersion} from '../../src/platform/package-root.ts';
import {databaseOf} from '../helpers/database.ts';
import {folderOf} from '../helpers/folder.ts';
import {freePort} from '../setup/free-port.ts';
import {listening} from '../visits/clicks/_process.ts';

const run = promisify(execFile);

/** Why the package cannot be installed here; null if it can be. */
const missing = async (): Promise<string | null> => {
	if (process.getuid?.() !== 0) {
		return 'root';
	}

	const root = await mkdtemp(path.join(tmpdir(), 'oplink-overlay-'));
	const attempt = `mkdir ${root}/u ${root}/w ${root}/m && mount -t overlay overlay -o lowerdir=/,upperdir=${root}/u,workdir=${root}/w ${root}/m`;
	try {
		await run('dpkg-query', ['-W', 'nodejs', 'adduser', 'curl', 'procps']);
		await run('unshare', ['-m', 'sh', '-c', attempt]);
		return null;
	} catch (error) {
		return `dpkg, the packages nodejs, adduser, curl and procps, and overlay mounts (${(error as Error).message.split('\n')[0]})`;
	} finally {
		await rm(root, {recursive: true, force: true});
	}
};

const lacking = await missing();
const maybe = lacking === null ? test : test.skip;

maybe(
	'the Debian package is built twice alike, installed, started, upgraded, rolled back, removed and purged',
	async (t) => {
		t.timeout(1_800_000);
		const folder = await folderOf(t);
		const server = await packServer(packageRoot, folder);
		const build = async (version: string, name: string): Promise<string> => {
			const file = path.join(folder, name);
			await buildDebianPackage({root: packageRoot, server, version, seconds: 1_800_000_000, file});
			return file;
		};
		const [old, same, next] = [
			await build(packageVersion(), 'old.deb'),
			await build(packageVersion(), 'same.deb'),
			await build(`${packageVersion()}+next`, 'next.deb'),
		];
		t.deepEqual(await readFile(old), await readFile(same));
		await run('lintian', ['--allow-root', '--fail-on', 'error', old]).catch(
			(error: {code?: unknown; stdout?: string}) => {
				t.is(error.code, 'ENOENT', error.stdout);
				t.log('omitted: lintian, which is not installed');
			},
		);

		// The user of the service cannot enter the folder of the tests' PostgreSQL.
		const database = await databaseOf(t);
		const url = new URL(database.url);
		const host = url.searchParams.get('host');
		const relay = createServer((socket) => {
			const behind = connect(host === null ? {port: Number(url.port)} : {path: `${host}/.s.PGSQL.${url.port || 5432}`});
			socket.pipe(behind).pipe(socket);
			socket.on('error', () => behind.destroy());
			behind.on('error', () => socket.destroy());
		});
		const reached = `postgres://${url.username}:${url.password}@127.0.0.1:${await listening(t, relay)}${url.pathname}`;
		const script = path.join(packageRoot, 'test/release/_lifecycle.sh');
		const port = String(await freePort());
		const {stdout} = await run('unshare', ['-m', 'sh', script, path.join(folder, 'root'), old, next, reached, port]);
		await writeFile(path.join(folder, 'facts'), stdout);
		const facts = Object.fromEntries(
			stdout
				.split('\n')
				.filter((line) => line !== '')
				.map((line) => [line.split(' ', 1)[0], line.slice(line.indexOf(' ') + 1).trim()]),
		);
		const {version, 'upgraded.version': _, ...others} = facts;
		t.is(version, `"version":"${packageVersion()}"`);
		t.deepEqual(others, {
			installed: `installed ${packageVersion()}`,
			env: '640:root:oplink',
			credentials: '750:root:oplink',
			token: '640:root:oplink',
			url: '640:root:oplink',
			data: '700:oplink:oplink',
			backups: '700:oplink:oplink',
			shell: '/usr/sbin/nologin',
			'token.length': '48',
			units: 'oplink-backup.timer oplink-doctor.timer oplink.service',
			verify: '',
			'first.user': 'oplink',
			'first.secrets': '0',
			link: '200',
			backup: '600:oplink:oplink',
			linked: '755:root:root',
			upgraded: `installed ${packageVersion()}+next`,
			'second.user': 'oplink',
			'second.secrets': '0',
			'upgraded.link': '200',
			'upgraded.env': '1',
			'upgraded.token': 'same',
			back: `installed ${packageVersion()}`,
			'third.user': 'oplink',
			'third.secrets': '0',
			'back.link': '200',
			removed: `config-files ${packageVersion()}`,
			'removed.program': 'gone',
			'removed.env': 'kept',
			purged: '',
			'purged.etc': 'gone',
			'purged.data': 'kept',
			'purged.user': 'oplink',
			'purged.units': '',
		});
	},
);

test('a machine that cannot install the Debian package says what it lacks', (t) => {
	t.log(lacking === null ? 'it has everything' : `omitted: needs ${lacking}`);
	t.pass();
});
