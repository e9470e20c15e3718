import test from 'ava';
import {
	appStoreUrl,
	customSchemeUrl,
	intentUrl,
	isCustomScheme,
	playStoreUrl,
	withUtm,
} from '../../../src/links/links/link-targets.ts';
import {safeHttpUrl} from '../../../src/platform/safe-http-url.ts';

const linkHosts = ['go.example.com', 'links.example.org:8443'];

for (const [why, url] of [
	['a script', 'javascript:alert(1)'],
	['a script behind a tab', 'java\tscript:alert(1)'],
	['a script behind a space', ' javascript:alert(1)'],
	['a script in mixed case', 'JaVaScRiPt:alert(1)'],
	['data', 'data:text/html,<script>alert(1)</script>'],
	['vbscript', 'vbscript:x'],
	['a blob', 'blob:https://example.com/1'],
	['an intent', 'intent://example.com#Intent;end'],
	['an app', 'myapp://open'],
	['ftp', 'ftp://example.com/'],
	['a protocol-relative URL', '//evil.com'],
	['a path with a backslash', '/\\evil.com'],
	['a path', '/sale'],
	['a URL without a host', 'https://'],
	['a port that no host has', 'https://example.com:99999/'],
	['a bidi control in the host', 'https://exa\u202emple.com/'],
	['https without slashes', 'https:evil.com'],
	['https with backslashes', 'https:\\\\evil.com'],
	['credentials that look like a host', 'https://good.com@evil.com'],
	['a password', 'https://user:secret@example.com/'],
	['a control character', 'https://example.com/\u0000'],
	['a leading control character', '\u0001https://example.com/'],
	['a line break at the end', 'https://example.com/\n'],
	['a delete character', 'https://example.com/\u007f'],
	['a control character of C1', 'https://example.com/\u009b2J'],
	['localhost', 'http://localhost:3000/'],
	['localhost with a dot', 'http://localhost./'],
	['a name under localhost', 'http://app.localhost/'],
	['a loopback address as a number', 'http://2130706433/'],
	['a loopback address', 'http://127.0.0.1/'],
	['a loopback address in IPv6', 'http://[::1]/'],
	['a mapped loopback address', 'http://[::ffff:127.0.0.1]/'],
	['a private address', 'http://192.168.0.1/'],
	['a link-local address', 'http://169.254.169.254/latest/meta-data'],
	['a private IPv6 address', 'http://[fd00::1]/'],
	['the link host', 'https://go.example.com/AB12/x'],
	['the link host in capitals', 'https://GO.EXAMPLE.COM/'],
	['the link host with a dot', 'https://go.example.com./'],
	['the link host on another port', 'https://links.example.org/'],
	['a URL of more than 2048 characters', `https://example.com/${'a'.repeat(2048)}`],
	['nothing', ''],
] as const) {
	test(`${why} is refused as a link's target`, (t) => {
		t.is(safeHttpUrl(url, {linkHosts}), null);
	});
}

test('an http or https URL is a target, as the parser writes it', (t) => {
	for (const [raw, href] of [
		['https://example.com', 'https://example.com/'],
		['HTTP://Example.com/a?b=c#d', 'http://example.com/a?b=c#d'],
		['  https://example.com/  ', 'https://example.com/'],
		['https://good.com\\@evil.com', 'https://good.com/@evil.com'],
		['https://example.com/a b"><script>', 'https://example.com/a%20b%22%3E%3Cscript%3E'],
		['https://münchen.example/', 'https://xn--mnchen-3ya.example/'],
		['https://93.184.216.34/', 'https://93.184.216.34/'],
		['https://shop.go.example.com/', 'https://shop.go.example.com/'],
	] as const) {
		t.is(safeHttpUrl(raw, {linkHosts}), href);
	}
});

