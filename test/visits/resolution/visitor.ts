import test from 'ava';
import Joi from 'joi';
import {
	isPrefetch,
	readVisitor,
	showsQrCode,
	type VisitorClass,
	type VisitorHeaders,
} from '../../../src/visits/visit/visitor.ts';
import {corpus, read} from './_user-agents.ts';

test('every User-Agent of the corpus is classified correctly', (t) => {
	t.is(corpus.length, 180);
	for (const {expected, userAgent} of corpus) {
		t.is(readVisitor({userAgent}).class, expected as VisitorClass, userAgent);
	}
});

test('every line of config/crawlers.json has the form that is read', (t) => {
	const list = Joi.array()
		.items(
			Joi.object({
				name: Joi.string().required(),
				// The index uses the first three characters.
				token: Joi.string().min(3).required(),
				at: Joi.valid('start', 'word', 'end', 'whole'),
				digit: Joi.boolean(),
			}),
		)
		.min(1)
		.unique((a: {token: string; at?: string}, b: {token: string; at?: string}) => a.token === b.token && a.at === b.at)
		.required();
	const {error} = Joi.object({
		preview: list,
		search: list,
		robot: list,
		words: Joi.object({preview: list, robot: list}).required(),
		exceptions: list,
		inApp: list,
		excluded: Joi.object().pattern(Joi.string(), Joi.string()).required(),
	}).validate(JSON.parse(read('config/crawlers.json')), {abortEarly: false});
	t.is(error, undefined);
});

const classOf = (userAgent: string): VisitorClass => readVisitor({userAgent}).class;

test('a missing or empty User-Agent is unknown', (t) => {
	t.is(readVisitor({}).class, 'unknown');
	const unknown = {class: 'unknown', platform: null, os: null, browser: null, language: null, timezone: null};
	t.like(readVisitor({userAgent: ''}), unknown);
});

test('the name of a phone makes nobody a robot, whatever word of any list it holds', (t) => {
	const own = JSON.parse(read('config/crawlers.json')) as Record<'preview' | 'search' | 'robot' | 'words', object>;
	const {preview, search, robot} = JSON.parse(read('config/kept-crawlers.json')) as Record<string, string[]>;
	const listed = [own.preview, own.search, own.robot, ...Object.values(own.words)].flat() as Array<{token: string}>;
	const tokens = [...listed.map(({token}) => token), ...[preview, search, robot].flatMap((texts = []) => texts)];
	const names = tokens.filter((token) => /^[\w .+-]+$/.test(token) && token.trim() !== '');
	t.true(names.length > 1000);
	for (const name of names) {
		const browser = `Mozilla/5.0 (Linux; Android 7.0; Acme ${name} Build/NRD90M) AppleWebKit/537.36 Mobile Safari/537.36`;
		t.is(classOf(browser), 'android-browser', name);
		// In another place the same word is a robot's.
		t.is(classOf(`${browser} (compatible; Googlebot/2.1; +http://www.google.com/bot.html)`), 'search-bot', name);
	}

	t.is(classOf('Dalvik/2.1.0 (Linux; U; Android 7.0; M bot 60 Build/NRD90M)'), 'unknown');
});

test('crawlers are known in any case of letters', (t) => {
	t.is(classOf('FaceBookExternalHit/1.1'), 'preview-crawler');
	t.is(classOf('WHATSAPP/2.23.20.0'), 'preview-crawler');
	t.is(classOf('mozilla/5.0 (compatible; GOOGLEBOT/2.1)'), 'search-bot');
});

test('only the first 1024 characters of a User-Agent are read', (t) => {
	const padding = 'x'.repeat(20_000);
	t.is(classOf(`${padding} facebookexternalhit/1.1`), 'unknown');
	t.is(classOf(`facebookexternalhit/1.1 ${padding}`), 'preview-crawler');
	t.is(classOf(`Mozilla/5.0 (Linux; Android 14; ${'Version/1 '.repeat(2000)}`), 'android-browser');
});

const iphone = (version: string, rest: string) =>
	`Mozilla/5.0 (iPhone; CPU iPhone OS ${version} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) ${rest}`;
const android = (inside: string, rest = 'Chrome/137.0.0.0 Mobile Safari/537.36') =>
	`Mozilla/5.0 (Linux; ${inside}) AppleWebKit/537.36 (KHTML, like Gecko) ${rest}`;

const exact = (major: number, minor: number, patch: number) => ({major, minor, patch, precision: 'patch'});
const majorOnly = (major: number, minor: number | null = null) => ({major, minor, patch: null, precision: 'major'});

const facebook = 'Mobile/1 [FBAN/FBIOS;FBSV/26.1.2;FBSS/3]';
const instagram = 'Mobile/1 Instagram 330.0 (iPhone14,3; iOS 26_1; en_US)';
const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/137.0.0.0';

