import test from 'ava';
import {type Fitting, fitRow} from '../../../src/cli/import/formats/fit-row.ts';
import {type AppClaims, type ImportRow, plainLines} from '../../../src/cli/import/formats/import-row.ts';
import {createSeenCodes} from '../../../src/cli/import/formats/seen-codes.ts';

const fitting: Fitting = {
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

const row = (link: object, apps: Partial<AppClaims> = {}, host: string | null = null): ImportRow => ({
	line: 7,
	raw: '…',
	wrapping: plainLines,
	row: {...link},
	foreign: {host, apps: {bundleIds: [], appStoreIds: [], packageNames: [], schemes: [], ...apps}, left: []},
});

test('a row with the organization’s apps passes, and so does one without apps', (t) => {
	const apps = {
		bundleIds: ['com.acme.shop.ios'],
		appStoreIds: ['123456789'],
		packageNames: ['com.acme.shop'],
		schemes: ['AcmeShop'],
	};
	t.deepEqual(fitRow(row({path: '/a'}, apps), fitting).row, {path: '/a'});
	t.deepEqual(fitRow(row({path: '/a'}), fitting).row, {path: '/a'});
});

const otherApps: Array<[Partial<AppClaims>, string]> = [
	[{bundleIds: ['com.other']}, "iOS bundle id com.other is not the organization's (com.acme.shop.ios)"],
	[{appStoreIds: ['999']}, "App Store id 999 is not the organization's (123456789)"],
	[{packageNames: ['com.other']}, "Android package com.other is not the organization's (com.acme.shop)"],
	[{schemes: ['other']}, "custom scheme other is not the organization's (acmeshop)"],
];
for (const [apps, error] of otherApps) {
	test(`a row of another app is refused: ${error}`, (t) => {
		t.like(fitRow(row({path: '/a'}, apps), fitting), {
			row: undefined,
			error,
			hint: 'Register the app with oplink app-config set, or add --any-app to import rows of other apps',
		});
	});
}

test('an app of a platform that is not configured is refused with that reason', (t) => {
	const {error} = fitRow(row({}, {bundleIds: ['a.b'], packageNames: ['c.d']}), {
		...fitting,
		apps: {ios: null, android: []},
	});
	t.is(
		error,
		"iOS bundle id a.b is not the organization's (it has none); Android package c.d is not the organization's (it has none)",
	);
});

test('a row of another app is imported on request and reported; with unknown apps nothing is checked', (t) => {
	const other = row({path: '/a'}, {bundleIds: ['com.other']});
	t.like(fitRow(other, {...fitting, anyApp: true}), {row: {path: '/a'}, foreign: {left: ['iOS bundle id com.other']}});
	t.like(fitRow(other, {...fitting, apps: null}), {row: {path: '/a'}, foreign: {left: []}});
});

test('a channel gets the organization’s spelling, an unknown one is refused, a mapped one is renamed', (t) => {
	const channelOf = (channel: string, more: Partial<Fitting> = {}) => {
		const fitted = fitRow(row({channel}), {...fitting, ...more});
		return fitted.error ?? fitted.row?.['channel'];
	};
	t.is(channelOf('Referral'), 'referral');
	t.is(channelOf('facebook'), "Unknown channel 'facebook'");
	t.is(channelOf('facebook', {channelNames: new Map([['facebook', 'email']])}), 'email');
	t.is(channelOf('facebook', {channelNames: new Map([['facebook', '']])}), undefined);
	t.is(channelOf('facebook', {channels: null}), 'facebook');
});

test('a channel of our own files is renamed only on request', (t) => {
	const own: ImportRow = {line: 1, raw: '', wrapping: plainLines, row: {channel: 'Fax'}};
	t.deepEqual(fitRow(own, fitting).row, {channel: 'Fax'});
	t.deepEqual(fitRow(own, {...fitting, channelNames: new Map([['Fax', 'email']])}).row, {channel: 'email'});
});

test('a link stays on a verified domain of the organization; any other is reported', (t) => {
	t.like(fitRow(row({path: '/a'}, {}, 'GO.acme.test'), fitting), {
		row: {path: '/a', domainId: 'domain-1'},
		foreign: {left: []},
	});
	t.like(fitRow(row({path: '/a'}, {}, 'acme.page.link'), fitting), {
		row: {path: '/a', domainId: undefined},
		foreign: {left: ['the domain acme.page.link']},
	});
});

test('a repeated code is refused for another link and accepted for the same one', (t) => {
	const seen = createSeenCodes();
	const first = row({shortCode: 'x', path: '/a'});
	t.is(fitRow(first, {...fitting, seen}).error, undefined);
	t.is(fitRow({...first, line: 8}, {...fitting, seen}).error, undefined);
	t.is(
		fitRow(row({shortCode: 'x', path: '/b'}), {...fitting, seen}).error,
		"short code 'x' is also used in line 7, by another link",
	);
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
