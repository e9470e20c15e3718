import test from 'ava';
import {bitlyLink} from '../../../src/cli/import/formats/bitly.ts';
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
