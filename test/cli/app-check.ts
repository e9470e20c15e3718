import test from 'ava';
import {exampleAppConfig} from '../helpers/builders.ts';
import {isDeep} from '../helpers/deep.ts';
import {checkFiles, fault, kitFiles, serverOf} from './_app-files.ts';
import {folderOf} from './_folder.ts';
import {ends, runCli} from './_run-cli.ts';

for (const platform of ['ios', 'android', 'react-native', 'capacitor']) {
	test(`what app kit prints for ${platform} passes app check`, async (t) => {
		const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
		const {exitCode, faults} = await checkFiles(folder, env, await kitFiles(env, platform));
		t.deepEqual(faults, []);
		t.is(exitCode, 0);
	});
}

/** Both have the lines of all others. */
for (const platform of ['expo', 'flutter']) {
	test(`what app kit prints for ${platform} passes app check, and without any one line app check names it`, async (t) => {
		const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
		const files = await kitFiles(env, platform);
		const whole = await checkFiles(folder, env, files);
		t.deepEqual(whole.faults, []);
		t.is(whole.exitCode, 0);
		for (const [option, content] of Object.entries(files)) {
			const lines = content.split('\n');
			for (const [index, line] of lines.entries()) {
				// Many lines repeat; `npm run test:deep` breaks each of them.
				if (lines.indexOf(line) < index && !isDeep) {
					continue;
				}

				const {faults} = ends(
					t,
					await checkFiles(folder, env, {
						...files,
						[option]: lines.toSpliced(index, 1).join('\n'),
					}),
					1,
				);
				const named = faults.flatMap(({message}) => new RegExp(`${option}:(\\d+)`).exec(message)?.[1] ?? []);
				t.true(named.length > 0, `${option}: ${line}: ${JSON.stringify(faults)}`);
			}
		}
	});
}

/** Lines of the Android kit, changed, and the only finding that is not ok. */
for (const [from, to, expected] of [
	[
		'android:host="go.acme.example"',
		'android:host="go.acme.exampel"',
		'fail android.host no filter has the host go.acme.example (android:8)',
	],
	[
		'android:scheme="https" android:host="go.acme',
		'android:scheme="http" android:host="go.acme',
		'fail android.filter the filter for go.acme.example lacks the scheme https (android:4)',
	],
	[
		'android:autoVerify="true"',
		'android:autoVerify="false"',
		'fail android.filter the filter for go.acme.example lacks autoVerify, so Android opens the browser (android:4)',
	],
	['android:host="go.acme.example"', 'android:host="*.acme.example"', undefined],
	[
		'"/Ab12/"',
		'"/Zz99/"',
		'fail android.path links below /Ab12/ on go.example.com do not open the app: its filter has pathPrefix /Zz99/ (android:14)',
	],
	['"/Ab12/"', '"/"', "fail android.path the app also opens other organizations' links on go.example.com (android:14)"],
	[
		' android:pathPrefix="/Ab12/"',
		'',
		"fail android.path the app also opens other organizations' links on go.example.com (android:10)",
	],
	[
		'android:host="go.acme.example"',
		'android:host="go.acme.example" android:pathPrefix="/Ab12/"',
		'warn android.path links below / on go.acme.example do not open the app: its filter has pathPrefix /Ab12/ (android:8)',
	],
	[
		'android:scheme="acmeshop"',
		'android:scheme="acme"',
		'fail android.scheme no filter has the scheme acmeshop (android:20)',
	],
	[
		'android:scheme="acmeshop"',
		'android:scheme="acmeshop" android:host="go.acme.example"',
		'fail android.scheme the filter for acmeshop:// also has the host go.acme.example, so that it opens no others (android:16)',
	],
	['<manifest ', '<manifest package="com.acme.shop" ', undefined],
	[
		'<manifest ',
		'<manifest package="com.acme.other" ',
		'fail android.package the package com.acme.other is not configured, but com.acme.shop (android:1)',
	],
	[
		'android:host="go.acme.example"',
		'android:host="@string/link_host"',
		'warn android.host go.acme.example may be the host @string/link_host, which the build fills in (android:8)',
	],
	[
		'android:scheme="https" android:host="go.acme.example" />',
		'android:scheme="https" android:host="go.acme.example" /><data android:scheme="acme" />',
		'warn android.filter a filter with autoVerify also has the scheme acme (android:8)',
	],
	['</application>', '', 'fail app.file android:24: it is not valid XML: unexpected close tag'],
] as const) {
	test(`${to === '' ? `no ${from}` : to} in a manifest is ${expected?.split(' ')[0] ?? 'ok'}`, async (t) => {
		const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
		const {android = ''} = await kitFiles(env, 'android');
		t.true(android.includes(from));
		const {exitCode, faults} = await checkFiles(folder, env, {android: android.replace(from, to)});
		t.deepEqual(faults.map(fault), expected === undefined ? [] : [expected]);
		t.is(exitCode, expected?.startsWith('fail') ? 1 : 0);
		t.true(faults.every(({next}) => next !== null));
	});
}

