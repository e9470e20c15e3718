import test from 'ava';
import {firebase} from '../../../src/cli/import/formats/firebase.ts';
import {createSeenCodes, type FitContext, fitRow} from '../../../src/cli/import/formats/fit-row.ts';
import {type AppClaims, type ImportRow, plainLines} from '../../../src/cli/import/formats/import-row.ts';
import {foreignLink} from '../../../src/cli/import/formats/mapping.ts';
import {guessFormat} from '../../../src/cli/import/formats/read-rows.ts';

import {excerpt, rowsOf} from './_rows.ts';

const shortLink = 'https://acme.page.link/Xt2Z';
const link = 'https://www.acme.test/product/7';

test('a row of the export becomes a link with its code, destination, social card and campaign', async (t) => {
	const [first, archived, withQuery] = await rowsOf('firebase', await excerpt('firebase.csv'));
	t.deepEqual(first?.row, {
		path: '/product/1000',
		shortCode: 'Xt2ZlRX7Qwko6X0JY',
		title: 'rain "storm" jacket',
		fallbackUrl: 'https://www.acme.test/product/1000',
		destinations: {desktop: 'https://www.acme.test/product/1000'},
		minimumVersion: {ios: '13.0', android: 42},
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
		prefix: null,
		apps: {
			bundleIds: ['com.acme.shop.ios'],
			appStoreIds: ['123456789'],
			packageNames: ['com.acme.shop'],
			schemes: ['acmeshop'],
		},
		left: [],
	});
	t.is(archived?.row?.['isActive'], false);
	t.like(withQuery?.row, {path: '/product/1002', params: {ref: 'fdl', color: 'blue'}});
});

test('the columns are known by parameter names, also in brackets, or by titles, in any order', async (t) => {
	const cells = [shortLink, link, 'com.acme.shop', 'com.acme.shop.ios'];
	for (const [heading, row] of [
		['short_link,link,apn,ibi', cells],
		['(short_link),(link),(APN),(ibi)', cells],
		['iOS bundle ID (ibi),Android package name (apn),Deep link (link),Short link', cells.toReversed()],
	] as const) {
		const [only] = await rowsOf('firebase', `${heading}\n${row.join(',')}\n`);
		t.like(only?.row, {shortCode: 'Xt2Z', path: '/product/7'}, heading);
		t.like(only?.foreign?.apps, {packageNames: ['com.acme.shop'], bundleIds: ['com.acme.shop.ios']}, heading);
	}
});

test('failed rows keep the heading, the byte order mark and the line ends of their file', async (t) => {
	const text = await excerpt('firebase.csv');
	const [row] = await rowsOf('firebase', text);
	t.true(text.startsWith(row?.wrapping.open ?? 'nothing'));
	t.true(row?.wrapping.open.startsWith('\uFEFFShort link,'));
	t.is(row?.wrapping.between, '\r\n');
});

test('an export without a heading is known by its 29 columns, read in their order, and so are its failed rows', async (t) => {
	const [, ...lines] = (await excerpt('firebase.csv')).split('\r\n');
	const text = lines.join('\r\n');
	t.is(guessFormat('x.csv', text)?.name, 'firebase');
	const rows = await rowsOf('firebase', text);
	t.like(rows[0], {line: 1, row: {shortCode: 'Xt2ZlRX7Qwko6X0JY', utmContent: 'hero'}});
	t.deepEqual(rows[0]?.wrapping, {open: '', between: '\r\n', close: '\r\n'});
});

test('an unknown column is refused, unless its position identifies it', async (t) => {
	await t.throwsAsync(rowsOf('firebase', `Short link,Deep link (link),Colour\n${shortLink},${link},red\n`), {
		message: "Unknown column 'Colour' in line 1",
	});
});

test('percent codes of the deep link are decoded, and a query that params cannot hold stays in the path', (t) => {
	for (const [deepLink, path] of [
		['/promo/na%C3%AFve%20cap', '/promo/naïve cap'],
		['/50%', '/50%'],
		['/a?x=1&x=2#top', '/a?x=1&x=2#top'],
		// Encoded once more where the page opens the app.
		['/a?x=na%C3%AFve%20cap&x=c%26d', '/a?x=naïve cap&x=c%26d'],
		['/a#top', '/a#top'],
		['', '/'],
	] as const) {
		const {link: made} = foreignLink(firebase, {short_link: shortLink, link: `https://www.acme.test${deepLink}`});
		t.is(made['path'], path, deepLink);
	}
});

