import {type MatchSignals, normalize, type RawSignals, signalsOfApp} from '../../src/visits/matches/match-signals.ts';
import {androidVersion} from '../../src/visits/visit/user-agent.ts';
import {readLanguage, readTimezone, readVisitor} from '../../src/visits/visit/visitor.ts';
import type {Click, Open} from './story.ts';

const known = new Map<string, ReturnType<typeof readVisitor>>();

/** A click's signals, and the name of its browser. */
export type ReadClick = {signals: MatchSignals; browser: string | null};

/** What the product reads of a click: its own code for headers, and its rules for what a page posts (contract/resolution 8). */
export const readClick = ({seen: {userAgent}, acceptLanguage, signals}: Click): ReadClick => {
	const key = `${userAgent}\n${acceptLanguage}`;
	const visitor = known.get(key) ?? readVisitor({userAgent, acceptLanguage});
	known.set(key, visitor);
	if (signals === null) {
		return {signals: normalize(visitor), browser: visitor.browser};
	}

	const isTablet = visitor.class === 'mac-or-ipad' && signals.isTouch;
	const reported: RawSignals = {
		platform: visitor.platform ?? (isTablet ? 'ios' : null),
		osVersion: (signals.androidVersion && androidVersion('', signals.androidVersion)) || visitor.osVersion,
		deviceModel: signals.model ?? visitor.deviceModel,
		language: readLanguage(signals.language) ?? visitor.language,
		timezone: readTimezone(signals.timezone) ?? visitor.timezone,
	};
	return {signals: normalize(reported), browser: visitor.browser};
};

export const readOpen = ({platform, version, model, language, timezone}: Open): MatchSignals =>
	signalsOfApp({
		platform: platform === 'ios' ? 'iOS' : 'Android',
		osVersion: version,
		deviceModel: model,
		language,
		timezone,
	});

/** What the product read of a phone that the phone is not, in words, or null. */
export const misreading = (click: Click): string | null => {
	if (click.phone === null) {
		return null;
	}

	const {platform, model, osVersion} = readClick(click).signals;
	const {phone} = click;
	const [major, minor = 0] = phone.version.split('.').map(Number);
	if (platform !== null && platform !== phone.platform) {
		return `platform ${platform}: ${click.seen.userAgent}`;
	}

	if (model !== null && model !== phone.model.toLowerCase()) {
		return `model ${model}: ${click.seen.userAgent}`;
	}

	const isOther =
		osVersion && (osVersion.major !== major || (osVersion.precision !== 'major' && osVersion.minor !== minor));
	return isOther ? `version ${osVersion.major}.${osVersion.minor}: ${click.seen.userAgent}` : null;
};
