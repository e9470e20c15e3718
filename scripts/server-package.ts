import {cp, mkdtemp, readdir, readFile, rm, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {OUTSIDE} from './bundle-options.ts';
import {packFolder, writeJson} from './client-package.ts';
import {nameOf, readPackages} from './locked-packages.ts';

export const LICENSES = 'LICENSES-OF-PACKAGES';

type Manifest = {files: string[]; dependencies: Record<string, string>};

/** The license of each package that is in the bundle or beside it; npm brings those of optional ones. */
const licensesOf = async (root: string): Promise<string> => {
	const packages = Object.entries(await readPackages(root)).filter(([, {optional}]) => !optional);
	const texts = packages.map(async ([folder, {version, license}]) => {
		const names = (await readdir(path.join(root, folder)))
			.filter((name) => /^(?:licen[cs]e|notice)/i.test(name))
			.sort();
		const found = await Promise.all(names.map((name) => readFile(path.join(root, folder, name), 'utf8')));
		return [`${nameOf(folder)} ${version}: ${license}`, ...found].join('\n\n');
	});
	return (await Promise.all(texts)).join(`\n${'-'.repeat(78)}\n`);
};

/**
 * Packs the built server. Its manifest has neither scripts nor the packages that the bundle contains, so an installation
 * fetches few. @returns the path of the archive in `destination`.
 */
export const packServer = async (root: string, destination: string): Promise<string> => {
	const stage = await mkdtemp(path.join(tmpdir(), 'oplink-server-'));
	try {
		const {scripts, devDependencies, allowScripts, overrides, scarfSettings, ava, ...manifest} = JSON.parse(
			await readFile(path.join(root, 'package.json'), 'utf8'),
		);
		const {files, dependencies}: Manifest = manifest;
		for (const name of ['LICENSE', 'README.md', ...files.filter((name) => !name.startsWith('!'))]) {
			await cp(path.join(root, name), path.join(stage, name), {recursive: true});
		}

		await writeFile(path.join(stage, LICENSES), await licensesOf(root));
		await writeJson(path.join(stage, 'package.json'), {
			...manifest,
			files: [...files, LICENSES],
			dependencies: Object.fromEntries(Object.entries(dependencies).filter(([name]) => OUTSIDE.includes(name))),
		});
		return await packFolder(stage, destination);
	} finally {
		await rm(stage, {recursive: true, force: true});
	}
};
