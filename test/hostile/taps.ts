import test from 'ava';
import fc from 'fast-check';
import {link, organization} from '../helpers/builders.ts';
import {anonymous} from '../helpers/callers.ts';
import {isDeep} from '../helpers/deep.ts';
import {serviceOf} from '../helpers/service.ts';
import {network, open, pathOf, userAgents, visit} from '../visits/matches/_phones.ts';
import {hostileStrings} from './_values.ts';

/** As in `fuzz.ts`. */
const TAPS = Number(process.env['OPLINK_FUZZ_REQUESTS'] ?? (isDeep ? 1000 : 100)) / 5;
const SEED = Number(process.env['OPLINK_FUZZ_SEED'] ?? 1);

const service = serviceOf(test);

const part = fc.oneof(
	fc.constantFrom(
		...hostileStrings.map((text) => text.toWellFormed().slice(0, 3000)),
		'#Intent;scheme=evil;package=com.evil;S.browser_fallback_url=https%3A%2F%2Fevil.example;end',
		...[';package=com.evil', '%23Intent', 'utm_source', 'gclid', 'own', 'deviceId'],
		'é'.repeat(700),
		'\\"'.repeat(1500),
	),
	fc.string({unit: 'binary', maxLength: 30}).map((text) => text.toWellFormed()),
);
const tapQuery = fc
	.array(fc.tuple(part, part), {minLength: 1, maxLength: 60})
	.map((pairs) => `?${new URLSearchParams(pairs.filter(([name]) => name !== 'deviceId'))}`.slice(0, 14_000));

/** Safari, Chrome, and an app's own browser that has a way out. */
const agents = [userAgents.iPhone, userAgents.android, `${userAgents.android} [FB_IAB/FB4A;FBAV/450.0;]`];

const hrefsOf = (page: string): string[] =>
	[...page.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));

/** What a query must not change: the target without its query, and, of a website, without listed names. */
const fixed = (href: string): string =>
	href
		.replace(/\?[^#]*/, '')
		.replace(/opl_\w{32}/g, 'TOKEN')
		.replaceAll(/%3F.*?(?=;end$)/g, '');

test('no query of a tap changes where a page leads, and all that a row keeps of it is what /data answers', async (t) => {
	const acme = await organization(service);
	const sale = await link(acme, {params: {own: '1'}, fallbackUrl: 'https://shop.example.com/'});
	for (const [index, query] of fc.sample(tapQuery, {seed: SEED, numRuns: TAPS}).entries()) {
		const userAgent = agents[index % agents.length];
		const address = network()(1);
		const plain = await visit(service, sale, address, {userAgent});
		const tapped = await visit(service, sale, network()(1), {userAgent, query});
		const [expected, hrefs] = [plain, tapped].map(({answer}) => hrefsOf(answer.text));
		t.deepEqual(hrefs?.map(fixed), expected?.map(fixed), query);
		const {body: data} = await anonymous(service).get(`${pathOf(sale.url)}/data${query}`);
		const {body: match} = await open(service, network()(1), {clipboardToken: tapped.token});
		t.deepEqual(match.params, data.params, query);
	}

	await service.services.clickJournal.flushed();
	const {rows} = await service.services.db.raw(
		`SELECT count(*), max(octet_length(CAST(query AS text))) AS most,
			max((SELECT count(*) FROM json_object_keys(query))) AS names
		FROM match_clicks WHERE query IS NOT NULL`,
	);
	const [{count, most, names}] = rows;
	t.log(`${count} queries, at most ${most} bytes and ${names} names`);
	t.true(Number(count) > TAPS / 2 && most <= 8192 && names <= 50);
});
