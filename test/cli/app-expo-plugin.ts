import {readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {type ExpoConfig, type OplinkPlugin, withOplink} from '../../src/client/expo.ts';
import type {Finding} from '../../src/operations/doctor/finding.ts';
import {packageRoot} from '../../src/platform/package-root.ts';
import {checkFiles, fault, kitFiles, serverOf} from './_app-files.ts';
import {folderOf} from './_folder.ts';
import {ends, runCli} from './_run-cli.ts';

/** What docs/sdk.md has an Expo project write, for the server of these tests. */
const project = {
	name: 'shop',
	ios: {bundleIdentifier: 'com.acme.shop.ios', supportsTablet: true},
	android: {package: 'com.acme.shop', adaptiveIcon: {}},
};
const settings = {links: ['go.acme.example', 'go.example.com/Ab12'], scheme: 'acmeshop'};

const FILES = path.join(packageRoot, 'test/fixtures/app/expo');
const fixture = (name: string): Promise<string> => readFile(path.join(FILES, name), 'utf8');

test('the plugin writes what app kit prints, and app check passes', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	const {expo = ''} = await kitFiles(env, 'expo');
	const config = withOplink(project, settings);
	const {expo: printed} = JSON.parse(expo) as {expo: object};
	t.like(config, printed);
	t.deepEqual((await checkFiles(folder, env, {expo: JSON.stringify(config)})).faults, []);
});

for (const [title, changed, expected] of [
	['a host', {links: ['go.example.com/Ab12']}, /go\.acme\.example/],
	['the part of the shared domain', {links: ['go.acme.example', 'go.example.com']}, /go\.example\.com/],
	['the scheme', {scheme: 'other'}, /acmeshop/],
] satisfies Array<[string, Partial<OplinkPlugin>, RegExp]>) {
	test(`app check names ${title} that the plugin's settings lack`, async (t) => {
		const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
		const config = withOplink(project, {...settings, ...changed});
		const {faults} = ends(t, await checkFiles(folder, env, {expo: JSON.stringify(config)}), 1);
		t.true(
			faults.map(fault).every((line) => expected.test(line)),
			faults.map(fault).join('\n'),
		);
	});
}

test('app check reads the plugin in the app.json of a folder, and names the line of a setting that is wrong', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	const check = async (changed: object, expoOption = '.') => {
		const expo = {...project, plugins: ['expo-router', ['oplink/expo', {...settings, ...changed}]]};
		await writeFile(path.join(folder, 'app.json'), JSON.stringify({expo}, null, '\t'));
		const {stdout, exitCode} = await runCli(`app check --org Ab12 --expo ${expoOption} --json`, {
			env,
			io: {cwd: folder},
		});
		const {findings} = JSON.parse(stdout) as {findings: Finding[]};
		return {exitCode, faults: findings.filter(({status}) => status !== 'ok').map(fault)};
	};
	t.deepEqual(await check({}), {exitCode: 0, faults: []});
	t.deepEqual(await check({}, 'app.json'), {exitCode: 0, faults: []});
	for (const [changed, expected] of [
		[{links: ['go.acme.example', 'go.example.com/Zz99']}, /app\.json:19/],
		[{links: ['go.acme.example', 'go example']}, /links must be hosts.*'go example'/],
		[{links: []}, /app\.json:\d+.*links must name at least one host|links must name at least one host.*app\.json/],
		[{links: ['go.acme.example']}, /go\.example\.com/],
		[{scheme: 'other'}, /acmeshop/],
	] as const) {
		const {faults} = ends(t, await check(changed), 1);
		t.regex(faults.join('\n'), expected);
	}
});

/** Written by `npx expo prebuild` of Expo 57.0.24 over its bare template, in a project with these settings. */
test('app check passes on the files that Expo makes of it', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	const files = {
		android: await fixture('AndroidManifest.xml'),
		ios: await fixture('shop.entitlements'),
		info: await fixture('Info.plist'),
	};
	t.deepEqual((await checkFiles(folder, env, files)).faults, []);
});

test('the plugin adds to what is there, and a second time nothing', (t) => {
	const existing = {
		scheme: 'oldshop',
		ios: {associatedDomains: ['applinks:old.example.com', 'applinks:go.acme.example']},
		android: {
			intentFilters: [{action: 'VIEW', data: {scheme: 'https', host: 'old.example.com'}, category: 'BROWSABLE'}],
		},
	} satisfies ExpoConfig;
	const once: ExpoConfig = withOplink(existing, {...settings, appClips: ['go.acme.example']});
	t.deepEqual(once.scheme, ['oldshop', 'acmeshop']);
	t.deepEqual(once.ios?.associatedDomains, [
		'applinks:old.example.com',
		'applinks:go.acme.example',
		'applinks:go.example.com',
		'appclips:go.acme.example',
	]);
	t.deepEqual(once.android?.intentFilters?.[0], existing.android.intentFilters[0]);
	t.is(once.android?.intentFilters?.length, 3);
	t.deepEqual(withOplink(once, {...settings, appClips: ['go.acme.example']}), once);
	t.is(existing.ios.associatedDomains.length, 2);
});

test('settings that cannot work are refused', (t) => {
	for (const links of [
		[],
		['go'],
		['http://go.acme.example'],
		['go.acme.example/too/long'],
		['go.acme.example:8443'],
	]) {
		t.throws(() => withOplink(project, {...settings, links}), {instanceOf: TypeError, message: /^oplink\/expo: links/});
	}

	t.notThrows(() => withOplink(project, {links: ['https://go.acme.example/']}));
});
