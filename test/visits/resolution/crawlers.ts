import test from 'ava';
import {type KnownCrawler, keptLists, knownCrawlers, literalsOf} from '../../../scripts/kept-crawlers.ts';
import {crawlerPageHeaders, renderCrawlerPage} from '../../../src/visits/page/crawler-page.ts';
import {isCrawler, readVisitor} from '../../../src/visits/visit/visitor.ts';
import {headerRecord, hostileTexts, linkView} from '../../fixtures/link-view.ts';
import {corpus, read} from './_user-agents.ts';

const isTakenForCrawler = (userAgent: string): boolean => isCrawler(readVisitor({userAgent}));

const {excluded} = JSON.parse(read('config', 'crawlers.json')) as {excluded: Record<string, string>};

/** People's browsers and editors match these patterns; the corpus mislabels them as crawlers. */
const OF_PEOPLE = ['AP3A\\.240617\\.008', 'Code\\/1\\.', 'MetaIAB Facebook', 'Trae\\/', 'Fluid'];

/** Browsers with which people test links: tools, as curl is. */
const OF_TESTS = [
	'HeadlessChrome',
	'PhantomJS',
	'Playwright',
	'Puppeteer',
	'Selenium',
	'Ghost Inspector',
	'TestLocally\\/',
];

const seen = (crawlers: KnownCrawler[]): string[] => [
	...new Set(crawlers.flatMap(({instances = []}) => instances).filter((userAgent) => userAgent !== '')),
];
const isTool = ({pattern, tags = []}: KnownCrawler): boolean =>
	tags.includes('http-library') || OF_TESTS.includes(pattern);
const crawlers = knownCrawlers.filter((crawler) => !isTool(crawler) && !OF_PEOPLE.includes(crawler.pattern));
const tagged = (tag: string): string[] => seen(crawlers.filter(({tags = []}) => tags.includes(tag)));

const TAGS = [
	'social-preview',
	'search-engine',
	'ai-crawler',
	'seo',
	'monitoring',
	'scanner',
	'archiver',
	'browser-automation',
	'advertising',
	'feed-reader',
	'academic',
];

const listed = JSON.parse(read('node_modules/user-agents/dist/user-agents.json')) as Array<{userAgent: string}>;
const browsers = [...new Set(listed.map(({userAgent}) => userAgent))];
const ownOf = (isRobot: boolean): string[] =>
	corpus
		.filter(({expected}) => expected !== 'unknown' && /-(?:crawler|bot)$/.test(expected) === isRobot)
		.map(({userAgent}) => userAgent);

const row = (name: string, userAgents: string[]): string =>
	`| ${name} | ${userAgents.length} | ${userAgents.filter(isTakenForCrawler).length} |`;

test('the kept list equals the pinned package’s without the excluded patterns', (t) => {
	t.deepEqual(JSON.parse(read('config', 'kept-crawlers.json')), keptLists());
	t.true(Object.values(excluded).every((why) => why.length > 10));
});

test('a pattern is split into its literals, and a more complex one is refused', (t) => {
	t.deepEqual(literalsOf('[cC]laude[bB]ot'), ['claudebot', 'claudeBot', 'Claudebot', 'ClaudeBot']);
	t.deepEqual(literalsOf('(^| )PTST\\/'), ['^PTST/', ' PTST/']);
	t.deepEqual(literalsOf('Automaton|Newsify Feed Fetcher'), ['Automaton', 'Newsify Feed Fetcher']);
	t.deepEqual(literalsOf('Ahrefs(Bot|SiteAudit)'), ['AhrefsBot', 'AhrefsSiteAudit']);
	for (const pattern of ['Spider[\\s\\S]*spider', 'a.c', 'x+yz', '\\d\\.\\d Fetch', 'ab']) {
		t.throws(() => literalsOf(pattern), {message: /isn't a literal/}, pattern);
	}
});

test('97 of 100 robots of every kind are recognized, and no person’s browser is', (t) => {
	for (const tag of TAGS) {
		const userAgents = tagged(tag);
		t.true(userAgents.length > 10, tag);
		t.true(userAgents.filter(isTakenForCrawler).length >= userAgents.length * 0.97, tag);
	}

	t.true(browsers.length > 500);
	t.deepEqual(browsers.filter(isTakenForCrawler), []);
	t.deepEqual(seen(knownCrawlers.filter(({pattern}) => OF_PEOPLE.includes(pattern))).filter(isTakenForCrawler), []);
	const headless = seen(knownCrawlers.filter(({pattern}) => OF_TESTS.includes(pattern)));
	const renderbots = headless.filter((userAgent) => userAgent.includes('renderbot'));
	t.deepEqual(headless.filter(isTakenForCrawler), renderbots);
	t.deepEqual(ownOf(false).filter(isTakenForCrawler), []);
	t.deepEqual(ownOf(true).filter(isTakenForCrawler), ownOf(true));
});

test('docs/measurements.md has the table that these figures make', (t) => {
	const table = [
		row('robots: all of crawler-user-agents', seen(crawlers)),
		row('robots: of our own list', ownOf(true)),
		row('people: user-agents', browsers),
		row('people: of our own list', ownOf(false)),
		row('tools: HTTP libraries and headless browsers', seen(knownCrawlers.filter(isTool))),
	].join('\n');
	t.true(read('docs', 'measurements.md').includes(table), table);
});

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
		'Content-Security-Policy':
			"default-src 'none'; img-src https:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
	});
});

const withoutOg = {title: null, description: null, imageUrl: null};

test('the title falls back to the link, the organization, the host', (t) => {
	const titleOf = (overrides: object) =>
		contentOf(renderCrawlerPage(linkView({og: withoutOg, ...overrides})), 'og:title');
	t.is(titleOf({}), 'Own title');
	t.is(titleOf({title: null}), 'Acme');
	t.is(titleOf({title: ' '}), 'Acme');
	t.is(titleOf({title: null, organizationName: ''}), 'go.example.com');
});

test('tags without a value are left out', (t) => {
	const page = renderCrawlerPage(linkView({og: {...withoutOg, title: 'T'}}));
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

	const page = renderCrawlerPage(linkView({title: null, og: {...withoutOg, title: `<b>"'&`}}));
	t.is(contentOf(page, 'og:title'), '&lt;b&gt;&quot;&#39;&amp;');
});
