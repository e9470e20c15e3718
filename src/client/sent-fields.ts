import type {Device, MatchSignals, MatchTokens} from './sdk-shapes.ts';
import {SDK_VERSION} from './version.ts';

/** The fields of a device that a session reports; the version of this client unless the app names another. */
export const sessionBody = (device: Device): Device => {
	const {deviceId, platform, osVersion, deviceModel, appVersion, language, timezone} = device;
	const sdkVersion = device.sdkVersion ?? `oplink-js/${SDK_VERSION}`;
	return {deviceId, platform, osVersion, deviceModel, appVersion, sdkVersion, language, timezone};
};

/**
 * The token in a text, if there is one. Other clipboard contents are private, and a text of more than 100 characters,
 * such as a campaign's referrer, would make the server refuse the match.
 */
const tokenIn = (text: string | undefined): string | undefined =>
	/opl_[A-Za-z0-9]{32}(?![A-Za-z0-9])/.exec(text ?? '')?.[0];

/** The fields of a match request. */
export const signalsOf = (device: Device & MatchTokens): MatchSignals => {
	const {clipboardToken, installReferrer, deviceId, platform, osVersion, deviceModel, language, timezone} = device;
	return {
		clipboardToken: tokenIn(clipboardToken),
		installReferrer: tokenIn(installReferrer),
		deviceId,
		platform,
		osVersion,
		deviceModel,
		language,
		timezone,
	};
};

/** The signals with the token alone if a whole URL was copied: the server takes at most 100 characters. */
export const withBareToken = (signals: MatchSignals): MatchSignals => {
	const token = tokenIn(signals.clipboardToken);
	return token === undefined ? signals : {...signals, clipboardToken: token};
};
