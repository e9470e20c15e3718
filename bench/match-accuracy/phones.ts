import {androids, androidVersions, type Browser, iosVersions, iPhones, shopNames, sight} from './parameters.ts';
import type {Random, Weighted} from './random.ts';

export type Phone = {
	platform: 'ios' | 'android';
	/** The code that the system names. */
	model: string;
	version: string;
	/** In the browser's pixels. */
	screen: string;
	isTablet: boolean;
};

/** A User-Agent, and what it says of its phone. The phone knows what it is: nothing here parses anything. */
export type Sight = {
	userAgent: string;
	platform: 'ios' | 'android' | 'desktop' | null;
	/** As far as it is said and not frozen: `17.5.1`, `26`, `14`. */
	version: string | null;
	model: string | null;
	/** The words of `<system>|<browser>` by which simple rules distinguish browsers. */
	family: string;
};

/** @param modelCount how many models per system there are at all. */
export const createPhones = (random: Random, modelCount: number) => {
	const some = (lines: typeof iPhones): Weighted<(typeof iPhones)[number]> =>
		lines.slice(0, modelCount).map((line) => [line, line[3]] as const);
	const models = {ios: some(iPhones), android: some(androids)};
	const version = (platform: Phone['platform']): string =>
		random.pick(platform === 'ios' ? iosVersions : androidVersions);
	return {
		version,
		phone: (platform: Phone['platform']): Phone => {
			const [model, width, height] = random.pick(models[platform]);
			const isTablet = model.startsWith('iPad');
			return {platform, model, version: version(platform), screen: `${width}x${height}`, isTablet};
		},
	};
};

/** The model as an app sends it. */
export const modelOfApp = (random: Random, {platform, model}: Phone): string =>
	platform === 'android' && random.chance(sight.shopNames)
		? (shopNames.find(([code]) => model.startsWith(code))?.[1] ?? model)
		: model;

const majorOf = (version: string): number => Number(version.split('.')[0]);

/** The version in the parenthesis, which Apple froze with iOS 26 (contract/match 13). */
const frozen = (version: string): string =>
	(majorOf(version) < 26 ? version : /^26\.[01]/.test(version) ? '18.6' : '18.7').replaceAll('.', '_');

const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
const BLINK = 'AppleWebKit/537.36 (KHTML, like Gecko)';

const onIos = ({isTablet, model, version}: Phone, browser: Browser, locale: string): Sight => {
	const said = (agent: string, known: Partial<Sight>, name = 'safari'): Sight => ({
		userAgent: agent,
		platform: 'ios',
		version: null,
		model: null,
		family: `iphone|${name}`,
		...known,
	});
	const major = String(majorOf(version));
	const device = isTablet ? `iPad; CPU OS ${frozen(version)}` : `iPhone; CPU iPhone OS ${frozen(version)}`;
	const start = `Mozilla/5.0 (${device} like Mac OS X) ${WEBKIT}`;
	const safari = `Version/${version.split('.').slice(0, 2).join('.')}`;
	// Without `Version/` an 18 may be a 26 that says 18.
	const unlessFrozen = {version: majorOf(version) < 18 ? version : null};
	switch (browser) {
		case 'chrome':
			return said(`${start} CriOS/145.0.7632.41 Mobile/15E148 Safari/604.1`, unlessFrozen, 'safari');
		case 'google app':
			return said(`${start} GSA/402.0.863210 Mobile/15E148 Safari/604.1`, unlessFrozen);
		case 'facebook':
			return said(
				`${start} Mobile/15E148 [FBAN/FBIOS;FBAV/546.0.0.31.105;FBBV/872104;FBDV/${model};FBMD/iPhone;FBSN/iOS;FBSV/${version};FBSS/3;FBID/phone;FBLC/${locale};FBOP/5]`,
				{version, model},
				'',
			);
		case 'instagram':
			return said(
				`${start} Mobile/15E148 Instagram 416.0.0.22.77 (${model}; iOS ${version.replaceAll('.', '_')}; ${locale}; ${locale.slice(0, 2)}; scale=3.00; 1179x2556; 872104123)`,
				{version, model},
				'',
			);
		case 'tiktok':
			return said(
				`${start} Mobile/15E148 musical_ly_43.1.0 BytedanceWebview/d8a21c6 JsSdk/2.0 NetType/WIFI Channel/App Store ByteLocale/${locale.slice(0, 2)}`,
				unlessFrozen,
				'',
			);
		case 'other app':
			return said(`${start} Mobile/15E148 [LinkedInApp]/9.31.1024`, unlessFrozen, '');
		default:
			// An iPad asks for pages as a Mac does: only its page's script knows better.
			return isTablet
				? said(`Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} ${safari} Safari/605.1.15`, {
						platform: null,
						family: 'macintosh|safari',
					})
				: said(`${start} ${safari} Mobile/15E148 Safari/604.1`, {
						version: majorOf(version) < 26 ? version : major,
					});
	}
};

