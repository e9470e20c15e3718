import {readFileSync} from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {type KnownCrawler, keptLists, knownCrawlers, literalsOf} from '../../.build/kept-crawlers.ts';
import {packageRoot} from '../../src/package-root.ts';
import {isCrawler, readVisitor} from '../../src/resolution/visitor.ts';

const read = (...file: string[]): string => readFileSync(path.join(packageRoot, ...file), 'utf8');
const isTakenForCrawler = (userAgent: string): boolean => isCrawler(readVisitor({userAgent}));

type Own = Record<string, string>;
const {notTaken} = JSON.parse(read('config', 'crawlers.json')) as {notTaken: Own};

/** People's browsers and editors match these patterns; the corpus mislabels them as crawlers. */
const OF_PEOPLE = ['AP3A\\.240617\\.008', 'Code\\/1\\.', 'MetaIAB Facebook', 'Trae\\/', 'Fluid'];

const seen = (crawlers: KnownCrawler[]): string[] => [
	...new Set(crawlers.flatMap(({instances = []}) => instances).filter((userAgent) => userAgent !== '')),
];
const isTool = ({tags = []}: KnownCrawler): boolean => tags.includes('http-library');
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

const browsers = [
	...new Set(
		(JSON.parse(read('node_modules', 'user-agents', 'dist', 'user-agents.json')) as {userAgent: string}[]).map(
			({userAgent}) => userAgent,
		),
	),
];
const own = read('test', 'fixtures', 'user-agents.tsv')
	.trimEnd()
	.split('\n')
	.map((line) => line.split('\t'));
const ownOf = (isRobot: boolean): string[] =>
	own
		.filter(([expected = '']) => expected !== 'unknown' && /-(?:crawler|bot)$/.test(expected) === isRobot)
		.map(([, , userAgent = '']) => userAgent);

const row = (name: string, userAgents: string[]): string =>
	`| ${name} | ${userAgents.length} | ${userAgents.filter(isTakenForCrawler).length} |`;

test('the kept list equals the pinned package’s without the excluded patterns', (t) => {
	t.deepEqual(JSON.parse(read('config', 'kept-crawlers.json')), keptLists());
	t.true(Object.values(notTaken).every((why) => why.length > 10));
});

test('a pattern is split into its literals, and a more complex one is refused', (t) => {
	t.deepEqual(literalsOf('[cC]laude[bB]ot'), ['claudebot', 'claudeBot', 'Claudebot', 'ClaudeBot']);
	t.deepEqual(literalsOf('(^| )PTST\\/'), ['^PTST/', ' PTST/']);
	t.deepEqual(literalsOf('Automaton|Newsify Feed Fetcher'), ['Automaton', 'Newsify Feed Fetcher']);
	t.deepEqual(literalsOf('Ahrefs(Bot|SiteAudit)'), ['AhrefsBot', 'AhrefsSiteAudit']);
	for (const pattern of ['Spider[\\s\\S]*spider', 'a.c', 'x+yz', '\\d\\.\\d Fetch', 'ab']) {
		t.throws(() => literalsOf(pattern), {message: /is no literal/}, pattern);
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
	t.deepEqual(ownOf(false).filter(isTakenForCrawler), []);
	t.deepEqual(
		ownOf(true).filter((userAgent) => !isTakenForCrawler(userAgent)),
		[],
	);
});

test('docs/crawlers.md has the table that these figures make', (t) => {
	const table = [
		...TAGS.map((tag) => row(`robots: ${tag}`, tagged(tag))),
		row('robots: all of crawler-user-agents', seen(crawlers)),
		row('robots: of our own list', ownOf(true)),
		row('people: user-agents', browsers),
		row('people: of our own list', ownOf(false)),
		row('tools: http-library', seen(knownCrawlers.filter(isTool))),
	].join('\n');
	t.true(read('docs', 'crawlers.md').includes(table), table);
});
