import {execFile, execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {mkdir, readdir, readFile, rename, rm, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {promisify} from 'node:util';
import {buildClientPackage, packFolder} from './client-package.ts';
import {buildDebianPackage} from './debian-package.ts';
import {createSbom} from './sbom.ts';
import {packServer} from './server-package.ts';

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

	const {stdout} = await run('git', ['-c', 'log.showSignature=false', 'log', '-1', '--format=%ct'], {cwd: root}).catch(
		() => {
			throw new Error('Set SOURCE_DATE_EPOCH: this folder is no clone, so the time of its commit is unknown');
		},
	);
	return Number(stdout.trim());
};

/** The archive as npm packs the folder, under a name of ours. */
const pack = async (name: string, packed: Promise<string>): Promise<string> => {
	const archive = path.join(out, name);
	await rename(await packed, archive);
	return archive;
};

const seconds = await epoch();
process.env['SOURCE_DATE_EPOCH'] = String(seconds);
process.umask(0o022);
await rm(out, {recursive: true, force: true});
await mkdir(out);
await run('npm', ['run', 'build'], {cwd: root});
const client = path.join(root, 'dist', 'oplink-client');
await buildClientPackage(root, client);
await pack(`oplink-client-${version}.tgz`, packFolder(client, out));
const server = await pack(`oplink-${version}.tgz`, packServer(root, out));
await buildDebianPackage({root, server, version, seconds, file: path.join(out, `oplink_${version}_all.deb`)});
await writeFile(path.join(out, `oplink-${version}.cdx.json`), await createSbom(root, seconds));

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
	// It asks for the password of the key.
	execFileSync('minisign', ['-S', '-s', key, '-m', path.join(out, 'SHA256SUMS'), '-c', comment, '-t', comment], {
		stdio: 'inherit',
	});
}

process.stdout.write(text);
