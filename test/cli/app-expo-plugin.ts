import {readFile, writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {type ExpoConfig, type OplinkPlugin, withOplink} from '../../src/client/expo.ts';
import {packageRoot} from '../../src/platform/package-root.ts';
import {appProject} from './_app-files.ts';
import {ends} from './_run-cli.ts';

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
	const {check, kit} = await appProject(t);
	const {expo = ''} = await kit('expo');
	const config = withOplink(project, settings);
	const {expo: printed} = JSON.parse(expo) as {expo: object};
	t.like(config, printed);
	t.deepEqual((await check({expo: JSON.stringify(config)})).faults, []);
});

for (const [title, changed, expected] of [
	['a host', {links: ['go.example.com/Ab12']}, /go\.acme\.example/],
	['the part of the shared domain', {links: ['go.acme.example', 'go.example.com']}, /go\.example\.com/],
	['the scheme', {scheme: 'other'}, /acmeshop/],
] satisfies Array<[string, Partial<OplinkPlugin>, RegExp]>) {
	test(`app check names ${title} that the plugin's settings lack`, async (t) => {
		const {check} = await appProject(t);
		const config = withOplink(project, {...settings, ...changed});
		const {faults} = ends(t, await check({expo: JSON.stringify(config)}), 1);
		for (const line of faults) {
			t.regex(line, expected);
		}
	});
}

test('app check reads the plugin in the app.json of a folder, and names the line of a setting that is wrong', async (t) => {
	const {folder, run} = await appProject(t);
	const check = async (changed: object, expoOption = '.') => {
		const expo = {...project, plugins: ['expo-router', ['oplink/expo', {...settings, ...changed}]]};
		await writeFile(path.join(folder, 'app.json'), JSON.stringify({expo}, null, '\t'));
		return run(['--expo', expoOption, '--json']);
	};
	t.deepEqual(ends(t, await check({}), 0).faults, []);
	t.deepEqual(ends(t, await check({}, 'app.json'), 0).faults, []);
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
	const {check} = await appProject(t);
	const files = {
		android: await fixture('AndroidManifest.xml'),
		ios: await fixture('shop.entitlements'),
		info: await fixture('Info.plist'),
	};
	t.deepEqual((await check(files)).faults, []);
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
	const faulty = ['go', 'http://go.acme.example', 'go.acme.example/too/long', 'go.acme.example:8443'];
	for (const links of [[], ...faulty.map((host) => [host])]) {
		t.throws(() => withOplink(project, {...settings, links}), {instanceOf: TypeError, message: /^oplink\/expo: links/});
	}

	t.notThrows(() => withOplink(project, {links: ['https://go.acme.example/']}));
});
