import {execFile} from 'node:child_process';
import {createHash} from 'node:crypto';
import {mkdir, readdir, readFile, rename, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import {buildClientPackage, packClient} from './client-package.ts';
import {buildDebianPackage} from './debian-package.ts';

/**
 * Writes a release to `release/`, the same bytes for the same commit: both npm packages, the Debian package, the list of
 * its parts, and checksums; a signature too if MINISIGN_KEY names a secret key of minisign.
 */
const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '..');
const out = path.join(root, 'release');
const manifest = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as {version: string};
const {version} = manifest;

/** The time of the commit: what changes with the clock would be other bytes. */
const epoch = async (): Promise<number> => {
	const given = process.env['SOURCE_DATE_EPOCH'];
	if (given) {
		return Number(given);
	}

	const {stdout} = await run('git', ['log', '-1', '--format=%ct'], {cwd: root}).catch(() => {
		throw new Error('Set SOURCE_DATE_EPOCH: this folder is no clone, so the time of its commit is unknown');
	});
	return Number(stdout.trim());
};

/** The archive as npm packs the folder, under a name of ours. */
const pack = async (name: string, packed: Promise<string>): Promise<string> => {
	const archive = path.join(out, name);
	await rename(await packed, archive);
	return archive;
};

/** Every package of the server in CycloneDX, without the number and the time that npm makes up. */
const writeSbom = async (file: string, seconds: number): Promise<void> => {
	const {stdout} = await run('npm', ['sbom', '--sbom-format=cyclonedx', '--omit=dev', '--package-lock-only'], {
		cwd: root,
		maxBuffer: 64 * 2 ** 20,
	});
	const bom = JSON.parse(stdout) as {serialNumber: string; metadata: {timestamp: string}};
	bom.metadata.timestamp = new Date(seconds * 1000).toISOString();
	bom.serialNumber = '';
	const hash = createHash('sha256').update(JSON.stringify(bom)).digest('hex');
	// A UUID of version 8: its bits are ours.
	bom.serialNumber = `urn:uuid:${hash.slice(0, 8)}-${hash.slice(8, 12)}-8${hash.slice(13, 16)}-a${hash.slice(17, 20)}-${hash.slice(20, 32)}`;
	await writeFile(file, `${JSON.stringify(bom, null, 2)}\n`);
};

const seconds = await epoch();
process.env['SOURCE_DATE_EPOCH'] = String(seconds);
process.umask(0o022);
await rm(out, {recursive: true, force: true});
await mkdir(out);
await run('npm', ['run', 'build'], {cwd: root});
const client = path.join(root, 'dist', 'oplink-client');
await buildClientPackage(root, client);
await pack(`oplink-client-${version}.tgz`, packClient(client, out));
const packServer = async (): Promise<string> => {
	const {stdout} = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], {cwd: root});
	const [{filename}] = JSON.parse(stdout) as [{filename: string}];
	return path.join(out, filename);
};
const server = await pack(`oplink-${version}.tgz`, packServer());
await buildDebianPackage({root, server, version, seconds, file: path.join(out, `oplink_${version}_all.deb`)});
await writeSbom(path.join(out, `oplink-${version}.cdx.json`), seconds);

const names = (await readdir(out)).sort();
const sums = names.map(async (name) => {
	const hash = createHash('sha256')
		.update(await readFile(path.join(out, name)))
		.digest('hex');
	return `${hash}  ${name}\n`;
});
const text = (await Promise.all(sums)).join('');
await writeFile(path.join(out, 'SHA256SUMS'), text);
const key = process.env['MINISIGN_KEY'];
if (key) {
	const comment = `oplink ${version}`;
	await run('minisign', ['-S', '-s', key, '-m', path.join(out, 'SHA256SUMS'), '-c', comment, '-t', comment]);
}

process.stdout.write(text);
