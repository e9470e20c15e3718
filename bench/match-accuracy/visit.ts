import type {ToldSignals} from '../../src/match/match-signals.ts';
import {androidVersion} from '../../src/resolution/user-agent.ts';
import {readLanguage, readTimezone, readVisitor} from '../../src/resolution/visitor.ts';
import type {Person, Phone} from './people.ts';
import type {Model} from './phones.ts';
import {type Browser, sight} from './population.ts';
import type {Random} from './random.ts';
import {DESKTOP, headersOf} from './user-agents.ts';

/** What one visit of a link's page tells, and what else other products would see of it. */
export type Visit = {
	browser: Browser | 'desktop';
	told: ToldSignals;
	userAgent: string;
	/** Where the page's script could tell. */
	screen: Pick<Model, 'width' | 'height'> | null;
	/** The browser takes a cookie. */
	takesCookie: boolean;
	runsScript: boolean;
};

export const chooseBrowser = (random: Random, {platform}: Phone): Browser =>
	random.pick(platform === 'ios' ? sight.iosBrowsers.value : sight.androidBrowsers.value);

/**
 * What the page's signals add to what the headers told: the rules by which the server takes them
 * (contract/resolution 8).
 */
const withSignals = (
	told: ToldSignals,
	{metro, phone, language}: Person,
	browser: Browser,
	isMac: boolean,
): ToldSignals => {
	const isAndroid = phone.platform === 'android';
	const hasHints = isAndroid && sight.withHints.value.has(browser);
	const zone = isAndroid && browser !== 'firefox' ? metro.v8Zone : metro.zone;
	return {
		platform: told.platform ?? (isMac ? 'ios' : null),
		osVersion: (hasHints ? androidVersion('', `${phone.osVersion}.0.0`) : null) ?? told.osVersion,
		deviceModel: (hasHints ? phone.model.code : null) ?? told.deviceModel,
		language: readLanguage(language) ?? told.language,
		timezone: readTimezone(zone) ?? told.timezone,
	};
};

export const visitOnPhone = (random: Random, person: Person, browser: Browser): Visit => {
	const {phone, language} = person;
	const asMac = phone.isTablet && random.chance(sight.iPadAsksForDesktop.value);
	const headers = headersOf(phone, {browser, language, asMac});
	const visitor = readVisitor(headers);
	const takesCookie = !random.chance(sight.globalPrivacyControl.value);
	const runsScript = !random.chance(sight.withoutScript.value);
	const hasSignals = runsScript && takesCookie && !random.chance(sight.beaconLost.value);
	return {
		browser,
		told: hasSignals ? withSignals(visitor, person, browser, visitor.class === 'mac-or-ipad') : visitor,
		userAgent: headers.userAgent ?? '',
		screen: hasSignals ? phone.model : null,
		takesCookie,
		runsScript,
	};
};

export const visitOnDesktop = ({language, metro}: Person): Visit => {
	const visitor = readVisitor({userAgent: DESKTOP, acceptLanguage: language});
	return {
		browser: 'desktop',
		told: {...visitor, timezone: readTimezone(metro.v8Zone)},
		userAgent: DESKTOP,
		screen: {width: 1920, height: 1080},
		takesCookie: true,
		runsScript: true,
	};
};
