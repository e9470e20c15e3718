import test from 'ava';
import {appProject} from './_app-files.ts';
import {ends} from './_run-cli.ts';

const WEB = 'the filter for go.acme.example';
const BOTH = [WEB, 'the filter for go.example.com', 'the filter for acmeshop://'];
const ofAll = (message: string, status = 'fail'): string[] =>
	BOTH.map((filter) => {
		const line = {'go.acme': 4, 'go.exam': 10, acmeshop: 16}[/go\.acme|go\.exam|acmeshop/.exec(filter)?.[0] ?? ''];
		return `${status} android.${filter.endsWith('://') ? 'scheme' : 'filter'} ${filter} ${message} (android:${line})`;
	});
const noHost = (reason: string, host: string): string[] => [
	`fail android.host the host ${host} does not open links on go.acme.example: ${reason} (android:8)`,
];
const noFilter = (line: number): string[] => [
	`fail android.host no filter has the host go.acme.example (android:${line})`,
];
const noPath = (rule: string): string[] => [
	`fail android.path links below /Ab12/ on go.example.com do not open the app: its filter has ${rule} (android:14)`,
];
const wide = ["fail android.path the app also opens other organizations' links on go.example.com (android:14)"];

const HOST = 'android:host="go.acme.example"';
const ACTIVITY = 'android:exported="true"';
const VERIFY = 'android:autoVerify="true"';
const PATH = 'android:pathPrefix="/Ab12/"';
const VIEW = '<action android:name="android.intent.action.VIEW" />';