test('an archived link is inactive in the words of any spreadsheet, and a word that is not understood is refused', (t) => {
	for (const [archived, expected] of [
		['true', false],
		['WAHR', false],
		['VRAI', false],
		['DOĞRU', false],
		['1', false],
		['FALSCH', undefined],
		['', undefined],
		[undefined, undefined],
	] as const) {
		const row = {short_link: shortLink, link, ...(archived === undefined ? {} : {archived})};
		t.is(foreignLink(firebase, row).link['isActive'], expected, archived);
	}

	t.throws(() => foreignLink(firebase, {short_link: shortLink, link, archived: 'joo'}), {
		message: "Archived? 'joo' is neither true nor false",
		name: 'UnusableRow',
	});
});

test('campaign values of the deep link fill empty columns', (t) => {
	const deepLink = `${link}?utm_source=mail&utm_medium=post&ref=1`;
	t.like(foreignLink(firebase, {short_link: shortLink, link: deepLink, utm_source: 'insta'}).link, {
		utmSource: 'insta',
		utmMedium: 'post',
		params: {ref: '1'},
	});
});

test('the fallback is the desktop fallback, else the deep link; each fallback is a destination of its platform', (t) => {
	const [desktop, ios, ipad] = ['https://x.test/d', 'https://x.test/i', 'https://x.test/p'];
	const own = foreignLink(firebase, {short_link: shortLink, link, ofl: desktop, afl: desktop, ifl: ios, ipfl: ipad});
	t.is(own.link['fallbackUrl'], desktop);
	t.deepEqual(own.link['destinations'], {ios, ipad, android: desktop, desktop});
	t.deepEqual(own.facts.left, []);
	const plain = foreignLink(firebase, {short_link: shortLink, link}).link;
	t.is(plain['fallbackUrl'], link);
	t.false('destinations' in plain || 'minimumVersion' in plain);
});

test('a store page in a fallback is a claim, and values that are not a web page or a version are reported as not carried over', (t) => {
	const {link: made, facts} = foreignLink(firebase, {
		short_link: shortLink,
		link,
		isi: '1111111',
		ifl: 'https://apps.apple.com/app/id123456789',
		afl: 'acme://x',
		amv: '2.1',
		imv: 'v3',
	});
	t.false('destinations' in made || 'minimumVersion' in made);
	t.deepEqual(facts.apps.appStoreIds, ['1111111', '123456789']);
	t.deepEqual(facts.left, [
		'Android fallback link (afl)',
		'Android minimum package version code (amv)',
		'iOS minimum version (imv)',
	]);
	const every = foreignLink(firebase, {short_link: shortLink, link, amv: '0', imv: '2.10.0'});
	t.deepEqual(every.link['minimumVersion'], {ios: '2.10.0'});
	t.deepEqual(every.facts.left, []);
});

test('a short link without a short code that a link can have is refused', (t) => {
	for (const [shown, message] of [
		['https://acme.page.link/', /has no short code in/],
		['https://acme.page.link/promo//x', /short code 'promo\/\/x' must be/],
		['https:acme.page.link', /is not an http or https URL/],
		['', /has no short link/],
	] as const) {
		t.throws(() => foreignLink(firebase, {short_link: shown, link}), {message, name: 'UnusableRow'}, shown);
	}
});

const fitting: FitContext = {
	apps: {
		ios: {bundleId: 'com.acme.shop.ios', appStoreId: '123456789', scheme: 'acmeshop'},
		android: [{packageName: 'com.acme.shop', scheme: null}],
	},
	domains: new Map([['go.acme.test', 'domain-1']]),
	channels: new Set(['email', 'referral']),
	channelNames: new Map(),
	anyApp: false,
	seen: null,
};

const noApps: AppClaims = {bundleIds: [], appStoreIds: [], packageNames: [], schemes: []};

const row = (link: object, apps: Partial<AppClaims> = {}, host: string | null = null): ImportRow => ({
	line: 7,
	raw: '…',
	wrapping: plainLines,
	row: {...link},
	foreign: {host, apps: {...noApps, ...apps}, left: []},
});

