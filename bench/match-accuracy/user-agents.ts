import type {VisitorHeaders} from '../../src/resolution/visitor.ts';
import type {Phone} from './people.ts';
import type {Browser} from './population.ts';

const WEBKIT = 'AppleWebKit/605.1.15 (KHTML, like Gecko)';
const BLINK = 'AppleWebKit/537.36 (KHTML, like Gecko)';

const partsOf = (version: string): [major: number, minor: number] => {
	const [major = 0, minor = 0] = version.split('.').map(Number);
	return [major, minor];
};

/** The version in the parenthesis, which Apple froze with iOS 26 (contract/match 13). */
const frozen = (version: string): string => {
	const [major, minor] = partsOf(version);
	return major < 26 ? version.replaceAll('.', '_') : minor < 2 ? '18_6' : '18_7';
};

const iosUserAgent = (
	{isTablet, model, osVersion}: Phone,
	browser: Browser,
	locale: string,
	asMac: boolean,
): string => {
	const [major, minor] = partsOf(osVersion);
	if (asMac && browser === 'safari') {
		return `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) ${WEBKIT} Version/${major}.${minor} Safari/605.1.15`;
	}

	const device = isTablet ? `iPad; CPU OS ${frozen(osVersion)}` : `iPhone; CPU iPhone OS ${frozen(osVersion)}`;
	const start = `Mozilla/5.0 (${device} like Mac OS X) ${WEBKIT}`;
	const underscored = osVersion.replaceAll('.', '_');
	switch (browser) {
		case 'chrome':
			return `${start} CriOS/145.0.7632.41 Mobile/15E148 Safari/604.1`;
		case 'google app':
			return `${start} GSA/402.0.863210 Mobile/15E148 Safari/604.1`;
		case 'facebook':
			return `${start} Mobile/15E148 [FBAN/FBIOS;FBAV/546.0.0.31.105;FBBV/872104;FBDV/${model.code};FBMD/iPhone;FBSN/iOS;FBSV/${osVersion};FBSS/3;FBID/phone;FBLC/${locale};FBOP/5]`;
		case 'instagram':
			return `${start} Mobile/15E148 Instagram 416.0.0.22.77 (${model.code}; iOS ${underscored}; ${locale}; ${locale.slice(0, 2)}; scale=3.00; 1179x2556; 872104123)`;
		case 'tiktok':
			return `${start} Mobile/15E148 musical_ly_43.1.0 BytedanceWebview/d8a21c6 JsSdk/2.0 NetType/WIFI Channel/App Store ByteLocale/${locale.slice(0, 2)}`;
		case 'other app':
			return `${start} Mobile/15E148 [LinkedInApp]/9.31.1024`;
		default:
			return `${start} Version/${major}.${minor} Mobile/15E148 Safari/604.1`;
	}
};

const androidUserAgent = ({model, osVersion}: Phone, browser: Browser): string => {
	const reduced = `Mozilla/5.0 (Linux; Android 10; K) ${BLINK}`;
	const webView = `Mozilla/5.0 (Linux; Android ${osVersion}; ${model.code} Build/UP1A.231005.007; wv) ${BLINK} Version/4.0 Chrome/144.0.7559.59 Mobile Safari/537.36`;
	switch (browser) {
		case 'samsung':
			return `${reduced} SamsungBrowser/29.0 Chrome/136.0.0.0 Mobile Safari/537.36`;
		case 'opera':
			return `${reduced} Chrome/142.0.0.0 Mobile Safari/537.36 OPR/94.0.0.0`;
		case 'firefox':
			return `Mozilla/5.0 (Android ${osVersion}; Mobile; rv:147.0) Gecko/147.0 Firefox/147.0`;
		case 'xiaomi':
			return `Mozilla/5.0 (Linux; U; Android ${osVersion}; en-us; ${model.code} Build/UP1A.230905.011) ${BLINK} Version/4.0 Chrome/123.0.6312.118 Mobile Safari/537.36 XiaoMi/MiuiBrowser/14.32.0-gn`;
		case 'facebook':
			return `${webView} [FB_IAB/FB4A;FBAV/546.0.0.41.77;IABMV/1;]`;
		case 'instagram':
			return `${webView} Instagram 416.0.0.41.77 Android (34/${osVersion}; 420dpi; 1080x2340; samsung; ${model.code}; qcom; en_US; 872104123)`;
		case 'tiktok':
			return `${webView} trill_430103 JsSdk/1.0 NetType/WIFI AppName/musical_ly BytedanceWebview/d8a21c6`;
		case 'other app':
			return `${webView} TwitterAndroid`;
		default:
			return `${reduced} Chrome/145.0.0.0 Mobile Safari/537.36`;
	}
};

export const DESKTOP = `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${BLINK} Chrome/145.0.0.0 Safari/537.36`;

/** The headers of a phone's first request for a page, on which no browser sends hints that it was not asked for. */
export const headersOf = (
	phone: Phone,
	{browser, language, asMac}: {browser: Browser; language: string; asMac: boolean},
): VisitorHeaders => {
	const [primary = language] = language.split('-');
	return {
		userAgent:
			phone.platform === 'ios'
				? iosUserAgent(phone, browser, language.replace('-', '_'), asMac)
				: androidUserAgent(phone, browser),
		acceptLanguage: `${language},${primary};q=0.9`,
	};
};