/** A text of the Android kit, which may be in it more than once; what stands in its first place; the findings that are not ok. */
const cases: ReadonlyArray<readonly [from: string, to: string, faults: readonly string[]]> = [
	// Hosts as Android compares and verifies them.
	[HOST, 'android:host="*.acme.example"', noHost('Android verifies acme.example for it', '*.acme.example')],
	[HOST, 'android:host="*acme.example"', noHost('Android verifies nothing for it', '*acme.example')],
	[
		HOST,
		'android:host="Go.Acme.example"',
		noHost('hosts are compared letter by letter, in small letters', 'Go.Acme.example'),
	],
	[
		HOST,
		'android:host="go.acme.example "',
		noHost('hosts are compared letter by letter, in small letters', 'go.acme.example '),
	],
	[HOST, `${HOST} android:port="443"`, noHost('it has the port 443, and links have none', 'go.acme.example')],
	[HOST, `android:host="\${sub}.acme.other"`, noFilter(8)],
	[
		HOST,
		`android:host="\${sub}.acme.example"`,
		[`warn android.host go.acme.example may be the host \${sub}.acme.example, which the build fills in (android:8)`],
	],
	// What keeps a component, a filter or an attribute from counting.
	['<application>', '<application android:enabled="false">', ofAll('is in an activity that is disabled')],
	[ACTIVITY, `${ACTIVITY} android:enabled="false"`, ofAll('is in an activity that is disabled')],
	[
		'<application>',
		'<application android:permission="com.acme.OWN">',
		ofAll('is in an activity that needs the permission com.acme.OWN, which browsers do not have'),
	],
	[ACTIVITY, `${ACTIVITY} android:permission=""`, []],
	[ACTIVITY, `${ACTIVITY} tools:remove="android:exported"`, ofAll('is in an activity that is not exported')],
	[ACTIVITY, `${ACTIVITY} tools:node="merge"`, []],
	[VERIFY, `${VERIFY} tools:node="remove"`, noFilter(1)],
	[
		VERIFY,
		`${VERIFY} tools:remove="autoVerify"`,
		[`fail android.filter ${WEB} lacks autoVerify, so Android opens the browser (android:4)`],
	],
	[
		VIEW,
		VIEW.replace('/>', 'tools:node="removeAll" />'),
		[`fail android.filter ${WEB} lacks the action android.intent.action.VIEW (android:4)`],
	],
	[
		VIEW,
		VIEW.replace('android:name', 'name'),
		[`fail android.filter ${WEB} lacks the action android.intent.action.VIEW (android:4)`],
	],
	[HOST, `${HOST} tools:node="remove"`, noFilter(4)],
	[
		HOST,
		`${HOST} android:mimeType="text/html"`,
		[`fail android.filter ${WEB} is for content of the type text/html, which links do not have (android:4)`],
	],
	[
		`${HOST} />`,
		`${HOST} /><data android:scheme=" " android:host=" " />`,
		[
			`fail android.filter ${WEB} has a data element whose scheme is blank (android:4)`,
			`fail android.filter ${WEB} has a data element whose host is blank (android:4)`,
		],
	],
	[
		`${PATH} />`,
		`${PATH} /><uri-relative-filter-group android:allow="false" />`,
		[
			'warn android.path the filter for go.example.com has a uri-relative-filter-group, which is not compared (android:14)',
		],
	],
	// Values that the build fills in.
	[
		VERIFY,
		'android:autoVerify="@bool/verify"',
		[`warn android.filter ${WEB} has @bool/verify, which the build fills in (android:4)`],
	],
	[VERIFY, 'android:autoVerify="TRUE"', []],
	[ACTIVITY, `android:exported="\${exported}"`, ofAll(`has \${exported}, which the build fills in`, 'warn')],
	[ACTIVITY, `${ACTIVITY} android:enabled="@bool/on"`, ofAll('has @bool/on, which the build fills in', 'warn')],
	[
		VIEW,
		VIEW.replace('android.intent.action.VIEW', `\${action}`),
		[`warn android.filter ${WEB} has \${action}, which the build fills in (android:4)`],
	],
	[
		'android:scheme="https"',
		`android:scheme="\${linkScheme}"`,
		[`warn android.filter ${WEB} has \${linkScheme}, which the build fills in (android:4)`],
	],
	[
		'android:scheme="https"',
		`android:scheme="\${linkScheme}s://"`,
		[`fail android.filter ${WEB} lacks the scheme https (android:4)`],
	],
	[
		'android:scheme="acmeshop"',
		'android:scheme="@string/scheme"',
		['warn android.scheme acmeshop may be the scheme @string/scheme, which the build fills in (android:20)'],
	],
	['<manifest ', `<manifest package="\${applicationId}" `, []],
	...[`\${orgPath}`, '@string/org_path'].map(
		(text) =>
			[
				PATH,
				`android:pathPrefix="${text}"`,
				[
					`warn android.path whether links below /Ab12/ on go.example.com open the app depends on pathPrefix ${text}, which the build fills in (android:14)`,
				],
			] as const,
	),
	// Rules for paths that let every code through, or some, or codes of others.
	[PATH, 'android:pathPattern="/Ab12/..*"', []],
	[PATH, 'android:pathPattern="/Ab12/.*"', []],
	[PATH, 'android:pathPattern="/Ab12.*"', []],
	[PATH, 'android:pathAdvancedPattern="/Ab12/[A-Za-z0-9_-]+"', []],
	[PATH, 'android:pathAdvancedPattern="/Ab12/[^/]{1,64}"', []],
	[PATH, 'android:pathAdvancedPattern="/Ab12/.+"', []],
	[PATH, 'android:pathAdvancedPattern="/Ab[1][2]/[\\\\w\\\\-A-Za-z0-9_]+"', []],
	[PATH, 'android:pathPrefix="/Ab12"', []],
	[PATH, 'android:pathAdvancedPattern="/Ab12/[A-Za-z0-9]+"', noPath('pathAdvancedPattern /Ab12/[A-Za-z0-9]+')],
	[PATH, 'android:pathAdvancedPattern="/Ab12/.+x"', noPath('pathAdvancedPattern /Ab12/.+x')],
	[PATH, 'android:pathAdvancedPattern="/Ab12/[A-"', noPath('pathAdvancedPattern /Ab12/[A-')],
	[PATH, 'android:pathAdvancedPattern="/Ab12/[A-Za-z0-9_-]{7}"', noPath('pathAdvancedPattern /Ab12/[A-Za-z0-9_-]{7}')],
	[PATH, 'android:pathPattern="/Ab12/...*"', noPath('pathPattern /Ab12/...*')],
	[PATH, 'android:path="/Ab12/"', noPath('path /Ab12/')],
	[PATH, 'android:pathAdvancedPattern="/[A-Za-z0-9]{4}/.+"', wide],
	[PATH, 'android:pathPattern="/.*/..*"', wide],
	[PATH, 'android:pathPattern="/Ab.2/.*"', wide],
	[PATH, 'android:pathSuffix=""', wide],
	[
		`${PATH} />`,
		'android:pathPattern="/Ab12/a.*" /><data android:pathAdvancedPattern="/Ab12/[A-Zb-z0-9_\\\\-].*" />',
		[],
	],
	// Filters for a scheme of the app's own.
	['android:scheme="acmeshop"', 'android:scheme="acmeshop" android:host="*"', []],
	[
		'android:scheme="acmeshop"',
		'android:scheme="acmeshop" android:host="*" android:pathPrefix="/x"',
		['fail android.scheme the filter for acmeshop:// also has the host *, so that it opens no others (android:16)'],
	],
];

for (const [from, to, expected] of cases) {
	test(`app check knows whether links open with ${to}`, async (t) => {
		const {check, kit} = await appProject(t);
		const {android = ''} = await kit('android');
		t.true(android.includes(from));
		const changed = android
			.replace(from, () => to)
			.replace('<manifest ', '<manifest xmlns:tools="http://schemas.android.com/tools" ');
		const hasFailed = expected.some((line) => line.startsWith('fail'));
		t.deepEqual(ends(t, await check({android: changed}), hasFailed ? 1 : 0).faults, expected);
	});
}