test('an app that opens some hosts only is checked for those', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	const {android = ''} = await kitFiles(env, 'android');
	const check = (...hosts: string[]) =>
		checkFiles(folder, env, {android: android.replace('"go.example.com"', '"other.example.com"')}, hosts);
	t.is((await check()).exitCode, 1);
	t.is((await check('--host', 'GO.acme.example')).exitCode, 0);
	ends(t, await check('--host', 'new.acme.example'), 4, {stderr: /has no verified host 'new\.acme\.example'/});
});

test('a fingerprint that is given has to be configured', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	const [print = ''] = exampleAppConfig.android[0]?.sha256Fingerprints ?? [];
	const given = async (...prints: string[]) =>
		(
			await checkFiles(
				folder,
				env,
				{},
				prints.flatMap((one) => ['--fingerprint', one]),
			)
		).faults.map(fault);
	t.deepEqual(await given(print, print.replaceAll(':', '').toLowerCase()), []);
	const other = print.replace('10', 'FF');
	t.deepEqual(await given(print, other), [`fail android.fingerprint the fingerprint ${other} is not configured`]);
	ends(t, await checkFiles(folder, env, {}, ['--fingerprint', 'AB']), 2, {stderr: /must be a SHA-256 fingerprint/});
});

test('an app that the server does not know is a failure, as are files of no app', async (t) => {
	const [folder, {env}] = await Promise.all([folderOf(t), serverOf(t)]);
	const files = await kitFiles(env, 'capacitor');
	const empty = await serverOf(t, {appConfig: {ios: null, android: []}});
	const {faults} = await checkFiles(folder, empty.env, files);
	t.deepEqual(
		faults.map(({check}) => check),
		['android.config', 'ios.config'],
	);
	ends(t, await runCli('app kit --org Ab12 --for android', {env: empty.env}), 2, {
		stderr: /has no app for android\nNext: Add it/,
	});
	ends(t, await checkFiles(folder, env, {}), 2, {stderr: /No file of an app is given/});
});

test('a host of this machine is a warning, which --strict makes a failure', async (t) => {
	const folder = await folderOf(t);
	const {env} = await serverOf(t, {shared: 'localhost:3000'});
	const files = await kitFiles(env, 'ios');
	t.regex(files['ios'] ?? '', /applinks:localhost</);
	files['ios'] = files['ios']?.replace(/.*applinks:localhost.*\n/, '') ?? '';
	const {exitCode, faults} = await checkFiles(folder, env, files);
	t.deepEqual(faults.map(fault), ['warn app.host links on localhost open no app on phones']);
	t.is(exitCode, 0);
	t.is((await checkFiles(folder, env, files, ['--strict'])).exitCode, 1);
});
