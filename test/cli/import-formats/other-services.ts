import test from 'ava';
import {foreignLink} from '../../../src/cli/import/formats/mapping.ts';
import {guessFormat} from '../../../src/cli/import/formats/read-rows.ts';
import {bitly, branch, dub} from '../../../src/cli/import/formats/services.ts';
import {excerpt, rowsOf} from './_rows.ts';

const row = {link: 'https://bit.ly/9x7IjqC', id: 'bit.ly/9x7IjqC', long_url: 'https://www.acme.test/landing/1'};

test('an object becomes a link: the custom back-half, the campaign of the address, archived as inactive', async (t) => {
	const [custom, plain, archived] = await rowsOf('bitly', await excerpt('bitly.json'));
	t.deepEqual(custom?.row, {
		path: '/landing/0',
		utmSource: 'bitly',
		utmMedium: 'qr',
		shortCode: 'bitly-0',
		title: 'Landing 0',
		tags: ['print'],
		fallbackUrl: 'https://www.acme.test/landing/0?utm_source=bitly&utm_medium=qr',
		isActive: false,
	});
	t.like(custom?.foreign, {host: 'go.acme.test', left: ['the code of link beside the custom one']});
	t.like(plain?.row, {shortCode: 'pAPz6ov', isActive: undefined});
	t.is(archived?.row?.['isActive'], false);
	t.is(custom?.wrapping.open, '{"links": [\n');
});

test('an app link gives the path, its store the app', (t) => {
	const deeplinks = [
		{os: 'ios', app_uri_path: 'acmeshop://item/3', install_url: 'https://apps.apple.com/us/app/acme/id123456789'},
		{os: 'android', app_uri_path: '/other', install_url: 'market://details?id=com.acme.shop'},
	];
	const {link, facts} = foreignLink(bitly, {...row, deeplinks});
	t.is(link['path'], '/item/3');
	t.deepEqual(facts.apps, {
		bundleIds: [],
		appStoreIds: ['123456789'],
		packageNames: ['com.acme.shop'],
		schemes: ['acmeshop'],
	});
	t.deepEqual(facts.left, ['further app_uri_path']);
});

test('a bare id is an address, an expiration’s offset gets a colon, further back-halves are reported', (t) => {
	const {link, facts} = foreignLink(bitly, {
		id: 'bit.ly/abc',
		long_url: row.long_url,
		expiration_at: '2031-01-01T10:00:00+0000',
	});
	t.like(link, {shortCode: 'abc', expiry: '2031-01-01T10:00:00+00:00'});
	t.is(facts.host, 'bit.ly');
	t.deepEqual(foreignLink(bitly, {...row, custom_bitlinks: ['go.acme.test/a', 'go.acme.test/b']}).facts.left, [
		'the code of link beside the custom one',
		'further custom_bitlinks',
	]);
});

const url = 'https://acme.app.link/37juivIGsy4';

test('an object becomes a link: alias, path, nested data as JSON, labels, tags, card', async (t) => {
	const [aliased, second] = await rowsOf('branch', await excerpt('branch.json'));
	t.deepEqual(aliased?.row, {
		path: '/item/0',
		params: {item_id: '0', nested: '{"a":1}'},
		shortCode: 'branch-0',
		title: 'Item 0',
		tags: ['one', 'two'],
		channel: 'Referral',
		utmSource: 'Referral',
		utmMedium: 'sharing',
		utmCampaign: 'launch',
		fallbackUrl: 'https://www.acme.test/item/0',
		destinations: {desktop: 'https://www.acme.test/item/0'},
		og: {title: 'Item 0', description: 'From Branch', imageUrl: 'https://cdn.acme.test/0.png'},
	});
	t.deepEqual(aliased?.foreign, {
		host: 'acme.app.link',
		prefix: null,
		apps: {bundleIds: [], appStoreIds: ['123456789'], packageNames: [], schemes: []},
		left: ['one-time use', 'stage', "the url's own code beside the alias"],
	});
	t.is(second?.row?.['shortCode'], 'SCt0fv40Kja');
	t.is(second?.item, 2);
});

test('objects read from the API have labels and URL within their data, or data as text', (t) => {
	const data = {'+url': url, url, '~channel': 'email', '~feature': 'f', '~tags': ['x'], '+click': true, a: 1, b: null};
	for (const row of [{data}, {data: JSON.stringify(data)}]) {
		t.deepEqual(foreignLink(branch, row).link, {
			path: '/',
			params: {a: '1'},
			shortCode: '37juivIGsy4',
			tags: ['x'],
			channel: 'email',
			utmSource: 'email',
			utmMedium: 'f',
		});
	}
});

