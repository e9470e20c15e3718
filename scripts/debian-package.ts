import {execFile} from 'node:child_process';
import {createHash} from 'node:crypto';
import {chmod, copyFile, cp, lstat, mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {gzipSync} from 'node:zlib';

const run = promisify(execFile);

type LockedPackage = {dev?: boolean; devOptional?: boolean; optional?: boolean};

type Options = {
	root: string;
	/** The packed server: the package installs its files. */
	server: string;
	version: string;
	/** The time of every file. */
	seconds: number;
	file: string;
};

/** The folders of packages that the program loads, without those of the embedded database, which are of one platform. */
const listPackages = async (root: string): Promise<string[]> => {
	const lock = JSON.parse(await readFile(path.join(root, 'package-lock.json'), 'utf8')) as {
		packages: Record<string, LockedPackage>;
	};
	return Object.entries(lock.packages).flatMap(([name, {dev, devOptional, optional}]) =>
		name !== '' && !dev && !devOptional && !optional ? [name] : [],
	);
};

/** Copies what npm would install for production; a package inside another one is copied by itself. */
const copyPackages = async (root: string, to: string): Promise<void> => {
	for (const name of await listPackages(root)) {
		const from = path.join(root, name);
		await cp(from, path.join(to, name), {
			recursive: true,
			filter: (file) => path.relative(from, file).split(path.sep)[0] !== 'node_modules',
		});
	}
};

/** Every path below a folder, folders before what is in them. */
const walk = async (folder: string): Promise<string[]> => {
	const entries = (await readdir(folder, {withFileTypes: true})).sort((one, other) => (one.name < other.name ? -1 : 1));
	const inner = await Promise.all(
		entries.map(async (entry) => {
			const file = path.join(folder, entry.name);
			return entry.isDirectory() ? [file, ...(await walk(file))] : [file];
		}),
	);
	return inner.flat();
};

/** Modes that do not depend on the machine: folders and programs 0755, other files 0644. */
const settle = async (folder: string, programs: ReadonlySet<string>, seconds: number): Promise<void> => {
	// From the inside out, because a change in a folder changes its time.
	for (const file of [folder, ...(await walk(folder))].toReversed()) {
		const isFolder = (await lstat(file)).isDirectory();
		await chmod(file, isFolder || programs.has(path.relative(folder, file)) ? 0o755 : 0o644);
		await utimes(file, seconds, seconds);
	}
};

const md5sums = async (folder: string): Promise<string> => {
	const lines = (await walk(folder)).map(async (file) => {
		const name = path.relative(folder, file);
		const isSummed = (await lstat(file)).isFile() && !/^(?:DEBIAN|etc)\//.test(name);
		const sum =
			isSummed &&
			createHash('md5')
				.update(await readFile(file))
				.digest('hex');
		return sum ? `${sum}  ${name}\n` : '';
	});
	return (await Promise.all(lines)).join('');
};

const control = (version: string, kilobytes: number): string => `Package: oplink
Version: ${version}
Architecture: all
Maintainer: Oplink <oplink@localhost>
Installed-Size: ${kilobytes}
Depends: adduser, init-system-helpers (>= 1.54), nodejs (>= 20.19)
Recommends: postgresql
Suggests: caddy, redis-server
Section: web
Priority: optional
Description: deep links that one hosts oneself
 Oplink serves short links that open apps: Universal Links, App Links, and
 deferred deep links that survive an installation. One server and one CLI.
 .
 The server keeps its data in PostgreSQL. Debian 12 has Node.js 18: take a
 later one from nodejs.org or NodeSource.
`;

const UNITS = ['oplink-backup.service', 'oplink-backup.timer', 'oplink-doctor.service', 'oplink-doctor.timer'];
const SCRIPTS = ['postinst', 'prerm', 'postrm'];

/** Makes the Debian package: files below /usr, one configuration file, a user, a service and two timers. */
export const buildDebianPackage = async ({root, server, version, seconds, file}: Options): Promise<void> => {
	const stage = await mkdtemp(path.join(tmpdir(), 'oplink-deb-'));
	try {
		const at = (...parts: string[]) => path.join(stage, ...parts);
		const sources = path.join(root, 'scripts', 'debian');
		const program = at('usr/lib/oplink');
		const units = at('usr/lib/systemd/system');
		const documents = at('usr/share/doc/oplink');
		for (const folder of [program, units, documents, at('usr/bin'), at('etc/oplink'), at('DEBIAN')]) {
			await mkdir(folder, {recursive: true});
		}

		await run('tar', ['-xzf', server, '-C', program, '--strip-components=1']);
		await copyPackages(root, program);
		await copyFile(path.join(sources, 'oplink.sh'), at('usr/bin/oplink'));
		await copyFile(path.join(sources, 'oplink.env'), at('etc/oplink/oplink.env'));
		await copyFile(path.join(root, 'docs/operating/oplink.service'), path.join(units, 'oplink.service'));
		for (const unit of UNITS) {
			await copyFile(path.join(sources, unit), path.join(units, unit));
		}

		await copyFile(path.join(root, 'LICENSE'), path.join(documents, 'copyright'));
		const changes = await readFile(path.join(root, 'CHANGELOG.md'));
		await writeFile(path.join(documents, 'changelog.gz'), gzipSync(changes, {level: 9}));
		await writeFile(at('DEBIAN/conffiles'), '/etc/oplink/oplink.env\n');
		for (const script of SCRIPTS) {
			await copyFile(path.join(sources, script), at('DEBIAN', script));
		}

		const bytes = await Promise.all((await walk(at('usr'))).map(async (one) => (await lstat(one)).size));
		await writeFile(
			at('DEBIAN/control'),
			control(version, Math.ceil(bytes.reduce((sum, size) => sum + size, 0) / 1024)),
		);
		await writeFile(at('DEBIAN/md5sums'), await md5sums(stage));
		const programs = new Set(['usr/bin/oplink', ...SCRIPTS.map((script) => `DEBIAN/${script}`)]);
		await settle(stage, programs, seconds);
		await run('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', stage, file], {
			// Several threads cut the archive into other blocks.
			env: {...process.env, SOURCE_DATE_EPOCH: String(seconds), DPKG_DEB_THREADS_MAX: '1'},
		});
	} finally {
		await rm(stage, {recursive: true, force: true});
	}
};