test('campaign values are added unless the URL has that name, and the rest stays unchanged', (t) => {
	const utm = {utm_source: 'mail & more', utm_campaign: 'summer'};
	const own = 'https://example.com/?q=a%20b&flag&utm_source=own';
	t.is(withUtm(`${own}#top`, utm), `${own}&utm_campaign=summer#top`);
	t.is(withUtm('https://example.com/', utm), 'https://example.com/?utm_source=mail+%26+more&utm_campaign=summer');
	t.is(withUtm('https://example.com/', {}), 'https://example.com/');
});

test('schemes that run code or belong to the browser are refused as app schemes', (t) => {
	const running = ['javascript', 'DATA', 'vbscript', 'file', 'blob', 'about', 'view-source', 'content'];
	const ofBrowsers = ['http', 'https', 'intent', 'chrome'];
	const malformed = ['', '1app', 'my app', 'my_app', 'app:', 'app;x'];
	for (const scheme of [...running, ...ofBrowsers, ...malformed]) {
		t.false(isCustomScheme(scheme), scheme);
		t.is(customSchemeUrl({scheme, path: '/x', params: {}}), null, scheme);
	}

	for (const scheme of ['myapp', 'com.example.app', 'MyApp+1-x']) {
		t.true(isCustomScheme(scheme), scheme);
	}
});

test('an app URL has the path without its slashes and the parameters as its query', (t) => {
	const url = (path: string, params: Record<string, string> = {}) => customSchemeUrl({scheme: 'myapp', path, params});
	t.is(url('//sale/summer'), 'myapp://sale/summer');
	t.is(url('/a b"<'), 'myapp://a%20b%22%3C');
	t.is(url('/sale', {ref: 'a b+c', '&': '='}), 'myapp://sale?ref=a%20b%2Bc&%26=%3D');
	t.is(url('/sale?x=1', {y: '2'}), 'myapp://sale?x=1&y=2');
	t.is(url('/sale#top', {y: '2'}), 'myapp://sale?y=2#top');
	t.is(url('/\ud800'), 'myapp://%EF%BF%BD');
});

const play = 'https://play.google.com/store/apps/details?id=com.example.app';
const token = 'opl_iMIz2FkmKDmwOt6QHahZCwsxpD8zZELs';

test('store URLs carry the app and, on Google Play, the token as the referrer', (t) => {
	t.is(appStoreUrl('123456789'), 'https://apps.apple.com/app/id123456789');
	t.is(appStoreUrl('12a'), null);
	t.is(playStoreUrl('com.example.app', null), play);
	t.is(playStoreUrl('com.example.app', token), `${play}&referrer=${token}`);
	t.is(playStoreUrl('nodots', null), null);
	t.is(playStoreUrl('com.example&id=evil', null), null);
});

test('an intent URL names the app and falls back to the store', (t) => {
	const packageName = 'com.example.app';
	const fallback = `${play}&referrer=${token}`;
	t.is(
		intentUrl({target: 'https://go.example.com/AB12/sale', packageName, fallback}),
		`intent://go.example.com/AB12/sale#Intent;scheme=https;package=com.example.app;S.browser_fallback_url=https%3A%2F%2Fplay.google.com%2Fstore%2Fapps%2Fdetails%3Fid%3Dcom.example.app%26referrer%3D${token};end`,
	);
	t.is(intentUrl({target: 'https://go.example.com/', packageName: 'x;end', fallback}), null);
});

test('a path cannot write fields of an intent', (t) => {
	const target = customSchemeUrl({scheme: 'myapp', path: '/a#Intent;package=com.evil;end', params: {'#': ';'}}) ?? '';
	const url = intentUrl({target, packageName: 'com.example.app', fallback: 'https://example.com/;x'}) ?? '';
	t.is(url.split('#').length, 2);
	const fallback = 'S.browser_fallback_url=https%3A%2F%2Fexample.com%2F%3Bx';
	t.is(url.split('#')[1], `Intent;scheme=myapp;package=com.example.app;${fallback};end`);
});