for (const [title, userAgent, expected, uaPlatformVersion] of [
	['exact from Safari up to iOS 18', iphone('17_5_1', 'Version/17.5 Safari/604.1'), exact(17, 5, 1)],
	['a patch of zero if Apple omits it', iphone('18_6', 'Version/18.6 Safari/604.1'), exact(18, 6, 0)],
	['read from Safari from 26 on', iphone('18_6', 'Version/26.2 Safari/604.1'), majorOnly(26, 2)],
	['unknown if Chrome on iOS may report the frozen 18', iphone('18_5', 'CriOS/138.0 Safari/604.1'), null],
	['unknown if a web view may report the frozen 18', iphone('18_5', 'Mobile/15E148'), null],
	['exact if Chrome on iOS reports an older one', iphone('17_4', 'CriOS/138.0 Safari/604.1'), exact(17, 4, 0)],
	['unknown if Safari and the system disagree', iphone('16_2', 'Version/17.1 Safari/604.1'), null],
	['the one in Facebook’s User-Agent', iphone('18_6', facebook), exact(26, 1, 2)],
	['the one in Instagram’s User-Agent', iphone('18_6', instagram), exact(26, 1, 0)],
	['unknown if Chrome froze Android at 10', android('Android 10; K'), null],
	['unknown if a reduced web view reports 10', android('Android 10; K; wv'), null],
	['the hinted one on Android', android('Android 10; K'), exact(14, 0, 0), '"14.0.0"'],
	['a major number from an Android web view', android('Android 14; Pixel 8 Build/AP2A; wv'), majorOnly(14)],
	['complete if Android reports all parts', android('Android 7.1.2; G011A Build/N2G48H'), exact(7, 1, 2)],
	['unknown on desktops, which have frozen it', windows, null],
] as const) {
	test(`the OS version is ${title}`, (t) => {
		t.deepEqual(readVisitor({userAgent, uaPlatformVersion}).osVersion as unknown, expected);
	});
}

test('the device model is the code from the client, its app or its hint', (t) => {
	const model = (headers: VisitorHeaders) => readVisitor(headers).deviceModel;
	t.is(model({userAgent: iphone('17_5', 'Mobile/1 [FBAN/FBIOS;FBDV/iPhone15,3;FBMD/iPhone]')}), 'iPhone15,3');
	t.is(model({userAgent: iphone('17_5', 'Mobile/1 Instagram 330.0 (iPhone14,3; iOS 17_5; en_US)')}), 'iPhone14,3');
	t.is(model({userAgent: iphone('17_5', 'Version/17.5 Safari/604.1')}), null);
	t.is(model({userAgent: android('Android 14; SM-S918B Build/UP1A.231005.007; wv')}), 'SM-S918B');
	t.is(model({userAgent: android('U; Android 14; en-gb; 23078PND5G Build/UP1A')}), '23078PND5G');
	t.is(model({userAgent: android('Android 12; HarmonyOS; NOH-AN00; HMSCore 6.14.0.302')}), 'NOH-AN00');
	t.is(model({userAgent: android('Android 10; K')}), null);
	t.is(model({userAgent: android('Android 10; K'), uaModel: '"Pixel 8"'}), 'Pixel 8');
	t.is(model({userAgent: android('Android 10; K'), uaModel: '""'}), null);
	t.is(model({userAgent: 'Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0'}), null);
});

test('browser, app and service have a name', (t) => {
	const browser = (userAgent: string) => readVisitor({userAgent}).browser;
	t.is(browser(iphone('17_5', 'Version/17.5 Mobile/15E148 Safari/604.1')), 'Safari');
	t.is(browser(iphone('17_5', 'CriOS/138.0 Mobile/15E148 Safari/604.1')), 'Chrome');
	t.is(browser(iphone('17_5', 'Mobile/1 [FBAN/MessengerLiteForiOS;FBAV/410.0]')), 'Messenger');
	t.is(browser(iphone('17_5', 'Mobile/15E148')), 'WebView');
	const ofSamsung = 'SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile Safari/537.36';
	t.is(browser(android('Android 10; K', ofSamsung)), 'Samsung Internet');
	t.is(browser('WhatsApp/2.23.20.0'), 'WhatsApp');
	t.is(browser('curl/8.6.0'), null);
});

test('a Mac that may be an iPad has no platform, because its headers are ambiguous', (t) => {
	const userAgent = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/17.5 Safari/605.1.15';
	const visitor = readVisitor({userAgent});
	t.like(visitor, {class: 'mac-or-ipad', platform: null, os: null, osVersion: null});
	t.true(showsQrCode(visitor));
});

test('the language is the one asked for most, in its canonical form', (t) => {
	const language = (acceptLanguage: string) => readVisitor({acceptLanguage}).language;
	t.is(language('en;q=0.5, de-at'), 'de-AT');
	t.is(language('en_us'), 'en-US');
	t.is(language('zh-hans-cn,zh;q=0.9'), 'zh-Hans-CN');
	t.is(language('iw'), 'he');
	t.is(language('*, fr;q=0.1'), 'fr');
	t.is(language('!!, fr;q=0.1'), 'fr');
	t.is(language('*'), null);
	t.is(language(''), null);
	t.is(language(','.repeat(50_000)), null);
});

test('the timezone is a zone that exists, with or without quotes, else null', (t) => {
	const timezone = (value: string) => readVisitor({timezone: value}).timezone;
	t.is(timezone('"Europe/Berlin"'), 'Europe/Berlin');
	t.is(timezone('Asia/Kolkata'), 'Asia/Kolkata');
	for (const value of ['', '""', 'Not/AZone', '+05:30', 'GMT+2', 'x'.repeat(5000), '"Europe/Berlin', '<script>']) {
		t.is(timezone(value), null, value);
	}
});

test('a prefetch is known by each of the headers that announce one', (t) => {
	t.true(isPrefetch({'sec-purpose': 'prefetch;prerender'}));
	t.true(isPrefetch({purpose: 'Prefetch'}));
	t.true(isPrefetch({'x-moz': 'prefetch'}));
	t.false(isPrefetch({}));
	t.false(isPrefetch({'sec-fetch-mode': 'navigate'}));
});
