import test from 'ava';
import {branchLink} from '../../../src/cli/import/formats/branch.ts';
import {excerpt, rowsOf} from './_rows.ts';

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
		og: {title: 'Item 0', description: 'From Branch', imageUrl: 'https://cdn.acme.test/0.png'},
	});
	t.deepEqual(aliased?.foreign, {
		host: 'acme.app.link',
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

test('a web address for one platform and unknown control parameters are reported as not carried over', (t) => {
	const {facts} = branchLink({url, data: {$ios_url: 'https://x.test/ios', $web_only: true, $custom: 'x'}});
	t.deepEqual(facts.left, ['$ios_url', '$web_only', '$custom']);
});

for (const [what, row, refusal] of [
	['without a URL', {data: {}}, /^has no url$/],
	['with data that is no dictionary', {url, data: '[1]'}, /^data is not a JSON object$/],
	['with an alias of two parts', {url, alias: 'a/b'}, /^short code 'a\/b' must be/],
] as const) {
	test(`an object ${what} is refused`, (t) => {
		t.throws(() => branchLink(row), {message: refusal, name: 'UnusableRow'});
	});
}
