import test from 'ava';
import {firebaseLink} from '../../../src/cli/import/formats/firebase.ts';
import {excerpt, refusalsOf, rowsOf} from './_rows.ts';

const shortLink = 'https://acme.page.link/Xt2Z';
const link = 'https://www.acme.test/product/7';

test('a row of the export becomes a link with its code, destination, social card and campaign', async (t) => {
	const [first, archived, withQuery] = await rowsOf('firebase', await excerpt('firebase.csv'));
	t.deepEqual(first?.row, {
		path: '/product/1000',
		shortCode: 'Xt2ZlRX7Qwko6X0JY',
		title: 'rain "storm" jacket',
		fallbackUrl: 'https://www.acme.test/product/1000',
		og: {
			title: 'rain "storm" jacket',
			description: 'Look at this rain "storm" jacket!',
			imageUrl: 'https://cdn.acme.test/i/1000.jpg',
		},
		utmSource: 'instagram',
		utmMedium: 'social',
		utmContent: 'hero',
	});
	t.deepEqual(first?.foreign, {
		host: 'acme.page.link',
		apps: {
			bundleIds: ['com.acme.shop.ios'],
			appStoreIds: ['123456789'],
			packageNames: ['com.acme.shop'],
			schemes: ['acmeshop'],
		},
		left: ['Android minimum package version code (amv)', 'iOS minimum version (imv)'],
	});
	t.is(archived?.row?.['isActive'], false);
	t.like(withQuery?.row, {path: '/product/1002', params: {ref: 'fdl', color: 'blue'}});
});

test('rows with faults are refused by their line, counted through line breaks in quotes', async (t) => {
	const rows = await rowsOf('firebase', await excerpt('firebase.csv'));
	t.deepEqual(refusalsOf(rows), [
		[10, 'has no deep link'],
		[11, "deep link 'javascript:alert(1)' is not an http or https URL"],
		[13, "short code 'with space' must be 1 to 64 letters, digits, _ or -"],
		[16, 'has 12 cells where 29 are expected'],
	]);
	t.is(rows.find(({line}) => line === 6)?.row?.['title'], 'Share sale\nends today');
});

for (const [what, heading] of [
	['parameter names', 'short_link,link,apn,ibi'],
	['parameter names in brackets', '(short_link),(link),(APN),(ibi)'],
	['titles in any order', 'iOS bundle ID (ibi),Android package name (apn),Deep link (link),Short link'],
] as const) {
	test(`the columns are known by ${what}`, async (t) => {
		const cells = [shortLink, link, 'com.acme.shop', 'com.acme.shop.ios'];
		const row = heading.startsWith('iOS') ? cells.toReversed() : cells;
		const [only] = await rowsOf('firebase', `${heading}\n${row.join(',')}\n`);
		t.like(only?.row, {shortCode: 'Xt2Z', path: '/product/7'});
		t.like(only?.foreign?.apps, {packageNames: ['com.acme.shop'], bundleIds: ['com.acme.shop.ios']});
	});
}

test('an export without a heading is read in the documented order, and its failed rows have none', async (t) => {
	const [, ...lines] = (await excerpt('firebase.csv')).split('\r\n');
	const rows = await rowsOf('firebase', lines.join('\r\n'));
	t.like(rows[0], {line: 1, row: {shortCode: 'Xt2ZlRX7Qwko6X0JY', utmContent: 'hero'}});
	t.deepEqual(rows[0]?.wrapping, {open: '', between: '\r\n', close: '\r\n'});
});

test('failed rows keep the heading, the byte order mark and the line ends of their file', async (t) => {
	const text = await excerpt('firebase.csv');
	const [row] = await rowsOf('firebase', text);
	t.true(text.startsWith(row?.wrapping.open ?? 'nothing'));
	t.true(row?.wrapping.open.startsWith('\uFEFFShort link,'));
	t.is(row?.wrapping.between, '\r\n');
});

test('an unknown column is refused, unless its position identifies it', async (t) => {
	await t.throwsAsync(rowsOf('firebase', `Short link,Deep link (link),Colour\n${shortLink},${link},red\n`), {
		message: "Unknown column 'Colour' in line 1",
	});
});

test('percent codes of the deep link are decoded, and a query that params cannot hold stays in the path', (t) => {
	const of = (deepLink: string) => firebaseLink({short_link: shortLink, link: deepLink}).link;
	t.is(of('https://www.acme.test/promo/na%C3%AFve%20cap')['path'], '/promo/naïve cap');
	t.is(of('https://www.acme.test/50%')['path'], '/50%');
	t.is(of('https://www.acme.test/a?x=1&x=2#top')['path'], '/a?x=1&x=2#top');
	t.is(of('https://www.acme.test/a#top')['path'], '/a#top');
	t.is(of('https://www.acme.test')['path'], '/');
});

test('campaign values of the deep link fill empty columns', (t) => {
	const deepLink = `${link}?utm_source=mail&utm_medium=post&ref=1`;
	t.like(firebaseLink({short_link: shortLink, link: deepLink, utm_source: 'insta'}).link, {
		utmSource: 'insta',
		utmMedium: 'post',
		params: {ref: '1'},
	});
});

test('the fallback is the desktop fallback, else the deep link; others are reported as not carried over', (t) => {
	const own = firebaseLink({
		short_link: shortLink,
		link,
		ofl: 'https://x.test/d',
		afl: 'https://x.test/d',
		ifl: 'https://x.test/i',
	});
	t.is(own.link['fallbackUrl'], 'https://x.test/d');
	t.deepEqual(own.facts.left, ['iOS fallback link (ifl)']);
	t.is(firebaseLink({short_link: shortLink, link}).link['fallbackUrl'], link);
});

for (const [shown, refusal] of [
	['https://acme.page.link/', /has no short code in/],
	['https://acme.page.link/promo/x', /short code 'promo\/x' must be/],
	['https:acme.page.link', /is not an http or https URL/],
	['', /has no short link/],
] as const) {
	test(`the short link '${shown}' is refused`, (t) => {
		t.throws(() => firebaseLink({short_link: shown, link}), {message: refusal, name: 'UnusableRow'});
	});
}
