import test from 'ava';
import {appleAppSiteAssociation, assetLinks} from '../../../src/links/app-config/association-files.ts';
import {approvedDomain, exampleAppConfig, organization} from '../../helpers/builders.ts';
import {admin, anonymous} from '../../helpers/callers.ts';
import {serviceOf} from '../../helpers/service.ts';

type Rule = {'/': string; exclude?: boolean};

/** `*` is any text, `?` one character; everything else is itself, in its letters. */
const matches = (pattern: string, path: string): boolean => {
	const source = pattern
		.replace(/[.+^${}()|[\]\\/]/g, String.raw`\$&`)
		.replaceAll('*', '.*')
		.replaceAll('?', '.');
	return new RegExp(`^${source}$`, 's').test(path);
};

/** Whether both systems open the path in the app: the first rule that matches decides, and no match excludes the path. */
const opens = (rules: readonly Rule[], path: string): boolean => {
	const first = rules.find((rule) => matches(rule['/'], path));
	return first !== undefined && first.exclude !== true;
};

const pick = <T>(choices: readonly T[]): T => {
	const chosen = choices[Math.floor(Math.random() * choices.length)];
	if (chosen === undefined) {
		throw new Error('nothing to choose from');
	}

	return chosen;
};

/** Paths that begin with one of the keys, with one in other letters, or with something near it. */
const randomPath = (keys: readonly string[]): string => {
	const key = pick(keys);
	const first = pick([
		key,
		key.toLowerCase(),
		key.toUpperCase(),
		`${key}x`,
		key.slice(1),
		`%2F${key}`,
		'',
		'*',
		'????',
	]);
	const rest = Array.from({length: pick([0, 1, 2, 3])}, () =>
		pick([...keys, 'sale', '', '..', 'data', 'signals', '*']),
	);
	return `/${[first, ...rest].join('/')}`;
};

const apps = [
	{orgKey: 'ZZ99', teamId: 'ABCDE12345', bundleId: 'com.zed.app'},
	{orgKey: 'AB12', teamId: 'FGHIJ67890', bundleId: 'com.acme.app'},
];

test('the files do not depend on the order of the rows', (t) => {
	t.is(JSON.stringify(appleAppSiteAssociation(apps)), JSON.stringify(appleAppSiteAssociation(apps.toReversed())));
	const rows = [
		{orgKey: 'AB12', packageName: 'com.b', sha256Fingerprints: ['BB']},
		{orgKey: 'AB12', packageName: 'com.a', sha256Fingerprints: ['CC', 'AA']},
	];
	t.is(JSON.stringify(assetLinks(rows)), JSON.stringify(assetLinks(rows.toReversed())));
});

test('a package that two organizations configure has one statement with the fingerprints of both', (t) => {
	const statement = (packageName: string, ...prints: string[]) => ({
		relation: ['delegate_permission/common.handle_all_urls'],
		target: {namespace: 'android_app', package_name: packageName, sha256_cert_fingerprints: prints},
	});
	t.deepEqual(
		assetLinks([
			{orgKey: 'AB12', packageName: 'com.acme.app', sha256Fingerprints: ['AA:01', 'BB:02']},
			{orgKey: 'AB12', packageName: 'com.zed.app', sha256Fingerprints: ['DD:04']},
			{orgKey: 'AB12', packageName: 'com.acme.app', sha256Fingerprints: ['bb:02', 'CC:03']},
		]),
		[statement('com.acme.app', 'AA:01', 'BB:02', 'CC:03'), statement('com.zed.app', 'DD:04')],
	);
});

test('a package without a fingerprint has no statement', (t) => {
	t.deepEqual(assetLinks([{orgKey: 'AB12', packageName: 'com.acme.app', sha256Fingerprints: []}]), []);
	t.deepEqual(assetLinks([]), []);
});

const service = serviceOf(test, {PUBLIC_URL: 'https://api.oplink.test', LINK_DOMAIN: 'go.oplink.test'});
const {
	ios,
	android: [android],
} = exampleAppConfig;
const APPLE = '/.well-known/apple-app-site-association';
const ANDROID = '/.well-known/assetlinks.json';

type AppleFile = {applinks: {details: Array<{appIDs: string[]; components: Rule[]}>}; appclips?: {apps: string[]}};
type Statement = {
	target: {package_name: string};
	relation_extensions?: Record<string, {dynamic_app_link_components: Rule[]}>;
};

const fileOf = async <T>(host: string, path: string) => {
	const {status, text} = await anonymous(service).get(path, {Host: host});
	return {status, text, body: JSON.parse(text) as T};
};
const rulesIn = (file: Statement[], packageName: string): Rule[] | undefined =>
	file.find(({target}) => target.package_name === packageName)?.relation_extensions?.[
		'delegate_permission/common.handle_all_urls'
	]?.dynamic_app_link_components;

const withApps = (name: string, dynamicAppLinks?: boolean, more: object = {}) =>
	organization(service, {
		appConfig: {
			ios: {...ios, bundleId: `com.acme.${name}`},
			android: [{...android, packageName: `com.acme.${name}`, dynamicAppLinks}],
			...more,
		},
	});

