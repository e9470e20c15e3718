import test from 'ava';
import {exampleAppConfig} from '../helpers/builders.ts';
import {isDeep} from '../helpers/deep.ts';
import {appProject} from './_app-files.ts';
import {ends} from './_run-cli.ts';

for (const platform of ['ios', 'android', 'react-native', 'capacitor']) {
	test(`what app kit prints for ${platform} passes app check`, async (t) => {
		const {check, kit} = await appProject(t);
		t.deepEqual(ends(t, await check(await kit(platform)), 0).faults, []);
	});
}

/** Both have the lines of all others. */
for (const platform of ['expo', 'flutter']) {
	test(`what app kit prints for ${platform} passes app check, and without any one line app check names it`, async (t) => {
		const {check, kit} = await appProject(t);
		const files = await kit(platform);
		t.deepEqual(ends(t, await check(files), 0).faults, []);
		for (const [option, content] of Object.entries(files)) {
			const lines = content.split('\n');
			for (const [index, line] of lines.entries()) {
				// Many lines repeat; `npm run test:deep` breaks each of them.
				if (lines.indexOf(line) < index && !isDeep) {
					continue;
				}

				const changed = {...files, [option]: lines.toSpliced(index, 1).join('\n')};
				const {faults} = ends(t, await check(changed), 1);
				t.regex(faults.join('\n'), new RegExp(`${option}:\\d+`), line);
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
		const {check, kit} = await appProject(t);
		const {android = ''} = await kit('android');
		t.true(android.includes(from));
		const result = await check({android: android.replace(from, to)});
		const {faults, findings} = ends(t, result, expected?.startsWith('fail') ? 1 : 0);
		t.deepEqual(faults, expected === undefined ? [] : [expected]);
		t.true(findings.every(({status, next}) => status === 'ok' || next !== null));
	});
}

test('an app that opens some hosts only is checked for those', async (t) => {
	const {check, kit} = await appProject(t);
	const {android = ''} = await kit('android');
	const files = {android: android.replace('"go.example.com"', '"other.example.com"')};
	t.is((await check(files)).exitCode, 1);
	t.is((await check(files, ['--host', 'GO.acme.example'])).exitCode, 0);
	ends(t, await check(files, ['--host', 'new.acme.example']), 4, {stderr: /has no verified host 'new\.acme\.example'/});
});

test('a fingerprint that is given has to be configured', async (t) => {
	const {check} = await appProject(t);
	const [print = ''] = exampleAppConfig.android[0]?.sha256Fingerprints ?? [];
	const given = (one: string) => check({}, ['--fingerprint', print, '--fingerprint', one]);
	t.deepEqual((await given(print.replaceAll(':', '').toLowerCase())).faults, []);
	const other = print.replace('10', 'FF');
	t.deepEqual((await given(other)).faults, [`fail android.fingerprint the fingerprint ${other} is not configured`]);
	ends(t, await given('AB'), 2, {stderr: /must be a SHA-256 fingerprint/});
});

test('an app that the server does not know is a failure, as are files of no app', async (t) => {
	const {check, kit} = await appProject(t);
	const empty = await appProject(t, {appConfig: {ios: null, android: []}});
	t.deepEqual((await empty.check(await kit('capacitor'))).checks, ['android.config', 'ios.config']);
	ends(t, await empty.cli('app kit --org Ab12 --for android'), 2, {stderr: /has no app for android\nNext: Add it/});
	ends(t, await check({}), 2, {stderr: /No file of an app is given/});
});

test('a host of this machine is a warning, which --strict makes a failure', async (t) => {
	const {check, kit} = await appProject(t, {shared: 'localhost:3000'});
	const files = await kit('ios');
	t.regex(files['ios'] ?? '', /applinks:localhost</);
	files['ios'] = files['ios']?.replace(/.*applinks:localhost.*\n/, '') ?? '';
	const {faults} = ends(t, await check(files), 0);
	t.deepEqual(faults, ['warn app.host links on localhost open no app on phones']);
	t.is((await check(files, ['--strict'])).exitCode, 1);
});