test('a deep link path leads to a path with one slash, and its scheme is a claim', (t) => {
	for (const [path, expected, schemes] of [
		['item/3?x=1', {path: '/item/3', params: {x: '1'}}, []],
		['//evil.test/a', {path: '/evil.test/a'}, []],
		['/\\[', {path: '/['}, []],
		['acmeshop://item/3', {path: '/item/3'}, ['acmeshop']],
		['https://www.acme.test/item/3', {path: '/item/3'}, []],
	] as const) {
		const {link, facts} = foreignLink(branch, {url, data: {$deeplink_path: path}});
		t.like(link, expected, path);
		t.deepEqual(facts.apps.schemes, [...schemes], path);
	}
});

test('a match duration becomes whole hours that a link can have', (t) => {
	for (const [row, hours] of [
		[{duration: 7200}, 2],
		[{data: {$match_duration: 60}}, 1],
		[{duration: 99_999_999}, 720],
		[{duration: 0}, undefined],
	] as const) {
		t.is(foreignLink(branch, {url, ...row}).link['matchWindowHours'], hours);
	}
});

test('a web address for one platform is its destination, a store page a claim', (t) => {
	const of = (data: object) => {
		const {link, facts} = foreignLink(branch, {url, data});
		return [link['fallbackUrl'], link['destinations'], facts.apps.packageNames, facts.left];
	};
	const [ios, ipad, desktop, website] = ['ios', 'ipad', 'desktop', 'web'].map((name) => `https://x.test/${name}`);
	const play = 'https://play.google.com/store/apps/details?id=com.acme.shop';
	t.deepEqual(of({$ios_url: ios, $ipad_url: ipad, $android_url: play, $desktop_url: desktop, $fallback_url: website}), [
		website,
		{ios, ipad, desktop},
		['com.acme.shop'],
		[],
	]);
	t.deepEqual(of({$ios_url: website, $fallback_url: website}), [website, {ios: website}, [], []]);
	t.deepEqual(of({$canonical_url: website, $ipad_url: play}), [website, undefined, ['com.acme.shop'], []]);
});

test('values that are not a web address and unknown control parameters are reported as not carried over', (t) => {
	const {link, facts} = foreignLink(branch, {url, data: {$ios_url: 'acme://ios', $web_only: true, $custom: 'x'}});
	t.false('destinations' in link);
	t.deepEqual(facts.left, ['$ios_url', '$web_only', '$custom']);
});

const dubRow = {domain: 'dub.acme.test', key: 'L7thRRT', url: 'https://www.acme.test/p/1'};

test('an object becomes a link with key, destination, tags by name, campaign and expiry', async (t) => {
	const rows = await rowsOf('dub', await excerpt('dub.ndjson'));
	t.deepEqual(rows[1]?.row, {
		path: '/p/1',
		utmSource: 'dub',
		utmCampaign: 'migrate',
		shortCode: 'L7thRRT',
		title: 'P 1',
		tags: ['dub'],
		fallbackUrl: 'https://www.acme.test/p/1',
		og: {title: 'P 1'},
	});
	t.deepEqual(rows[1]?.foreign, {
		host: 'dub.acme.test',
		prefix: null,
		apps: {bundleIds: [], appStoreIds: ['123456789'], packageNames: [], schemes: []},
		left: [],
	});
	t.is(rows[3]?.row?.['expiry'], '2031-01-01T00:00:00.000Z');
	t.true(rows.every(({error}) => error === undefined));
	t.like(rows[0], {row: {shortCode: '0'}, foreign: {host: 'dub.acme.test', prefix: 'dub'}});
});