test('a wildcard is right where the host below it is one of the organization, also when that one is not compared', async (t) => {
	const {check, kit} = await appProject(t, {more: ['acme.example']});
	const {android = '', ios = ''} = await kit('capacitor');
	const files = {
		android: android.replace('go.acme.example', '*.acme.example'),
		ios: ios.replace('applinks:go.acme.example', 'applinks:*.acme.example'),
	};
	t.deepEqual(ends(t, await check(files), 0).faults, []);
	const named = ['--host', 'go.acme.example'];
	t.deepEqual(ends(t, await check(files, named), 0).faults, []);
});

test('filters for one host add up: what none of them opens is named, and what one of them opens too much', async (t) => {
	const {check, kit} = await appProject(t);
	const {android = ''} = await kit('android');
	const [filter = ''] =
		/<intent-filter android:autoVerify="true">(?:(?!<\/intent-filter>).)*go\.example\.com.*?<\/intent-filter>/s.exec(
			android.replace(/^.*?<\/intent-filter>/s, ''),
		) ?? [];
	const withFilter = (path: string) => ({
		android: android.replace('</activity>', () => `${filter.replace(PATH, path)}</activity>`),
	});
	t.deepEqual((await check(withFilter('android:path="/Ab12/promo"'))).faults, []);
	t.deepEqual((await check(withFilter('android:pathPrefix="/"'))).checks, ['android.path']);
	t.deepEqual((await check(withFilter(''))).checks, ['android.path']);
	t.deepEqual((await check(withFilter('android:pathPrefix="/Zz99/"'))).faults, []);
});

test('an activity outside of the application, and one that the merge removes, open nothing', async (t) => {
	const {check, kit} = await appProject(t);
	const {android = ''} = await kit('android');
	const hosts = ['android.host', 'android.host', 'android.scheme'];
	t.deepEqual((await check({android: android.replaceAll('application>', 'queries>')})).checks, hosts);
	const removed = android
		.replace('<manifest ', '<manifest xmlns:a="http://schemas.android.com/tools" ')
		.replace('<activity ', '<activity a:node="remove" ');
	t.deepEqual((await check({android: removed})).checks, hosts);
});

for (const [from, to, expected] of [
	[
		'"pathPrefix": "/Ab12/"',
		'"pathPrefix": ["/Ab12/", "/promo"]',
		'fail android.filter the filter for go.example.com has a data element whose pathPrefix is a list',
	],
	[
		'"host": "go.example.com"',
		'"host": ["go.example.com", "b.example"]',
		'fail android.host no filter has the host go.example.com',
	],
	[
		'"pathPrefix": "/Ab12/"',
		'"pathSuffix": "/x"',
		'fail android.path links below /Ab12/ on go.example.com do not open the app: its filter has pathSuffix /x',
	],
	['"pathPrefix": "/Ab12/"', '"pathAdvancedPattern": "/Ab12/.+"', null],
	[
		'"pathPrefix": "/Ab12/"',
		'"pathPrefix": "/Ab12/", "mimeType": "text/plain"',
		'fail android.filter the filter for go.example.com is for content of the type text/plain, which links do not have',
	],
	[
		'"pathPrefix": "/Ab12/"',
		'"pathPrefix": "/Ab12/", "port": 443',
		'fail android.host the host go.example.com does not open links on go.example.com: it has the port 443, and links have none',
	],
	[
		'"host": "go.acme.example"',
		'"host": "*.acme.example"',
		'fail android.host the host *.acme.example does not open links on go.acme.example: Android verifies acme.example for it',
	],
	['"autoVerify": true', '"autoVerify": "true"', null],
] as const) {
	test(`app check reads ${to} in a configuration of Expo as Expo does`, async (t) => {
		const {check, kit} = await appProject(t);
		const {expo = ''} = await kit('expo');
		const compact = JSON.stringify(JSON.parse(expo), null, 1).replaceAll(/\n */g, ' ');
		t.true(compact.includes(from));
		const {faults} = await check({expo: compact.replace(from, to)});
		t.deepEqual(faults, expected === null ? [] : [`${expected} (expo:1)`]);
	});
}

test('switches of Flutter, schemes and App Clips that the build fills in are warnings', async (t) => {
	const {check, kit} = await appProject(t);
	const {android = '', info = ''} = await kit('flutter');
	const files = {
		android: android.replace('android:value="false"', 'android:value="@bool/off"'),
		info: info.replace('<false/>', '<string>$(OFF)</string>').replace('acmeshop', '$(APP_SCHEME)'),
	};
	const {faults} = ends(t, await check(files), 0);
	t.deepEqual(faults, [
		'warn ios.scheme the scheme acmeshop may be $(APP_SCHEME), which the build fills in (info:10)',
		'warn flutter.switch flutter_deeplinking_enabled is @bool/off, which the build fills in (android:4)',
		'warn flutter.switch FlutterDeepLinkingEnabled is $(OFF), which the build fills in (info:4)',
	]);
});
