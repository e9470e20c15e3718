import {execFile} from 'node:child_process';
import {access, constants, mkdir, mkdtemp, readdir, rename, rm} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import {packageRoot} from '../../src/package-root.ts';

export type RedisBinary = {command: string; env: NodeJS.ProcessEnv};

const run = promisify(execFile);

const works = async ({command, env}: RedisBinary): Promise<boolean> => {
	try {
		await run(command, ['--version'], {env});
		return true;
	} catch {
		return false;
	}
};

/** What is installed: REDIS_SERVER_BIN, or a server on PATH. */
const findInstalled = async (): Promise<RedisBinary | null> => {
	const {REDIS_SERVER_BIN: given, PATH = ''} = process.env;
	const folders = PATH.split(path.delimiter).filter(Boolean);
	const onPath = ['redis-server', 'valkey-server'].flatMap((name) => folders.map((folder) => path.join(folder, name)));
	for (const command of given ? [given] : onPath) {
		const binary = {command, env: process.env};
		if (await works(binary)) {
			return binary;
		}
	}

	if (given) {
		throw new Error(`REDIS_SERVER_BIN is ${given}, which cannot be run`);
	}

	return null;
};

/** A server in an unpacked package, with the libraries beside it. */
const findUnpacked = async (root: string): Promise<RedisBinary | null> => {
	const usr = path.join(root, 'usr');
	const folders: string[] = [];
	for (const lib of [path.join(usr, 'lib'), path.join(root, 'lib')]) {
		const names = await readdir(lib).catch(() => []);
		folders.push(lib, ...names.filter((name) => name.endsWith('-linux-gnu')).map((name) => path.join(lib, name)));
	}

	const binary = {
		command: path.join(usr, 'bin', 'redis-server'),
		env: {...process.env, LD_LIBRARY_PATH: folders.join(':')},
	};
	return (await works(binary)) ? binary : null;
};

// The C library belongs to the system's loader, and modules of PAM and Perl to packages that a server does not use.
const LIBRARY = /^lib(?!c6$|c-bin$|crypt1$|pam|perl|.*-perl$)\S+$/;
const DIRECT = ['no-recommends', 'no-suggests', 'no-conflicts', 'no-breaks', 'no-replaces', 'no-enhances'];

/** Downloads the distribution's packages with lists of our own, which needs no root and installs nothing. */
const downloadByApt = async (target: string): Promise<void> => {
	const work = await mkdtemp(path.join(path.dirname(target), '.redis-'));
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
		const limits = {cwd: debs, env, timeout: 120_000, maxBuffer: 16_000_000};
		await run('apt-get', [...options, '-qq', 'update'], limits);
		const flags = DIRECT.map((flag) => `--${flag}`);
		const {stdout} = await run('apt-cache', [...options, 'depends', '--recurse', ...flags, 'redis-server'], limits);
		const libraries = stdout.split('\n').filter((line) => LIBRARY.test(line));
		await run('apt-get', [...options, '-qq', 'download', 'redis-server', 'redis-tools', ...libraries], limits);
		for (const deb of await readdir(debs)) {
			await run('dpkg', ['-x', path.join(debs, deb), root], limits);
		}

		await rename(root, target);
	} finally {
		await rm(work, {recursive: true, force: true});
	}
};

const isWritable = async (folder: string): Promise<boolean> => {
	try {
		await mkdir(folder, {recursive: true});
		await access(folder, constants.W_OK);
		return true;
	} catch {
		return false;
	}
};

/** Where a download is kept between runs: the checkout, or the user's own temporary folder where that is read-only. */
const cacheFolders = (): string[] => [
	path.join(packageRoot, '.cache'),
	path.join(os.tmpdir(), `oplink-cache-${process.getuid?.() ?? 'user'}`),
];

/**
 * A real Redis: one that is installed, else one downloaded earlier, else one downloaded now by apt.
 * Throws, with what to do, where there is none: tests of the shared limits and invalidation are never passed over.
 */
export const findRedisBinary = async (): Promise<RedisBinary> => {
	const installed = await findInstalled();
	if (installed) {
		return installed;
	}

	const targets = cacheFolders().map((folder) => path.join(folder, 'redis'));
	for (const target of targets) {
		const unpacked = await findUnpacked(target);
		if (unpacked) {
			return unpacked;
		}
	}

	let reason = 'no folder to download into can be written';
	for (const target of targets) {
		if (await isWritable(path.dirname(target))) {
			try {
				console.error('Downloading redis-server for the tests …');
				await rm(target, {recursive: true, force: true});
				await downloadByApt(target);
				const unpacked = await findUnpacked(target);
				if (unpacked) {
					return unpacked;
				}

				reason = 'the downloaded redis-server does not run here';
			} catch (error) {
				reason = (error as Error).message.trim();
			}

			break;
		}
	}

	throw new Error(
		[
			`The tests need a Redis, and none could be had (${reason}). Provide one in one of three ways:`,
			'  1. set TEST_REDIS_URL to a Redis that may be written to, such as redis://127.0.0.1:6379;',
			'  2. install redis-server or valkey-server, or set REDIS_SERVER_BIN to the path of one;',
			'  3. on Debian or Ubuntu, let apt-get reach its mirrors: the tests download the package by themselves.',
		].join('\n'),
	);
};