test('on the shared domain no list of rules lets the path of another organization through', async (t) => {
	const alpha = await withApps('alpha', true);
	const beta = await withApps('beta', true);
	const first = await withApps('shared', true);
	const second = await withApps('shared');
	const all = [alpha, beta, first, second, await withApps('plain'), await withApps('off', false)];
	const {body: androidFile} = await fileOf<Statement[]>('go.oplink.test', ANDROID);
	const {body: appleFile, text} = await fileOf<AppleFile>('go.oplink.test', APPLE);
	t.is(androidFile.filter(({target}) => target.package_name === 'com.acme.shared').length, 1);
	t.deepEqual(rulesIn(androidFile, 'com.acme.alpha'), [{'/': `/${alpha.orgKey}/*`}]);
	t.is(rulesIn(androidFile, 'com.acme.plain'), undefined);
	t.is(rulesIn(androidFile, 'com.acme.off'), undefined);
	t.false(text.includes('exclude'));

	const lists: Array<[owners: string[], rules: Rule[]]> = [
		[[alpha.orgKey], rulesIn(androidFile, 'com.acme.alpha') ?? []],
		[[beta.orgKey], rulesIn(androidFile, 'com.acme.beta') ?? []],
		[[first.orgKey, second.orgKey], rulesIn(androidFile, 'com.acme.shared') ?? []],
		...all.map(({orgKey}): [string[], Rule[]] => [
			[orgKey],
			appleFile.applinks.details.find(({components}) => components[0]?.['/'] === `/${orgKey}/*`)?.components ?? [],
		]),
	];
	const keys = all.map(({orgKey}) => orgKey);
	for (const [owners, rules] of lists) {
		for (const path of [...keys.map((key) => `/${key}/sale`), ...Array.from({length: 500}, () => randomPath(keys))]) {
			const isOwn = owners.some((key) => path.startsWith(`/${key}/`));
			t.is(opens(rules, path), isOwn, `${JSON.stringify(rules)} and ${path}`);
		}
	}
});

test('on a custom domain the apps open all but data, signals and the paths that stay in the browser', async (t) => {
	const browserPaths = ['/help/*', '/??/imprint'];
	const acme = await withApps('rules', true, {browserPaths, ios: {...ios, appClipBundleId: `${ios.bundleId}.Clip`}});
	await approvedDomain(acme, 'links.rules.test');
	const excluded = browserPaths.map((path) => ({'/': path, exclude: true}));
	const {body: androidFile} = await fileOf<Statement[]>('links.rules.test', ANDROID);
	const rules = rulesIn(androidFile, 'com.acme.rules') ?? [];
	t.deepEqual(rules, [...excluded, {'/': '*/data', exclude: true}, {'/': '*/signals', exclude: true}, {'/': '*'}]);
	const {body: appleFile} = await fileOf<AppleFile>('links.rules.test', APPLE);
	const appId = `${ios.teamId}.${ios.bundleId}`;
	t.deepEqual(appleFile, {
		applinks: {details: [{appIDs: [appId], components: [...excluded, {'/': '/*'}]}]},
		appclips: {apps: [`${appId}.Clip`]},
	});
	for (const [path, onAndroid, onIos] of [
		['/', true, true],
		['/spring', true, true],
		[`/${acme.orgKey}/spring`, true, true],
		['/spring/data', false, true],
		['/spring/signals', false, true],
		['/help/', false, false],
		['/help/contact', false, false],
		['/Help/contact', true, true],
		['/help', true, true],
		['/de/imprint', false, false],
		['/deu/imprint', true, true],
	] as const) {
		t.is(opens(rules, path), onAndroid, path);
		t.is(opens(appleFile.applinks.details[0]?.components ?? [], path), onIos, path);
	}

	t.false((await fileOf('go.oplink.test', APPLE)).text.includes('appclips'));
	const {hosts} = (await admin(service).get(`/admin/doctor?org=${acme.orgKey}`)).body;
	t.deepEqual(hosts[1].apple, [`${appId} /* except /help/*, /??/imprint`, `${appId}.Clip as an App Clip`]);
	t.deepEqual(hosts[1].android, [
		`com.acme.rules ${android?.sha256Fingerprints[0]}`,
		'com.acme.rules opens * except /help/*, /??/imprint, */data, */signals',
	]);
	t.true(hosts[0].android.includes(`com.acme.rules opens /${acme.orgKey}/*`));
});

test('without the new fields a custom domain’s files are what they were, and a change of the paths alone is served', async (t) => {
	const acme = await withApps('before');
	await approvedDomain(acme, 'links.before.test');
	const apple = (browserPaths = '') =>
		`{"applinks":{"details":[{"appIDs":["ABCDE12345.com.acme.before"],"components":[${browserPaths}{"/":"/*"}]}]}}`;
	const print = android?.sha256Fingerprints[0];
	const statements = `[{"relation":["delegate_permission/common.handle_all_urls"],"target":{"namespace":"android_app","package_name":"com.acme.before","sha256_cert_fingerprints":["${print}"]}}]`;
	t.is((await fileOf('links.before.test', APPLE)).text, apple());
	t.is((await fileOf('links.before.test', ANDROID)).text, statements);
	const {body} = await acme.operator.get('/app-config');
	t.is((await acme.operator.put('/app-config', {...body, browserPaths: ['/help/*']})).status, 200);
	t.is((await fileOf('links.before.test', APPLE)).text, apple('{"/":"/help/*","exclude":true},'));
	// Android's file has paths only where `dynamicAppLinks` asks for rules.
	t.is((await fileOf('links.before.test', ANDROID)).text, statements);
});
