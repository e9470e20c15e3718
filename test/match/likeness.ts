import test from 'ava';
import {type Contradiction, likenessOf} from '../../src/match/likeness.ts';
import {normalise, signalsOfApp, type ToldSignals} from '../../src/match/match-signals.ts';
import {offsetsAt} from '../../src/match/posterior.ts';
import {androidVersion, iosVersion} from '../../src/resolution/user-agent.ts';

const now = new Date('2026-03-10T12:00:00Z');

const safari = (version: string, shown = version.replaceAll('.', '_')) =>
	iosVersion(
		`Mozilla/5.0 (iPhone; CPU iPhone OS ${shown} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${version.split('.').slice(0, 2).join('.')} Mobile/15E148 Safari/604.1`,
	);

const iosClick: ToldSignals = {
	platform: 'ios',
	osVersion: safari('17.5.1'),
	deviceModel: null,
	language: 'en-US',
	timezone: 'America/New_York',
};
const iosApp = {platform: 'iOS', osVersion: '17.5.1', language: 'en-US', timezone: 'America/New_York'} as const;
const ios26 = {...iosClick, osVersion: safari('26.0', '18_6')};
const androidClick: ToldSignals = {
	platform: 'android',
	osVersion: null,
	deviceModel: null,
	language: 'en-IN',
	timezone: 'Asia/Calcutta',
};
const androidApp = {
	platform: 'Android',
	osVersion: '14',
	deviceModel: 'Pixel 8',
	language: 'en-IN',
	timezone: 'Asia/Kolkata',
} as const;
const nothing: ToldSignals = {platform: null, osVersion: null, deviceModel: null, language: null, timezone: null};

type Vector = {
	click: ToldSignals;
	app: Parameters<typeof signalsOfApp>[0];
	sum: number | Contradiction;
	exact?: true;
};

/** The table of contract/match 4, in its order. */
const vectors: Record<string, Vector> = {
	'1 the same iPhone, model unknown': {click: iosClick, app: iosApp, sum: 45, exact: true},
	'2 and the model is the same': {
		click: {...iosClick, deviceModel: 'iPhone15,2'},
		app: {...iosApp, deviceModel: 'iPhone15,2'},
		sum: 60,
		exact: true,
	},
	'3 without a timezone': {click: {...iosClick, timezone: null}, app: iosApp, sum: 30},
	'4 iOS 26 tells its major version only': {click: ios26, app: {...iosApp, osVersion: '26.1'}, sum: 38, exact: true},
	'5 and no timezone': {click: {...ios26, timezone: null}, app: {...iosApp, osVersion: '26.1'}, sum: 23},
	'6 a frozen Android User-Agent': {click: androidClick, app: {...androidApp, deviceModel: null}, sum: 30},
	'7 and client hints': {
		click: {...androidClick, deviceModel: 'Pixel 8', osVersion: androidVersion('', '14.0.0')},
		app: androidApp,
		sum: 53,
		exact: true,
	},
	'9 another language': {click: {...iosClick, language: 'fr-FR'}, app: iosApp, sum: 25},
	'10 another timezone': {click: {...iosClick, timezone: 'Europe/Paris'}, app: iosApp, sum: 5},
	'11 another timezone of the same offset': {
		click: {...iosClick, timezone: 'Europe/Paris'},
		app: {...iosApp, timezone: 'Europe/Madrid'},
		sum: 35,
	},
	'12 another platform': {click: androidClick, app: iosApp, sum: 'platform'},
	'13 an app on an older system': {click: {...iosClick, osVersion: safari('18.1')}, app: iosApp, sum: 'os_version'},
	'14 an app on a newer system': {click: {...iosClick, osVersion: safari('16.6')}, app: iosApp, sum: 10},
	'15 another model': {
		click: {...iosClick, deviceModel: 'iPhone14,3'},
		app: {...iosApp, deviceModel: 'iPhone15,2'},
		sum: 'device_model',
	},
	'16 only the platform is known': {click: {...nothing, platform: 'ios'}, app: {platform: 'iOS'}, sum: 5},
	'17 nothing is known': {click: iosClick, app: {}, sum: 0},
	'20 a language without its region': {click: {...iosClick, language: 'en'}, app: iosApp, sum: 42},
	'21 the same language of another region': {click: {...iosClick, language: 'en-GB'}, app: iosApp, sum: 39},
	'22 an iPad that looks like a Mac': {
		click: {...nothing, language: 'en-US', timezone: 'America/New_York'},
		app: iosApp,
		sum: 25,
	},
	'23 another patch': {click: {...iosClick, osVersion: safari('17.5')}, app: iosApp, sum: 42},
};

const compare = ({click, app}: Omit<Vector, 'sum'>) => likenessOf(normalise(click), signalsOfApp(app), offsetsAt(now));

for (const [name, vector] of Object.entries(vectors)) {
	test(`vector ${name}: ${vector.sum}`, (t) => {
		const {sum, contradiction, isExact} = compare(vector);
		t.is(contradiction ?? sum, vector.sum);
		t.is(isExact, vector.exact ?? false);
	});
}

test('there are 20 vectors', (t) => {
	t.is(Object.keys(vectors).length, 20);
});

test('points are given per attribute and add up', (t) => {
	const {sum, points} = compare({
		click: {...iosClick, deviceModel: 'iPhone15,2'},
		app: {...iosApp, osVersion: '17.6', deviceModel: 'iPhone15,2'},
	});
	t.deepEqual(points, {platform: 5, deviceModel: 15, osVersion: 4, timezone: 15, language: 10});
	t.is(sum, 49);
});

test('an app whose minor version is older than the click loses points and is not ruled out', (t) => {
	const {points, contradiction} = compare({click: iosClick, app: {...iosApp, osVersion: '17.4'}});
	t.is(points.osVersion, -5);
	t.is(contradiction, null);
});

test('the more is alike, the fewer other phones are expected to be; a mismatch is shared by most', (t) => {
	const share = (click: Partial<ToldSignals>) => compare({click: {...iosClick, ...click}, app: iosApp}).share;
	t.true(share({}) < share({osVersion: null}) && share({osVersion: null}) < share({osVersion: null, platform: null}));
	t.is(share({language: 'fr-FR'}), 1);
});

test('a model known on both sides is enough for an exact fingerprint where the timezone is unknown', (t) => {
	const click = {...iosClick, timezone: null, deviceModel: 'iPhone15,2'};
	t.true(compare({click, app: {...iosApp, deviceModel: 'iPhone15,2'}}).isExact);
	t.false(compare({click, app: iosApp}).isExact);
	const elsewhere = {...click, timezone: 'Europe/Paris'};
	t.false(compare({click: elsewhere, app: {...iosApp, deviceModel: 'iPhone15,2'}}).isExact);
});
