import {execFile} from 'node:child_process';
import {mkdir, mkdtemp, readdir, rename, rm} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';

const execute = promisify(execFile);

// The C library belongs to the system's loader, and modules of PAM and Perl to packages that our programs do not use.
const LIBRARY = /^lib(?!c6$|c-bin$|crypt1$|pam|perl|.*-perl$)\S+$/;
const DIRECT = ['no-recommends', 'no-suggests', 'no-conflicts', 'no-breaks', 'no-replaces', 'no-enhances'];

/** What each package depends on, the first of alternatives alone, read from what `apt-cache depends` prints. */
const readDependencies = (report: string): Map<string, string[]> => {
	const all = new Map<string, string[]>();
	let current: string[] = [];
	let wasAlternative = false;
	for (const line of report.split('\n')) {
		const [, bar, name] = /^ ([ |])(?:Pre)?Depends: (\S+)$/.exec(line) ?? [];
		if (name !== undefined) {
			current.push(...(wasAlternative ? [] : [name]));
			wasAlternative = bar === '|';
		} else if (/^\S/.test(line)) {
			current = [];
			all.set(line, current);
		}
	}

	return all;
};

/** The libraries that the packages need, and those that these need; never what a tool among them would pull in. */
const librariesOf = (packages: string[], report: string): string[] => {
	const dependencies = readDependencies(report);
	const found = new Set<string>();
	const pending = [...packages];
	for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
		for (const library of dependencies.get(name) ?? []) {
			if (LIBRARY.test(library) && !found.has(library)) {
				found.add(library);
				pending.push(library);
			}
		}
	}

	return [...found];
};

/**
 * Unpacks the distribution's packages and their libraries into `target`, a folder that is not there yet. The package
 * lists are our own, so it needs no root and installs nothing.
 * @param finish what is added to the unpacked tree before it is put in its place, all at once.
 */
export const downloadByApt = async (
	packages: string[],
	target: string,
	finish: (root: string) => Promise<void> = async () => {},
): Promise<void> => {
	const work = await mkdtemp(`${target}-`);
	try {
		const [lists, cache, debs, root] = ['lists', 'cache', 'debs', 'root'].map((name) => path.join(work, name)) as [
			string,
			string,
			string,
			string,
		];
		for (const folder of [path.join(lists, 'partial'), path.join(cache, 'archives', 'partial'), debs, root]) {
			await mkdir(folder, {recursive: true});
		}

		const places = [`Dir::State::lists=${lists}`, `Dir::Cache=${cache}`];
		const rights = ['Debug::NoLocking=1', 'APT::Sandbox::User='];
		const options = [...places, ...rights].flatMap((option) => ['-o', option]);
		// apt and dpkg call tools of the system by name, wherever PATH leads.
		const env = {...process.env, LC_ALL: 'C', PATH: `${process.env['PATH']}:/usr/sbin:/usr/bin:/sbin:/bin`};
		const limits = {cwd: debs, env, timeout: 600_000, maxBuffer: 16_000_000};
		await execute('apt-get', [...options, '-qq', 'update'], limits);
		const flags = DIRECT.map((flag) => `--${flag}`);
		const {stdout} = await execute('apt-cache', [...options, 'depends', '--recurse', ...flags, ...packages], limits);
		const libraries = librariesOf(packages, stdout);
		await execute('apt-get', [...options, '-qq', 'download', ...packages, ...libraries], limits);
		for (const deb of await readdir(debs)) {
			await execute('dpkg', ['-x', path.join(debs, deb), root], limits);
		}

		await finish(root);
		await rename(root, target);
	} finally {
		await rm(work, {recursive: true, force: true});
	}
};