test('a row with the organization’s apps passes, so does one without apps, and one of another app is refused', (t) => {
	const own = {
		bundleIds: ['com.acme.shop.ios'],
		appStoreIds: ['123456789'],
		packageNames: ['com.acme.shop'],
		schemes: ['AcmeShop'],
	};
	for (const apps of [own, noApps]) {
		t.deepEqual(fitRow(row({path: '/a'}, apps), fitting).row, {path: '/a'});
	}

	const hint = 'Register the app with oplink app-config set, or add --any-app to import rows of other apps';
	for (const [apps, what] of [
		[{bundleIds: ['com.other']}, "iOS bundle id com.other is not the organization's (com.acme.shop.ios)"],
		[{appStoreIds: ['999']}, "App Store id 999 is not the organization's (123456789)"],
		[{packageNames: ['com.other']}, "Android package com.other is not the organization's (com.acme.shop)"],
		[{schemes: ['other']}, "custom scheme other is not the organization's (acmeshop)"],
	] satisfies Array<[Partial<AppClaims>, string]>) {
		t.like(fitRow(row({path: '/a'}, apps), fitting), {row: undefined, error: what, hint});
	}
});

test('an app of a platform that is not configured is refused with that reason', (t) => {
	const none = "is not the organization's (it has none)";
	const claims = {bundleIds: ['a.b'], packageNames: ['c.d']};
	const {error} = fitRow(row({}, claims), {...fitting, apps: {ios: null, android: []}});
	t.is(error, `iOS bundle id a.b ${none}; Android package c.d ${none}`);
});

test('a row of another app is imported on request and reported; with unknown apps nothing is checked', (t) => {
	const other = row({path: '/a'}, {bundleIds: ['com.other']});
	t.like(fitRow(other, {...fitting, anyApp: true}), {row: {path: '/a'}, foreign: {left: ['iOS bundle id com.other']}});
	t.like(fitRow(other, {...fitting, apps: null}), {row: {path: '/a'}, foreign: {left: []}});
});

test('a channel gets the organization’s spelling, an unknown one is refused, a mapped one is renamed', (t) => {
	for (const [channel, more, expected] of [
		['Referral', {}, 'referral'],
		['facebook', {}, "Unknown channel 'facebook'"],
		['facebook', {channelNames: new Map([['facebook', 'email']])}, 'email'],
		['facebook', {channelNames: new Map([['facebook', '']])}, undefined],
		['facebook', {channels: null}, 'facebook'],
	] satisfies Array<[string, Partial<FitContext>, string | undefined]>) {
		const fitted = fitRow(row({channel}), {...fitting, ...more});
		t.is(fitted.error ?? fitted.row?.['channel'], expected);
	}

	// One of our own files is renamed only on request.
	const own: ImportRow = {line: 1, raw: '', wrapping: plainLines, row: {channel: 'Fax'}};
	t.deepEqual(fitRow(own, fitting).row, {channel: 'Fax'});
	t.deepEqual(fitRow(own, {...fitting, channelNames: new Map([['Fax', 'email']])}).row, {channel: 'email'});
});

test('a link stays on a verified domain of the organization; any other is reported', (t) => {
	for (const [host, domainId, left] of [
		['GO.acme.test', 'domain-1', []],
		['acme.page.link', undefined, ['the domain acme.page.link']],
	] as const) {
		t.like(fitRow(row({path: '/a'}, {}, host), fitting), {row: {path: '/a', domainId}, foreign: {left}});
	}
});

test('a repeated code is refused for another link and accepted for the same one', (t) => {
	const seen = createSeenCodes();
	const errorOf = (path: string, line: number) =>
		fitRow({...row({shortCode: 'x', path}), line}, {...fitting, seen}).error;
	t.is(errorOf('/a', 7), undefined);
	t.is(errorOf('/a', 8), undefined);
	t.is(errorOf('/b', 9), "short code 'x' is also used in line 7, by another link");
});

test('a hundred thousand codes do not collide', (t) => {
	const seen = createSeenCodes();
	for (let line = 1; line <= 100_000; line += 1) {
		if (seen.conflict(`code-${line}`, `content-${line}`, line) !== null) {
			t.fail(`line ${line}`);
		}
	}

	t.is(seen.conflict('code-1', 'other', 100_001), 1);
	t.is(seen.conflict('code-100000', 'other', 100_001), 100_000);
	t.is(seen.conflict('code-500', 'content-500', 100_001), null);
});
