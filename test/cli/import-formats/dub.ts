import test from 'ava';
import {dubLink} from '../../../src/cli/import/formats/dub.ts';
import {excerpt, refusalsOf, rowsOf} from './_rows.ts';

const row = {domain: 'dub.acme.test', key: 'L7thRRT', url: 'https://www.acme.test/p/1'};

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
		apps: {bundleIds: [], appStoreIds: ['123456789'], packageNames: [], schemes: []},
		left: [],
	});
	t.is(rows[3]?.row?.['expiry'], '2031-01-01T00:00:00.000Z');
	t.deepEqual(refusalsOf(rows), [[1, "short code 'dub/0' must be 1 to 64 letters, digits, _ or -"]]);
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
	t.is(dubLink({...row, archived: true}).link['isActive'], false);
	t.is(dubLink({...row, disabledAt: '2025-01-01T00:00:00Z'}).link['isActive'], false);
	t.is(dubLink({...row, archived: false, disabledAt: null}).link['isActive'], undefined);
});

test('external id, card and Android store are carried over; other fields are reported', (t) => {
	const {link, facts} = dubLink({
		...row,
		externalId: 'ext-1',
		description: 'D',
		image: 'https://cdn.acme.test/1.png',
		android: 'https://play.google.com/store/apps/details?hl=en&id=com.acme.shop',
		ios: 'https://x.test/ios',
		expiredUrl: 'https://x.test/gone',
		geo: {DE: 'https://x.test/de'},
		comments: 'c',
	});
	t.like(link, {externalId: 'ext-1', og: {description: 'D', imageUrl: 'https://cdn.acme.test/1.png'}});
	t.deepEqual(facts.apps.packageNames, ['com.acme.shop']);
	t.deepEqual(facts.left, ['ios', 'expiredUrl', 'geo', 'comments']);
});

for (const [what, given, refusal] of [
	['that a password protects', {...row, password: 'secret'}, /^is protected by a password/],
	['of a domain itself', {...row, key: '_root'}, /^key '_root' is the page/],
	['without a key', {url: row.url}, /^has no key$/],
	['with a domain that is none', {...row, domain: 'not a domain'}, /is not an http or https URL$/],
	['without a destination', {...row, url: null}, /^has no url$/],
] as const) {
	test(`a link ${what} is refused`, (t) => {
		t.throws(() => dubLink(given), {message: refusal, name: 'UnusableRow'});
	});
}
