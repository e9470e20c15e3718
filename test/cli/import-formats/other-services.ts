import test from 'ava';
import {bitlyLink} from '../../../src/cli/import/formats/bitly.ts';
import {branchLink} from '../../../src/cli/import/formats/branch.ts';
import {dubLink} from '../../../src/cli/import/formats/dub.ts';
import {guessFormat} from '../../../src/cli/import/formats/read-rows.ts';
import {excerpt, refusalsOf, rowsOf} from './_rows.ts';

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
	const {link, facts} = bitlyLink({...row, deeplinks});
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
	const {link, facts} = bitlyLink({
		id: 'bit.ly/abc',
		long_url: row.long_url,
		expiration_at: '2031-01-01T10:00:00+0000',
	});
	t.like(link, {shortCode: 'abc', expiry: '2031-01-01T10:00:00+00:00'});
	t.is(facts.host, 'bit.ly');
	t.deepEqual(bitlyLink({...row, custom_bitlinks: ['go.acme.test/a', 'go.acme.test/b']}).facts.left, [
		'the code of link beside the custom one',
		'further custom_bitlinks',
	]);
});

test('an object without an address or without a web destination is refused', (t) => {
	t.throws(() => bitlyLink({long_url: row.long_url}), {message: 'has no link'});
	t.throws(() => bitlyLink({...row, long_url: 'mailto:x@y.z'}), {
		message: /^long_url 'mailto:x@y\.z' is not an http or https URL/,
	});
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
		t.deepEqual(branchLink(row).link, {
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

for (const [path, expected, schemes] of [
	['item/3?x=1', {path: '/item/3', params: {x: '1'}}, []],
	['//evil.test/a', {path: '/evil.test/a'}, []],
	['/\\[', {path: '/['}, []],
	['acmeshop://item/3', {path: '/item/3'}, ['acmeshop']],
	['https://www.acme.test/item/3', {path: '/item/3'}, []],
] as const) {
	test(`the deep link path ${path} leads to ${expected.path}`, (t) => {
		const {link, facts} = branchLink({url, data: {$deeplink_path: path}});
		t.like(link, expected);
		t.deepEqual(facts.apps.schemes, [...schemes]);
	});
}

test('a match duration becomes whole hours that a link can have', (t) => {
	const hours = (row: object) => branchLink({url, ...row}).link['matchWindowHours'];
	t.is(hours({duration: 7200}), 2);
	t.is(hours({data: {$match_duration: 60}}), 1);
	t.is(hours({duration: 99_999_999}), 720);
	t.is(hours({duration: 0}), undefined);
});

test('a web address for one platform is its destination, a store page a claim', (t) => {
	const of = (data: object) => {
		const {link, facts} = branchLink({url, data});
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
	const {link, facts} = branchLink({url, data: {$ios_url: 'acme://ios', $web_only: true, $custom: 'x'}});
	t.false('destinations' in link);
	t.deepEqual(facts.left, ['$ios_url', '$web_only', '$custom']);
});

for (const [what, row, refusal] of [
	['without a URL', {data: {}}, /^has no url$/],
	['with data other than an object', {url, data: '[1]'}, /^data is not a JSON object$/],
	['with an alias whose code has another character', {url, alias: 'a/b.c'}, /^short code 'a\/b.c' must be/],
] as const) {
	test(`an object ${what} is refused`, (t) => {
		t.throws(() => branchLink(row), {message: refusal, name: 'UnusableRow'});
	});
}

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
	t.deepEqual(refusalsOf(rows), []);
	t.like(rows[0], {row: {shortCode: '0'}, foreign: {host: 'dub.acme.test', prefix: 'dub'}});
});

test('a JSON array is read as well, with the number of each element', async (t) => {
	const lines = (await excerpt('dub.ndjson')).trim().split('\n');
	const rows = await rowsOf('dub', `[${lines.join(',\n')}]`);
	t.deepEqual(
		rows.map(({line, item}) => [line, item]),
		[
			[1, 1],
			[2, 2],
			[3, 3],
			[4, 4],
		],
	);
});

test('an archived or disabled link is inactive', (t) => {
	t.is(dubLink({...dubRow, archived: true}).link['isActive'], false);
	t.is(dubLink({...dubRow, disabledAt: '2025-01-01T00:00:00Z'}).link['isActive'], false);
	t.is(dubLink({...dubRow, archived: false, disabledAt: null}).link['isActive'], undefined);
});

test('external id, card, a place for one system and Android store are carried over; other fields are reported', (t) => {
	const {link, facts} = dubLink({
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

for (const [what, given, refusal] of [
	['that a password protects', {...dubRow, password: 'secret'}, /^is protected by a password/],
	['of a domain itself', {...dubRow, key: '_root'}, /^key '_root' is the page/],
	['without a key', {url: dubRow.url}, /^has no key$/],
	['with a domain that is none', {...dubRow, domain: 'not a domain'}, /is not an http or https URL$/],
	['without a destination', {...dubRow, url: null}, /^has no url$/],
] as const) {
	test(`a link ${what} is refused`, (t) => {
		t.throws(() => dubLink(given), {message: refusal, name: 'UnusableRow'});
	});
}

for (const [file, format] of [
	['firebase.csv', 'firebase'],
	['branch.json', 'branch'],
	['bitly.json', 'bitly'],
	['dub.ndjson', 'dub'],
] as const) {
	test(`${file} is recognized by its content, whatever its name`, async (t) => {
		const head = await excerpt(file);
		for (const name of [file, `${file}.failed`, 'export.txt', '-']) {
			t.deepEqual(guessFormat(name, head), {name: format, by: 'content'});
		}

		t.is(guessFormat('-', head.slice(0, 1500))?.name, format);
	});
}

for (const [file, head, format] of [
	['links.csv', 'path,title\n', 'csv'],
	['a/links.CSV', '', 'csv'],
	['links.jsonl', '{"path":"/a"}\n', 'ndjson'],
	['links.json.failed.failed', '[\n{"path":"/a"}\n]', 'json'],
	['links.json', '{"data":[{"path":"/a","shortCode":"a"}],"total":1}', 'json'],
	['exported.ndjson', '{"id":"1","url":"http://x.test/a","path":"/a","channel":"email"}\n', 'ndjson'],
] as const) {
	test(`${file} that begins with ${head.slice(0, 20)} is our own ${format}, by its ending`, (t) => {
		t.deepEqual(guessFormat(file, head), {name: format, by: 'ending'});
	});
}

for (const [head, format] of [
	['path,title\n/a,x\n', 'csv'],
	['{"path":"/a"}\n{"path":"/b"}\n', 'ndjson'],
	['[{"path":"/a"}]', 'json'],
	['{"path":\n"/a"}', 'json'],
] as const) {
	test(`standard input that begins with ${head.slice(0, 12)} is our own ${format}, by its content`, (t) => {
		t.deepEqual(guessFormat('-', head), {name: format, by: 'content'});
	});
}

test('a format is not guessed without evidence in name or content', (t) => {
	t.is(guessFormat('links.txt', 'what is this?\n'), null);
	t.is(guessFormat('-', ''), null);
	t.is(guessFormat('links', 'a,b,c\n"open'), null);
});

test('an export of Firebase Dynamic Links without a heading is recognized by its 29 columns', async (t) => {
	const [, ...lines] = (await excerpt('firebase.csv')).split('\r\n');
	t.is(guessFormat('x.csv', lines.join('\r\n'))?.name, 'firebase');
});
