import test from 'ava';
import {crawlerPageHeaders, renderCrawlerPage} from '../../src/resolution/crawler-page.ts';
import {headerRecord, hostileTexts, linkView} from '../fixtures/link-view.ts';

const contentOf = (page: string, key: string): string | null =>
	new RegExp(`<meta (?:name|property)="${key}" content="([^"]*)">`).exec(page)?.[1] ?? null;

test('the page has the tags of a preview and nothing that acts', (t) => {
	const page = renderCrawlerPage(linkView());
	t.is(contentOf(page, 'og:title'), 'Summer sale');
	t.is(contentOf(page, 'og:description'), 'Everything is cheaper.');
	t.is(contentOf(page, 'og:image'), 'https://img.example.com/1.png');
	t.is(contentOf(page, 'og:url'), 'https://go.example.com/AB12/sale');
	t.is(contentOf(page, 'og:site_name'), 'Acme');
	t.is(contentOf(page, 'og:type'), 'website');
	t.is(contentOf(page, 'twitter:card'), 'summary_large_image');
	t.is(contentOf(page, 'twitter:title'), 'Summer sale');
	t.is(contentOf(page, 'robots'), 'noindex, nofollow');
	t.true(page.includes('<link rel="canonical" href="https://go.example.com/AB12/sale">'));
	t.notRegex(page, /<script|http-equiv|opl_|apps\.apple|play\.google|shop\.example/i);
});

test('the page is cached for a minute, by User-Agent, and not indexed', (t) => {
	t.deepEqual(headerRecord(crawlerPageHeaders), {
		'Content-Type': 'text/html; charset=utf-8',
		'Cache-Control': 'public, max-age=60',
		Vary: 'User-Agent',
		'X-Robots-Tag': 'noindex, nofollow',
		'Content-Security-Policy': "default-src 'none'; img-src https:",
	});
});

test('the title falls back to the link, the organization, the host', (t) => {
	const titleOf = (overrides: Parameters<typeof linkView>[0]) =>
		contentOf(
			renderCrawlerPage(linkView({og: {title: null, description: null, imageUrl: null}, ...overrides})),
			'og:title',
		);
	t.is(titleOf({}), 'Own title');
	t.is(titleOf({title: null}), 'Acme');
	t.is(titleOf({title: ' '}), 'Acme');
	t.is(titleOf({title: null, organizationName: ''}), 'go.example.com');
});

test('tags without a value are left out', (t) => {
	const page = renderCrawlerPage(linkView({og: {title: 'T', description: null, imageUrl: null}}));
	t.notRegex(page, /description|og:image|twitter:image/);
	t.is(contentOf(page, 'twitter:card'), 'summary');
	const unsafe = renderCrawlerPage(linkView({og: {title: 'T', description: ' ', imageUrl: 'javascript:alert(1)'}}));
	t.notRegex(unsafe, /description|og:image|javascript/);
});

test('tenants’ texts are escaped', (t) => {
	const harmless = renderCrawlerPage(linkView());
	const tagsOf = (page: string) => page.match(/<[a-z!/]+/gi);
	for (const text of hostileTexts) {
		const og = {title: text, description: text, imageUrl: 'https://img.example.com/1.png'};
		const page = renderCrawlerPage(linkView({og, title: text, organizationName: text}));
		t.deepEqual(tagsOf(page), tagsOf(harmless), text);
	}

	const page = renderCrawlerPage(linkView({title: null, og: {title: `<b>"'&`, description: null, imageUrl: null}}));
	t.is(contentOf(page, 'og:title'), '&lt;b&gt;&quot;&#39;&amp;');
});
