import test from 'ava';
import {matchPolicy} from '../../src/match/match-policy.ts';
import {type Contradiction, type Nearness, scoreClick} from '../../src/match/match-score.ts';
import {normalise, signalsOfApp, type ToldSignals} from '../../src/match/match-signals.ts';
import {androidVersion, iosVersion} from '../../src/resolution/user-agent.ts';

const now = new Date('2026-03-10T12:00:00Z');
const MINUTE = 60;
const HOUR = 3600;

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
	score: number | Contradiction;
	exact?: true;
	nearness?: Nearness;
	age?: number;
};

/** The table of contract/match 4, in its order. */
const vectors: Record<string, Vector> = {
	'1 the same iPhone, model unknown': {click: iosClick, app: iosApp, score: 85, exact: true},
	'2 and the model is the same': {
		click: {...iosClick, deviceModel: 'iPhone15,2'},
		app: {...iosApp, deviceModel: 'iPhone15,2'},
		score: 100,
		exact: true,
	},
	'3 without a timezone': {click: {...iosClick, timezone: null}, app: iosApp, score: 70},
	'4 iOS 26 tells its major version only': {click: ios26, app: {...iosApp, osVersion: '26.1'}, score: 78, exact: true},
	'5 and no timezone': {click: {...ios26, timezone: null}, app: {...iosApp, osVersion: '26.1'}, score: 63},
	'6 a frozen Android User-Agent': {click: androidClick, app: {...androidApp, deviceModel: null}, score: 70},
	'7 and client hints': {
		click: {...androidClick, deviceModel: 'Pixel 8', osVersion: androidVersion('', '14.0.0')},
		app: androidApp,
		score: 93,
		exact: true,
	},
	'8 only the network is the same': {click: iosClick, app: iosApp, score: 70, nearness: 'network'},
	'9 another language': {click: {...iosClick, language: 'fr-FR'}, app: iosApp, score: 65},
	'10 another timezone': {click: {...iosClick, timezone: 'Europe/Paris'}, app: iosApp, score: 45},
	'11 another timezone of the same offset': {
		click: {...iosClick, timezone: 'Europe/Paris'},
		app: {...iosApp, timezone: 'Europe/Madrid'},
		score: 75,
	},
	'12 another platform': {click: androidClick, app: iosApp, score: 'platform'},
	'13 an app on an older system': {click: {...iosClick, osVersion: safari('18.1')}, app: iosApp, score: 'os_version'},
	'14 an app on a newer system': {click: {...iosClick, osVersion: safari('16.6')}, app: iosApp, score: 50},
	'15 another model': {
		click: {...iosClick, deviceModel: 'iPhone14,3'},
		app: {...iosApp, deviceModel: 'iPhone15,2'},
		score: 'device_model',
	},
	'16 only the platform is known': {click: {...nothing, platform: 'ios'}, app: {platform: 'iOS'}, score: 45},
	'17 nothing is known': {click: iosClick, app: {}, score: 40},
	'18 a click 3 h old': {click: iosClick, app: iosApp, score: 77, exact: true, age: 3 * HOUR},
	'19 a click 10 h old': {click: iosClick, app: iosApp, score: 70, exact: true, age: 10 * HOUR},
	'20 a language without its region': {click: {...iosClick, language: 'en'}, app: iosApp, score: 82},
	'21 the same language of another region': {click: {...iosClick, language: 'en-GB'}, app: iosApp, score: 79},
	'22 an iPad that looks like a Mac': {
		click: {...nothing, language: 'en-US', timezone: 'America/New_York'},
		app: iosApp,
		score: 65,
	},
	'23 another patch': {click: {...iosClick, osVersion: safari('17.5')}, app: iosApp, score: 82},
	'24 only the network, and another timezone': {
		click: {...iosClick, timezone: 'Europe/Paris'},
		app: iosApp,
		score: 30,
		nearness: 'network',
	},
};

const scoreOf = ({click, app, nearness = 'ip', age = 2 * MINUTE}: Omit<Vector, 'score'>) =>
	scoreClick(
		normalise(click),
		signalsOfApp(app),
		{nearness, clickedAt: new Date(now.getTime() - age * 1000), now},
		matchPolicy,
	);

for (const [name, vector] of Object.entries(vectors)) {
	test(`vector ${name}: ${vector.score}`, (t) => {
		const {score, contradiction, isExact} = scoreOf(vector);
		t.is(contradiction ?? score, vector.score);
		t.is(isExact, vector.exact ?? false);
	});
}

test('there are 24 vectors', (t) => {
	t.is(Object.keys(vectors).length, 24);
});

test('points are told per attribute and add up to the score', (t) => {
	const {score, points} = scoreOf({
		click: {...iosClick, deviceModel: 'iPhone15,2'},
		app: {...iosApp, osVersion: '17.6', deviceModel: 'iPhone15,2'},
		age: 30 * MINUTE,
	});
	t.deepEqual(points, {
		ip: 40,
		network: 0,
		platform: 5,
		deviceModel: 15,
		osVersion: 4,
		timezone: 15,
		language: 10,
		age: -3,
	});
	t.is(score, 86);
});

test('age counts in steps that include their end', (t) => {
	const agePoints = (age: number) => scoreOf({click: iosClick, app: iosApp, age}).points.age;
	t.deepEqual(
		[15 * MINUTE, 15 * MINUTE + 1, HOUR, HOUR + 1, 6 * HOUR, 6 * HOUR + 1].map(agePoints),
		[0, -3, -3, -8, -8, -15],
	);
});

test('an app whose minor version is older than the click loses points and is not ruled out', (t) => {
	const {points, contradiction} = scoreOf({click: iosClick, app: {...iosApp, osVersion: '17.4'}});
	t.is(points.osVersion, -5);
	t.is(contradiction, null);
});

test('a score stays between 0 and 100', (t) => {
	const {score} = scoreOf({
		click: {...iosClick, osVersion: safari('15.1'), language: 'fr', timezone: 'Asia/Tokyo'},
		app: iosApp,
		nearness: 'network',
		age: 20 * HOUR,
	});
	t.is(score, 0);
});

test('a model known on both sides is enough for an exact fingerprint where the timezone is unknown', (t) => {
	const click = {...iosClick, timezone: null, deviceModel: 'iPhone15,2'};
	t.true(scoreOf({click, app: {...iosApp, deviceModel: 'iPhone15,2'}}).isExact);
	t.false(scoreOf({click, app: iosApp}).isExact);
	const elsewhere = {...click, timezone: 'Europe/Paris'};
	t.false(scoreOf({click: elsewhere, app: {...iosApp, deviceModel: 'iPhone15,2'}}).isExact);
});
