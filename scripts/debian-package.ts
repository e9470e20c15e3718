import {execFile} from 'node:child_process';
import {createHash} from 'node:crypto';
import {chmod, copyFile, cp, lstat, mkdir, mkdtemp, readFile, rm, utimes, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {gzipSync} from 'node:zlib';
import {OUTSIDE} from './bundle-options.ts';
import {settleModes, walk} from './file-tree.ts';
import {type Packages, readPackages} from './locked-packages.ts';
import {LICENSES} from './server-package.ts';

const run = promisify(execFile);

type Options = {
	root: string;
	/** The packed server: the package installs its files. */
	server: string;
	version: string;
	/** The time of every file. */
	seconds: number;
	file: string;
};

/** The folders of the packages that the bundle does not contain, with those that they load. */
const foldersOutside = (packages: Packages): ReadonlySet<string> => {
	const folders = new Set<string>();
	const add = (name: string, from: string): void => {
		const folder = path.join(from, 'node_modules', name);
		const locked = packages[folder];
		if (locked === undefined && from !== '') {
			// Not in the folder of the package that needs it, so above. A peer that nobody has is nowhere.
			add(name, from.slice(0, Math.max(0, from.lastIndexOf('node_modules') - 1)));
		}

		// The embedded database is of one platform.
		if (locked !== undefined && !locked.optional && !folders.has(folder)) {
			folders.add(folder);
			for (const needed of Object.keys({...locked.dependencies, ...locked.peerDependencies})) {
				add(needed, folder);
			}
		}
	};
	for (const name of OUTSIDE) {
		add(name, '');
	}

	return folders;
};

/** Parts of a package that no program loads: tests, documents, examples, types, source maps, settings of its authors. */
const SPARE_FOLDERS = /^(?:node_modules|tests?|benchmarks|docs|examples?)$/;
const SPARE_FILES = /^\.|\.(?:map|[cm]?ts|html)$/;

/** Copies the packages that the bundle does not contain; a package inside another one is copied by itself. */
const copyPackages = async (root: string, to: string): Promise<void> => {
	for (const name of foldersOutside(await readPackages(root))) {
		const from = path.join(root, name);
		await cp(from, path.join(to, name), {
			recursive: true,
			filter: (file) => !SPARE_FOLDERS.test(path.relative(from, file)) && !SPARE_FILES.test(path.basename(file)),
		});
	}
};

/** As Debian counts: a file by its blocks, a folder as one, whatever the file system says. */
const kilobytesOf = async (folder: string): Promise<number> => {
	const stats = await Promise.all((await walk(folder)).map((file) => lstat(file)));
	return stats.reduce((sum, stat) => sum + (stat.isFile() ? Math.ceil(stat.size / 1024) : 1), 0);
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

const MAINTAINER = 'Oplink <oplink@oplink.invalid>';

const control = (version: string, kilobytes: number): string => `Package: oplink
Version: ${version}
Architecture: all
Maintainer: ${MAINTAINER}
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
 later package from NodeSource.
`;

/** Debian's own form of a changelog, which names the version; the changes are in CHANGELOG.md. */
const changelog = (version: string, seconds: number): string => `oplink (${version}) stable; urgency=medium

  * Changes are in /usr/share/doc/oplink/CHANGELOG.md.gz.

 -- ${MAINTAINER}  ${new Date(seconds * 1000).toUTCString().replace('GMT', '+0000')}
`;

const writeZipped = (file: string, content: Buffer | string): Promise<void> =>
	writeFile(file, gzipSync(content, {level: 9}));

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
		const manual = at('usr/share/man/man1');
		for (const folder of [program, units, documents, manual, at('usr/bin'), at('etc/oplink'), at('DEBIAN')]) {
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

		const license = await readFile(path.join(root, 'LICENSE'), 'utf8');
		await writeFile(
			path.join(documents, 'copyright'),
			`${license}\nThe packages in it have their own: ${LICENSES}.gz.\n`,
		);
		await writeZipped(path.join(documents, `${LICENSES}.gz`), await readFile(path.join(program, LICENSES)));
		await rm(path.join(program, LICENSES));
		await writeZipped(path.join(documents, 'CHANGELOG.md.gz'), await readFile(path.join(root, 'CHANGELOG.md')));
		await writeZipped(path.join(documents, 'changelog.gz'), changelog(version, seconds));
		await writeZipped(path.join(manual, 'oplink.1.gz'), await readFile(path.join(sources, 'oplink.1')));
		await writeFile(at('DEBIAN/conffiles'), '/etc/oplink/oplink.env\n');
		for (const script of SCRIPTS) {
			await copyFile(path.join(sources, script), at('DEBIAN', script));
		}

		await writeFile(at('DEBIAN/control'), control(version, await kilobytesOf(at('usr'))));
		await writeFile(at('DEBIAN/md5sums'), await md5sums(stage));
		await settleModes(stage);
		await chmod(stage, 0o755);
		// From the inside out, because a change in a folder changes its time.
		for (const file of [stage, ...(await walk(stage))].toReversed()) {
			await utimes(file, seconds, seconds);
		}

		await run('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', stage, file], {
			// Several threads cut the archive into other blocks.
			env: {...process.env, SOURCE_DATE_EPOCH: String(seconds), DPKG_DEB_THREADS_MAX: '1'},
		});
	} finally {
		await rm(stage, {recursive: true, force: true});
	}
};
