import test from 'ava';
import {organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

const service = serviceOf(test, {LINK_DOMAIN: 'go.oplink.test', PUBLIC_URL: 'https://api.oplink.test'});

const setup = async () => {
	const org = await organization(service, {appConfig: null});
	return {org, path: `/admin/organizations/${org.id}/app-config`, operator: admin(service)};
};

const hex = (first: number): string =>
	Array.from({length: 32}, (_, index) => (first + index).toString(16).padStart(2, '0')).join('');
const colons = (text: string): string => text.toUpperCase().match(/../g)?.join(':') ?? '';

const unset = {
	ios: null,
	android: [],
	fallbackUrl: null,
	og: {title: null, description: null, imageUrl: null},
	probabilisticMatching: true,
	minimumConfidence: 'low',
};

test('there is no configuration until it is set, and an empty one has every field', async (t) => {
	const {path, operator} = await setup();
	const missing = await operator.get(path);
	t.is(missing.status, 404);
	t.is(missing.body.message, 'App configuration not found');
	const set = await operator.put(path, {});
	t.is(set.status, 200);
	t.deepEqual(set.body, unset);
	t.deepEqual((await operator.get(path)).body, unset);
});

test('ids and fingerprints are stored in the platforms’ format', async (t) => {
	const {path, operator} = await setup();
	const {status, body} = await operator.put(path, {
		ios: {bundleId: 'com.Acme.shop-ios', teamId: 'abcde12345', appStoreId: '123456789', scheme: 'acmeshop'},
		android: [{packageName: 'com.acme.Shop_1', sha256Fingerprints: [hex(0x90), colons(hex(0x90)), hex(0x10)]}],
		fallbackUrl: 'http://www.Example.com',
		og: {title: 'Acme'},
		probabilisticMatching: false,
		minimumConfidence: 'high',
	});
	t.is(status, 200);
	t.deepEqual(body, {
		ios: {bundleId: 'com.Acme.shop-ios', teamId: 'ABCDE12345', appStoreId: '123456789', scheme: 'acmeshop'},
		android: [
			{packageName: 'com.acme.Shop_1', sha256Fingerprints: [colons(hex(0x90)), colons(hex(0x10))], scheme: null},
		],
		fallbackUrl: 'http://www.example.com/',
		og: {title: 'Acme', description: null, imageUrl: null},
		probabilisticMatching: false,
		minimumConfidence: 'high',
	});
	t.deepEqual((await operator.get(path)).body, body);
});

test('PUT replaces the whole configuration, and accepts the output of GET', async (t) => {
	const {path, operator} = await setup();
	await operator.put(path, {ios: {teamId: 'ABCDE12345'}, fallbackUrl: 'https://www.example.com/'});
	const {body} = await operator.put(path, {android: [{packageName: 'com.acme', sha256Fingerprints: [hex(1)]}]});
	t.is(body.ios, null);
	t.is(body.fallbackUrl, null);
	t.deepEqual((await operator.put(path, body)).body, body);
});

test('a part of the iOS configuration may be missing', async (t) => {
	const {path, operator} = await setup();
	const {status, body} = await operator.put(path, {ios: {scheme: 'acme'}});
	t.is(status, 200);
	t.deepEqual(body.ios, {bundleId: null, teamId: null, appStoreId: null, scheme: 'acme'});
});

test('fields for association files appear only where they are set', async (t) => {
	const {path, operator} = await setup();
	const app = {packageName: 'com.acme', sha256Fingerprints: [colons(hex(1))]};
	const set = await operator.put(path, {
		ios: {teamId: 'ABCDE12345', bundleId: 'com.acme.shop', appClipBundleId: 'com.acme.shop.Clip'},
		android: [{...app, dynamicAppLinks: true}],
		browserPaths: ['/help/*', '/', '/de/%C3%BCber-uns?', '/*'],
	});
	t.is(set.status, 200);
	t.deepEqual(set.body, {
		...unset,
		ios: {
			bundleId: 'com.acme.shop',
			teamId: 'ABCDE12345',
			appStoreId: null,
			scheme: null,
			appClipBundleId: 'com.acme.shop.Clip',
		},
		android: [{...app, scheme: null, dynamicAppLinks: true}],
		browserPaths: ['/help/*', '/', '/de/%C3%BCber-uns?', '/*'],
	});
	t.is((await operator.get(path)).text, set.text);
	t.deepEqual((await operator.put(path, set.body)).body, set.body);
	const {body} = await operator.put(path, {
		ios: {appClipBundleId: null},
		android: [{...app, dynamicAppLinks: false}],
		browserPaths: [],
	});
	t.deepEqual(body, {
		...unset,
		ios: {bundleId: null, teamId: null, appStoreId: null, scheme: null},
		android: [{...app, scheme: null}],
	});
	t.deepEqual((await operator.get(path)).body, body);
});

test('ten distinct fingerprints are stored, duplicates removed, and eleven are refused', async (t) => {
	const {path, operator} = await setup();
	const prints = Array.from({length: 11}, (_, index) => hex(index * 8));
	const put = (sha256Fingerprints: string[]) =>
		operator.put(path, {android: [{packageName: 'com.acme', sha256Fingerprints}]});
	const ten = prints.slice(0, 10);
	const kept = await put([...ten, ...ten.map(colons)]);
	t.is(kept.status, 200);
	t.is(kept.body.android[0].sha256Fingerprints.length, 10);
	t.is((await put(prints)).status, 400);
});

test('a SHA-1 fingerprint is refused by name', async (t) => {
	const {path, operator} = await setup();
	const sha1 = colons(hex(1)).slice(0, 59);
	const {status, body} = await operator.put(path, {android: [{packageName: 'com.acme', sha256Fingerprints: [sha1]}]});
	t.is(status, 400);
	t.is(body.details.length, 1);
	t.is(body.details[0].field, 'android.0.sha256Fingerprints.0');
	t.regex(body.details[0].message, /is a SHA-1 fingerprint; the SHA-256 fingerprint is required$/);
});

const refused = test.macro({
	exec: async (t, body: object, ...bad: string[]) => {
		const {path, operator} = await setup();
		const answer = await operator.put(path, body);
		t.is(answer.status, 400);
		t.deepEqual(
			answer.body.details.map(({field}: {field: string}) => field),
			bad,
		);
		t.is((await operator.get(path)).status, 404);
	},
	title: (_, body) => {
		const text = JSON.stringify(body)
			.replaceAll(colons(hex(1)), 'SHA-256')
			.replaceAll('a'.repeat(99), 'a…');
		return `an app configuration ${text} is refused with 400`;
	},
});
const android = (app: object) => ({
	android: [{packageName: 'com.acme', sha256Fingerprints: [colons(hex(1))], ...app}],
});
test(refused, {ios: {teamId: 'ABCDE1234'}}, 'ios.teamId');
test(refused, {ios: {teamId: 'ABCDE-2345'}}, 'ios.teamId');
test(refused, {ios: {bundleId: 'acme'}}, 'ios.bundleId');
test(refused, {ios: {bundleId: 'com.acme_shop'}}, 'ios.bundleId');
test(refused, {ios: {bundleId: 'com.acme.*'}}, 'ios.bundleId');
test(refused, {ios: {bundleId: `com.${'a'.repeat(152)}`}}, 'ios.bundleId');
test(refused, {ios: {appStoreId: 'id123456789'}}, 'ios.appStoreId');
test(refused, {ios: {appStoreId: 123456789}}, 'ios.appStoreId');
test(refused, {ios: {clipId: 'com.acme.Clip'}}, 'ios.clipId');
for (const scheme of [
	'itms-services',
	'ms-msdt',
	'search-ms',
	'Tel',
	'market',
	'javascript',
	'https',
	'DATA',
	'intent',
	'acme://',
	'1acme',
	'ac me',
	'',
]) {
	test(refused, {ios: {scheme}}, 'ios.scheme');
	test(refused, android({scheme}), 'android.0.scheme');
}

test(refused, android({packageName: 'acme'}), 'android.0.packageName');
test(refused, android({packageName: 'com.acme-shop'}), 'android.0.packageName');
test(refused, android({packageName: `com.${'a'.repeat(252)}`}), 'android.0.packageName');
test(refused, android({sha256Fingerprints: []}), 'android.0.sha256Fingerprints');
test(refused, android({sha256Fingerprints: ['zz'.repeat(32)]}), 'android.0.sha256Fingerprints.0');
test(refused, android({sha256Fingerprints: [`${hex(1)}00`]}), 'android.0.sha256Fingerprints.0');
test(refused, {android: [{packageName: 'com.acme'}]}, 'android.0.sha256Fingerprints');
test(refused, {android: [...android({}).android, ...android({}).android]}, 'android.1');
test(refused, android({dynamicAppLinks: 'yes'}), 'android.0.dynamicAppLinks');
test(refused, {ios: {appClipBundleId: 'com.acme.*'}}, 'ios.appClipBundleId');
for (const browserPath of [
	'help',
	'',
	'https://go.acme.test/help',
	'/a b',
	'/ü',
	'/100%',
	'/$(lang)/*',
	'/a#b',
	`/${'a'.repeat(255)}`,
]) {
	test(refused, {browserPaths: ['/', browserPath]}, 'browserPaths.1');
}

test(refused, {browserPaths: ['/help', '/help']}, 'browserPaths.1');
test(refused, {browserPaths: Array.from({length: 51}, (_, index) => `/${index}`)}, 'browserPaths');
test(refused, {fallbackUrl: 'ftp://example.com/', og: {imageUrl: '//example.com'}}, 'fallbackUrl', 'og.imageUrl');
test(refused, {fallbackUrl: 'https://go.oplink.test/'}, 'fallbackUrl');
test(
	refused,
	{minimumConfidence: 'certain', probabilisticMatching: 'no'},
	'probabilisticMatching',
	'minimumConfidence',
);
test(refused, {web: {}}, 'web');

test('each change is audited with its fields', async (t) => {
	const {org, path, operator} = await setup();
	await operator.put(path, {fallbackUrl: 'https://www.example.com/'});
	await operator.put(path, {fallbackUrl: 'nowhere'});
	const {body} = await operator.get(`/admin/organizations/${org.id}/audit-log`);
	const records = body.data.filter(({entityType}: {entityType: string}) => entityType === 'AppConfig');
	t.is(records.length, 1);
	t.like(records[0], {action: 'UPDATE', entityId: org.id, details: {fallbackUrl: 'https://www.example.com/'}});
});

test('it belongs to one organization, given by id or orgKey', async (t) => {
	const {org, operator} = await setup();
	const other = await setup();
	t.is((await operator.put(`/admin/organizations/${org.orgKey}/app-config`, {})).status, 200);
	t.is((await operator.get(`/admin/organizations/${org.orgKey}/app-config`)).status, 200);
	t.is((await operator.get(other.path)).status, 404);
});
