import {writeFile} from 'node:fs/promises';
import path from 'node:path';
import test from 'ava';
import {exampleAppConfig} from '../helpers/builders.ts';
import {appProject} from './_app-files.ts';
import {ends} from './_run-cli.ts';

const entitlementsWith = (domains: string[], more = ''): string =>
	`<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>${more}<key>com.apple.developer.associated-domains</key><array>
${domains.map((text) => `<string>${text}</string>`).join('\n')}
</array></dict></plist>`;

for (const [title, domains, more, expected] of [
	[
		'a wildcard',
		['applinks:*.acme.example', 'applinks:go.example.com', 'applinks:acme.example'],
		'',
		[
			'fail ios.host applinks:*.acme.example does not open links on go.acme.example: iOS takes the file of acme.example for it (ios:4)',
		],
	],
	[
		'hosts that the build fills in',
		['applinks:$(SUB).acme.example', 'applinks:$(SHARED_HOST)', 'applinks:$(SUB).other.example'],
		'',
		[
			'warn ios.host applinks:go.acme.example may be applinks:$(SUB).acme.example, which the build fills in (ios:4)',
			'warn ios.host applinks:go.example.com may be applinks:$(SHARED_HOST), which the build fills in (ios:5)',
		],
	],
	[
		'hosts that the build makes others',
		['applinks:$(SUB).acme.other', 'applinks:go.example.com'],
		'',
		['fail ios.host the associated domains lack applinks:go.acme.example (ios:4)'],
	],
	[
		'the App ID prefix of an old app, and its team',
		['applinks:go.acme.example', 'applinks:go.example.com'],
		'<key>application-identifier</key><string>ABCDE12345.com.acme.shop.ios</string><key>com.apple.developer.team-identifier</key><string>NEWTEAM123</string>',
		[],
	],
	[
		'another team and no app id',
		['applinks:go.acme.example', 'applinks:go.example.com'],
		'<key>com.apple.developer.team-identifier</key><string>NEWTEAM123</string>',
		['warn ios.teamId the team id is NEWTEAM123, but ABCDE12345 is configured (ios:3)'],
	],
	[
		'a literal bundle id of another app behind a prefix that the build fills in',
		['applinks:go.acme.example', 'applinks:go.example.com'],
		'<key>application-identifier</key><string>$(AppIdentifierPrefix)com.acme.other</string>',
		[
			'fail ios.appId the app id is $(AppIdentifierPrefix)com.acme.other, but ABCDE12345.com.acme.shop.ios is configured (ios:3)',
		],
	],
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
		const {check} = await appProject(t);
		t.deepEqual((await check({ios: entitlementsWith([...domains], more)})).faults, [...expected]);
	});
}

test('a file of another kind is named with the option that takes it', async (t) => {
	const {check, kit} = await appProject(t);
	const {ios = '', info = ''} = await kit('ios');
	const {findings} = await check({ios: info, info: ios, android: ios});
	const found = findings.flatMap(({status, message, next}) => (status === 'ok' ? [] : [`${message}; ${next}`]));
	t.deepEqual(found, [
		'android:1: it is not an Android manifest: it begins with plist; Give an AndroidManifest.xml',
		'ios:2: it has CFBundleURLTypes, so it is an Info.plist and not entitlements; Give it as --info',
		'info:2: it has com.apple.developer.associated-domains, so it is entitlements and no Info.plist; Give it as --ios',
	]);
});

test('an Info.plist with another bundle id and a switched-on Flutter is named at its lines', async (t) => {
	const {check, kit} = await appProject(t);
	const {info = ''} = await kit('flutter');
	const changed = info
		.replace('<false/>', '<true/>')
		.replace('<dict>', '<dict><key>CFBundleIdentifier</key><string>com.acme</string>');
	t.deepEqual((await check({info: changed})).faults, [
		'fail ios.bundleId the bundle id is com.acme, but com.acme.shop.ios is configured (info:2)',
		'fail flutter.switch FlutterDeepLinkingEnabled is true: Flutter opens links itself, beside the plugin (info:4)',
	]);
});

test('an App Clip needs the domains of the organization, which app kit prints', async (t) => {
	const appConfig = {...exampleAppConfig, ios: {...exampleAppConfig.ios, appClipBundleId: 'com.acme.shop.ios.Clip'}};
	const {check, kit} = await appProject(t, {appConfig});
	const files = await kit('ios');
	t.deepEqual((await check(files)).faults, []);
	const without = files['ios']?.replace(/.*appclips:go\.acme\.example.*\n/, '') ?? '';
	t.deepEqual((await check({ios: without})).faults, [
		'fail ios.appClip the associated domains lack appclips:go.acme.example for the App Clip (ios:4)',
	]);
});

test('a Flutter project is recognized by its pubspec.yaml', async (t) => {
	const {folder, check, kit} = await appProject(t);
	await writeFile(path.join(folder, 'pubspec.yaml'), '');
	t.deepEqual((await check(await kit('capacitor'))).checks, ['flutter.switch', 'flutter.switch']);
});

test('an Expo configuration that is a program is not guessed at; its result is read', async (t) => {
	const {folder, kit, run} = await appProject(t);
	const {expo = ''} = await kit('expo');
	await writeFile(path.join(folder, 'app.json'), `// a comment, which Expo reads too\n${expo}`);
	t.is((await run(['--expo', '.'])).exitCode, 0);
	t.is((await run(['--expo', '-'], JSON.stringify(JSON.parse(expo).expo))).exitCode, 0);
	await writeFile(path.join(folder, 'app.config.ts'), 'process.exit(9)');
	ends(t, await run(['--expo', '.']), 1, {stdout: /app\.config\.ts: it is a program, which is not run here/});
});

test('the report for people has the form of doctor, within 80 columns', async (t) => {
	const {folder, run} = await appProject(t);
	await writeFile(path.join(folder, 'App.entitlements'), entitlementsWith(['applinks:go.acme.example']));
	ends(t, await run(['--ios', 'App.entitlements']), 1, {
		stdout: `Link hosts
  ok    go.acme.example
  ok    go.example.com
iOS
  ok    links on go.acme.example open the app (App.entitlements:4)
  fail  the associated domains lack applinks:go.example.com (App.entitlements:3)
        Next: oplink app kit --org Ab12 --for ios prints its lines

1 failure, 0 warnings, 3 ok
`,
	});
});