const onAndroid = ({model, version}: Phone, browser: Browser, isReduced: boolean): Sight => {
	const said = (userAgent: string, isOpen: boolean, name = 'chrome'): Sight => ({
		userAgent,
		platform: 'android',
		version: isOpen ? version : null,
		model: isOpen ? model : null,
		family: `android|${name}`,
	});
	const reduced = `Mozilla/5.0 (Linux; Android 10; K) ${BLINK}`;
	const device = isReduced ? 'Android 10; K; wv' : `Android ${version}; ${model} Build/UP1A.231005.007; wv`;
	const inApp = (name: string): Sight =>
		said(
			`Mozilla/5.0 (Linux; ${device}) ${BLINK} Version/4.0 Chrome/144.0.7559.59 Mobile Safari/537.36 ${name}`,
			!isReduced,
		);
	switch (browser) {
		case 'samsung':
			return said(`${reduced} SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36`, false);
		case 'opera':
			return said(`${reduced} Chrome/142.0.0.0 Mobile Safari/537.36 OPR/94.0.0.0`, false);
		case 'firefox':
			return {
				...said(`Mozilla/5.0 (Android ${version}; Mobile; rv:147.0) Gecko/147.0 Firefox/147.0`, true, 'firefox'),
				model: null,
			};
		case 'xiaomi':
			return said(
				`Mozilla/5.0 (Linux; U; Android ${version}; en-us; ${model} Build/UP1A.230905.011) ${BLINK} Version/4.0 Chrome/123.0.6312.118 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.32.0-gn`,
				true,
			);
		case 'facebook':
			return inApp('[FB_IAB/FB4A;FBAV/546.0.0.41.77;IABMV/1;]');
		case 'instagram':
			return inApp(
				isReduced
					? 'Instagram 416.0.0.41.77'
					: `Instagram 416.0.0.41.77 Android (34/${version}; 420dpi; 1080x2340; samsung; ${model}; qcom; en_US; 872104123)`,
			);
		case 'tiktok':
			return inApp('trill_430103 JsSdk/1.0 NetType/WIFI AppName/musical_ly BytedanceWebview/d8a21c6');
		case 'other app':
			return inApp('TwitterAndroid');
		default:
			return said(`${reduced} Chrome/145.0.0.0 Mobile Safari/537.36`, false);
	}
};

/** What a visit's first request says; no browser sends hints that it was not asked for. */
export const sightOf = (random: Random, phone: Phone, browser: Browser, language: string): Sight =>
	phone.platform === 'ios'
		? onIos(phone, browser, language.replace('-', '_'))
		: onAndroid(phone, browser, random.chance(sight.reducedWebViews));

export const onDesktop: Sight = {
	userAgent: `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${BLINK} Chrome/145.0.0.0 Safari/537.36`,
	platform: 'desktop',
	version: null,
	model: null,
	family: 'windows|chrome',
};

/** Browsers whose script can ask for model and version: Chromium under its own name. Safari has no hints. */
export const hasHints = (browser: Browser): boolean => ['chrome', 'samsung', 'opera'].includes(browser);
