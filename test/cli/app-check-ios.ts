import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {exampleAppConfig} from '../helpers/builders.ts';
import {checkFiles, fault, kitFiles, serverOf} from './_app-files.ts';
import {folderOf} from './_folder.ts';
import {ends, runCli} from './_run-cli.ts';

const entitlementsWith = (domains: string[], more = ''): string =>
	`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>${more}<key>com.apple.developer.associated-domains</key><array>
${domains.map((text) => `<string>${text}</string>`).join('\n')}
</array></dict></plist>`;

for (const [title, domains, more, expected] of [
	['a wildcard', ['applinks:*.acme.example', 'applinks:go.example.com', 'webcredentials:acme.example'], '', []],
	[
		'a left-over developer mode',
		['applinks:go.acme.example', 'applinks:go.example.com', 'applinks:go.acme.example?mode=developer'],
		'',
		['warn ios.developerMode development builds alone use applinks:go.acme.example?mode=developer (ios:6)'],
	],
	[
		'developer mode alone',
		['applinks:go.acme.example?mode=developer', 'applinks:go.example.com'],
		'',
		[
			'fail ios.developerMode links on go.acme.example open the app in development builds alone: applinks:go.acme.example?mode=developer (ios:4)',
		],
	],
	[
		'a scheme and another service',
		['applinks:https://go.acme.example', 'webcredentials:go.example.com'],
		'',
		[
			'fail ios.host the associated domain applinks:https://go.acme.example is not applinks:go.acme.example (ios:4)',
			'fail ios.host the associated domains lack applinks:go.example.com (ios:4)',
		],
	],
	[
		'another team',
		['applinks:go.acme.example', 'applinks:go.example.com'],
		'<key>application-identifier</key><string>ZZZZZ12345.com.acme.shop.ios</string>',
		[
			'fail ios.appId the app id is ZZZZZ12345.com.acme.shop.ios, but ABCDE12345.com.acme.shop.ios is configured (ios:3)',
		],
	],
	[
		'ids that the build fills in',
		['applinks:go.acme.example', 'applinks:go.example.com'],
		'<key>application-identifier</key><string>$(AppIdentifierPrefix)$(CFBundleIdentifier)</string>',
		[],
	],
] as const) {
	test(`entitlements with ${title}`, async (t) => {
		const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
		const {faults} = await checkFiles(folder, env, {ios: entitlementsWith([...domains], more)});
		t.deepEqual(faults.map(fault), [...expected]);
	});
}

test('a file of another kind is named with the option that takes it', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	const {ios = '', info = ''} = await kitFiles(env, 'ios');
	const {faults} = await checkFiles(folder, env, {ios: info, info: ios, android: ios});
	t.deepEqual(
		faults.map(({message, next}) => `${message}; ${next}`),
		[
			'android:1: it is not an Android manifest: it begins with plist; Give an AndroidManifest.xml',
			'ios:2: it has CFBundleURLTypes, so it is an Info.plist and not entitlements; Give it as --info',
			'info:2: it has com.apple.developer.associated-domains, so it is entitlements and no Info.plist; Give it as --ios',
		],
	);
});

test('an Info.plist with another bundle id and a switched-on Flutter is named at its lines', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	const {info = ''} = await kitFiles(env, 'flutter');
	const changed = info
		.replace('<false/>', '<true/>')
		.replace('<dict>', '<dict><key>CFBundleIdentifier</key><string>com.acme</string>');
	const {faults} = await checkFiles(folder, env, {info: changed});
	t.deepEqual(faults.map(fault), [
		'fail ios.bundleId the bundle id is com.acme, but com.acme.shop.ios is configured (info:2)',
		'fail flutter.switch FlutterDeepLinkingEnabled is true: Flutter opens links itself, beside the plugin (info:4)',
	]);
});

test('an App Clip needs the domains of the organization, which app kit prints', async (t) => {
	const appConfig = {...exampleAppConfig, ios: {...exampleAppConfig.ios, appClipBundleId: 'com.acme.shop.ios.Clip'}};
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t, {appConfig})]);
	const files = await kitFiles(env, 'ios');
	t.deepEqual((await checkFiles(folder, env, files)).faults, []);
	const without = files['ios']?.replace(/.*appclips:go\.acme\.example.*\n/, '') ?? '';
	const {faults} = await checkFiles(folder, env, {ios: without});
	t.deepEqual(faults.map(fault), [
		'fail ios.appClip the associated domains lack appclips:go.acme.example for the App Clip (ios:4)',
	]);
});

test('a Flutter project is recognized by its pubspec.yaml', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	await writeFile(path.join(folder, 'pubspec.yaml'), '');
	const {faults} = await checkFiles(folder, env, await kitFiles(env, 'capacitor'));
	t.deepEqual(
		faults.map(({check}) => check),
		['flutter.switch', 'flutter.switch'],
	);
});

test('an Expo configuration that is a program is not guessed at; its result is read', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	const {expo = ''} = await kitFiles(env, 'expo');
	const app = path.join(folder, 'app.json');
	await writeFile(app, `// a comment, which Expo reads too\n${expo}`);
	const check = (given: string, stdin = '') =>
		runCli(`app check --org Ab12 --expo ${given}`, {env, stdin, io: {cwd: folder}});
	t.is((await check('.')).exitCode, 0);
	t.is((await check('-', JSON.stringify(JSON.parse(expo).expo))).exitCode, 0);
	await writeFile(path.join(folder, 'app.config.ts'), 'process.exit(9)');
	ends(t, await check('.'), 1, {stdout: /app\.config\.ts: it is a program, which is not run here/});
});

test('the report for people has the form of doctor, within 80 columns', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	await writeFile(path.join(folder, 'App.entitlements'), entitlementsWith(['applinks:go.acme.example']));
	const {stdout} = await runCli('app check --org Ab12 --ios App.entitlements', {
		env,
		io: {cwd: folder},
	});
	t.is(
		stdout,
		`Link hosts
  ok    go.acme.example
  ok    go.example.com
iOS
  ok    links on go.acme.example open the app (App.entitlements:4)
  fail  the associated domains lack applinks:go.example.com (App.entitlements:3)
        Next: oplink app kit --org Ab12 --for ios prints its lines

1 failure, 0 warnings, 3 ok
`,
	);
});