test('the CSV files of the dashboards of Bitly and Dub are known and read, separated by any delimiter', async (t) => {
	const bitly = `Link,Custom Link,Destination URL,Title,Tags,Created,Engagements
https://bit.ly/3AbCdEf,https://go.acme.test/spring,https://acme.test/spring?a=1,Spring,"news, print",2024-05-01,7
bit.ly/3XyZabc,,https://acme.test/summer,Summer,,2024-06-01,
`;
	const dub = `Short link;Destination URL;Clicks;Created at;Tags;Archived
https://dub.acme.test/promos/a;https://acme.test/a;12;2024-05-01;"[""x"",""y""]";FALSCH
dub.sh/b;https://acme.test/b;0;2024-05-01;;WAHR
dub.sh/c;https://acme.test/c;0;2024-05-01;;vielleicht
`;
	t.deepEqual(guessFormat('export.csv', bitly), {name: 'bitly', by: 'content'});
	t.deepEqual(guessFormat('export.csv', dub), {name: 'dub', by: 'content'});
	const [custom, plain] = await rowsOf('bitly', bitly);
	t.deepEqual(custom?.row, {
		path: '/spring',
		params: {a: '1'},
		shortCode: 'spring',
		title: 'Spring',
		tags: ['news', 'print'],
		fallbackUrl: 'https://acme.test/spring?a=1',
	});
	t.like(custom?.foreign, {host: 'go.acme.test', left: ['the code of link beside the custom one', 'Engagements']});
	t.like(plain, {line: 3, row: {shortCode: '3XyZabc', path: '/summer'}, foreign: {host: 'bit.ly', left: []}});
	const rows = await rowsOf('dub', dub);
	t.deepEqual(
		rows.map(({row: found, error}) => error ?? [found?.['shortCode'], found?.['tags'], found?.['isActive']]),
		[['a', ['x', 'y'], undefined], ['b', undefined, false], "archived 'vielleicht' is neither true nor false"],
	);
	t.like(rows[0]?.foreign, {host: 'dub.acme.test', prefix: 'promos', left: []});
	t.is(rows[0]?.wrapping.open, 'Short link;Destination URL;Clicks;Created at;Tags;Archived\n');
});

test('a JSON array is read as well, with the number of each element', async (t) => {
	const lines = (await excerpt('dub.ndjson')).trim().split('\n');
	const rows = await rowsOf('dub', `[${lines.join(',\n')}]`);
	t.is(rows.map(({line, item}) => `${line} ${item}`).join(), '1 1,2 2,3 3,4 4');
});

test('an archived or disabled link is inactive', (t) => {
	for (const [fields, isActive] of [
		[{archived: true}, false],
		[{disabledAt: '2025-01-01T00:00:00Z'}, false],
		[{archived: 'true'}, false],
		[{archived: false, disabledAt: null}, undefined],
	] as const) {
		t.is(foreignLink(dub, {...dubRow, ...fields}).link['isActive'], isActive);
	}
});

test('external id, card, a place for one system and Android store are carried over; other fields are reported', (t) => {
	const {link, facts} = foreignLink(dub, {
		...dubRow,
		externalId: 'ext-1',
		description: 'D',
		image: 'https://cdn.acme.test/1.png',
		android: 'https://play.google.com/store/apps/details?hl=en&id=com.acme.shop',
		ios: 'https://x.test/ios',
		expiredUrl: 'https://x.test/gone',
		geo: {DE: 'https://x.test/de'},
		comments: 'c',
	});
	t.deepEqual(link['destinations'], {ios: 'https://x.test/ios'});
	t.like(link, {externalId: 'ext-1', og: {description: 'D', imageUrl: 'https://cdn.acme.test/1.png'}});
	t.deepEqual(facts.apps.packageNames, ['com.acme.shop']);
	t.deepEqual(facts.left, ['expiredUrl', 'geo', 'comments']);
});

for (const [what, read, message] of [
	['of Bitly without an address', () => foreignLink(bitly, {long_url: row.long_url}), /^has no link$/],
	[
		'of Bitly without a web destination',
		() => foreignLink(bitly, {...row, long_url: 'mailto:x@y.z'}),
		/^long_url 'mailto:x@y\.z' is not an http or https URL/,
	],
	['of Branch without a URL', () => foreignLink(branch, {data: {}}), /^has no url$/],
	['of Branch with other data', () => foreignLink(branch, {url, data: '[1]'}), /^data is not a JSON object$/],
	['of Branch with a faulty alias', () => foreignLink(branch, {url, alias: 'a/b.c'}), /^short code 'a\/b.c' must be/],
	[
		'of Dub that a password protects',
		() => foreignLink(dub, {...dubRow, password: 'secret'}),
		/^is protected by a password/,
	],
	['of a domain itself at Dub', () => foreignLink(dub, {...dubRow, key: '_root'}), /^key '_root' is the page/],
	['of Dub without a key', () => foreignLink(dub, {url: dubRow.url}), /^has no key$/],
	[
		'of Dub with another domain',
		() => foreignLink(dub, {...dubRow, domain: 'not a domain'}),
		/is not an http or https URL$/,
	],
	['of Dub without a destination', () => foreignLink(dub, {...dubRow, url: null}), /^has no url$/],
] as const) {
	test(`a link ${what} is refused`, (t) => {
		t.throws(read, {message, name: 'UnusableRow'});
	});
}
