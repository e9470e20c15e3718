import test from 'ava';
import {appConfigBody} from '../../../src/links/app-config/app-config.ts';
import {checkBody} from '../../../src/platform/http/validate.ts';
import {organization} from '../../helpers/builders.ts';
import {admin} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';
import {badFields, faultsIn, fieldsOf, recordsOf} from '../_answers.ts';

const service = serviceOf(test, {LINK_DOMAIN: 'go.example.com'});

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

test('an organization has no configuration until its own is set, and an empty one has every field', async (t) => {
	const {org, path, operator} = await setup();
	const missing = await operator.get(path);
	t.is(missing.status, 404);
	t.is(missing.body.message, 'App configuration not found');
	const set = await operator.put(path, {});
	t.is(set.status, 200);
	t.deepEqual(set.body, unset);
	for (const own of [path, `/admin/organizations/${org.orgKey}/app-config`]) {
		t.deepEqual((await operator.get(own)).body, unset);
	}

	t.is((await operator.get((await setup()).path)).status, 404);
});

test('ids and fingerprints are stored in the platforms’ format, and PUT replaces the whole configuration', async (t) => {
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
	t.deepEqual((await operator.put(path, body)).body, body);
	t.deepEqual((await operator.put(path, {ios: {scheme: 'acme'}})).body, {
		...unset,
		ios: {bundleId: null, teamId: null, appStoreId: null, scheme: 'acme'},
	});
});

test('fields for association files appear only where they are set', async (t) => {
	const {path, operator} = await setup();
	const app = {packageName: 'com.acme', sha256Fingerprints: [colons(hex(1))]};
	const ids = {teamId: 'ABCDE12345', bundleId: 'com.acme.shop'};
	const browserPaths = ['/help/*', '/', '/de/%C3%BCber-uns?', '/*'];
	const set = await operator.put(path, {
		ios: {...ids, appClipBundleId: 'com.acme.shop.Clip'},
		android: [{...app, dynamicAppLinks: true}],
		browserPaths,
	});
	t.is(set.status, 200);
	t.deepEqual(set.body, {
		...unset,
		ios: {...ids, appStoreId: null, scheme: null, appClipBundleId: 'com.acme.shop.Clip'},
		android: [{...app, scheme: null, dynamicAppLinks: true}],
		browserPaths,
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

const android = (app: object) => ({android: [{packageName: 'com.acme', sha256Fingerprints: [colons(hex(1))], ...app}]});

test('ten distinct fingerprints are allowed, duplicates removed; eleven are refused, and SHA-1 by its name', (t) => {
	const prints = Array.from({length: 11}, (_, index) => hex(index * 8));
	const ten = prints.slice(0, 10);
	const given = android({sha256Fingerprints: [...ten, ...ten.map(colons)]});
	const {value} = checkBody(appConfigBody, given, {linkHosts: ['go.example.com']});
	t.deepEqual(value, android({sha256Fingerprints: ten.map(colons)}) as typeof value);
	t.deepEqual(badFields(appConfigBody, android({sha256Fingerprints: prints})), ['android.0.sha256Fingerprints']);
	const field = 'android.0.sha256Fingerprints.0';
	const message = `${field} is a SHA-1 fingerprint; the SHA-256 fingerprint is required`;
	const sha1 = android({sha256Fingerprints: [colons(hex(1)).slice(0, 59)]});
	t.deepEqual(faultsIn(appConfigBody, sha1), [{message, field}]);
});

const schemes = [
	...['itms-services', 'ms-msdt', 'search-ms', 'Tel', 'market', 'javascript', 'https', 'DATA', 'intent'],
	...['x-apple-helpbasic', 'X-Apple.SystemPreferences', 'help', 'x-help-script', 'applescript', 'x-man-page'],
	...['ms-device-enrollment', 'ms-quick-assist', 'ms-cxh-full', 'chrome-untrusted', 'x-safari-https', 'opera-http'],
	...['itms-vpp', 'macappstores', 'marketplace-kit', 'apple-magnifier', 'FIDO', 'otpauth-migration', 'wtai', 'upi'],
	...['acme://', '1acme', 'ac me', ''],
];

test('a value that a platform would not take is refused, each by its dotted path', (t) => {
	const ofIos = {
		teamId: ['ABCDE1234', 'ABCDE-2345'],
		bundleId: ['acme', 'com.acme_shop', 'com.acme.*', `com.${'a'.repeat(152)}`],
		appClipBundleId: ['com.acme.*'],
		appStoreId: ['id123456789', 123456789],
		scheme: schemes,
		clipId: ['com.acme.Clip'],
	};
	const ofAndroid = {
		packageName: ['acme', 'com.acme-shop', `com.${'a'.repeat(252)}`],
		sha256Fingerprints: [undefined, []],
		scheme: schemes,
		dynamicAppLinks: ['yes'],
	};
	for (const [app, refused, bodyOf] of [
		['ios', ofIos, (ios: object) => ({ios})],
		['android.0', ofAndroid, android],
	] as const) {
		for (const [field, values] of Object.entries(refused)) {
			for (const value of values) {
				t.deepEqual(badFields(appConfigBody, bodyOf({[field]: value})), [`${app}.${field}`], `${field} ${value}`);
			}
		}
	}

	const invalidPaths = ['help', '', 'https://go.acme.test/help', '/a b', '/ü', '/100%', '/$(lang)/*', '/a#b'];
	for (const browserPath of [...invalidPaths, `/${'a'.repeat(255)}`, '/']) {
		t.deepEqual(badFields(appConfigBody, {browserPaths: ['/', browserPath]}), ['browserPaths.1'], browserPath);
	}

	for (const [body, ...fields] of [
		[android({sha256Fingerprints: ['zz'.repeat(32)]}), 'android.0.sha256Fingerprints.0'],
		[android({sha256Fingerprints: [`${hex(1)}00`]}), 'android.0.sha256Fingerprints.0'],
		[{android: [...android({}).android, ...android({}).android]}, 'android.1'],
		[{browserPaths: Array.from({length: 51}, (_, index) => `/${index}`)}, 'browserPaths'],
		[{fallbackUrl: 'ftp://example.com/', og: {imageUrl: '//example.com'}}, 'fallbackUrl', 'og.imageUrl'],
		[{minimumConfidence: 'certain', probabilisticMatching: 'no'}, 'minimumConfidence', 'probabilisticMatching'],
		[{web: {}}, 'web'],
	] as const) {
		t.deepEqual(badFields(appConfigBody, body), fields);
	}
});

test('each change is audited with its fields, and a refused one changes nothing', async (t) => {
	const {org, path, operator} = await setup();
	await operator.put(path, {fallbackUrl: 'https://www.example.com/'});
	const refused = await operator.put(path, {fallbackUrl: 'https://go.example.com/'});
	t.is(refused.status, 400);
	t.deepEqual(fieldsOf(refused.body), ['fallbackUrl']);
	t.is((await operator.get(path)).body.fallbackUrl, 'https://www.example.com/');
	const [record, ...others] = await recordsOf(org, 'AppConfig');
	t.deepEqual(others, []);
	t.like(record, {action: 'UPDATE', entityId: org.id, details: {fallbackUrl: 'https://www.example.com/'}});
});
