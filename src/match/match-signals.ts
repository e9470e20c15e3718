import type {OsVersion} from '../resolution/user-agent.ts';
import {canonicalTimezone} from '../timezone.ts';
import {modelCode} from './normalize-device-model.ts';
import {type Language, languageOf} from './normalize-language.ts';
import {osVersionOf} from './normalize-os-version.ts';

export type Platform = 'ios' | 'android' | 'desktop';

/** What a click or an app tells of its device, as it told it. Null: not told. */
export type ToldSignals = {
	platform: Platform | null;
	osVersion: OsVersion | null;
	deviceModel: string | null;
	language: string | null;
	timezone: string | null;
};

/** The same in forms that compare: what means nothing has become null. */
export type MatchSignals = {
	platform: Platform | null;
	osVersion: OsVersion | null;
	/** A device's code, never its marketing name. */
	model: string | null;
	language: Language | null;
	/** The zone's name in this engine. */
	timezone: string | null;
};

export const normalize = ({platform, osVersion, deviceModel, language, timezone}: ToldSignals): MatchSignals => ({
	platform,
	osVersion,
	model: deviceModel === null ? null : modelCode(deviceModel),
	language: language === null ? null : languageOf(language),
	timezone: timezone === null ? null : canonicalTimezone(timezone),
});

/** The part of a match request that tells of the device (contract/match 1). */
export type DeviceFields = {
	platform?: 'iOS' | 'Android' | null | undefined;
	osVersion?: string | null | undefined;
	deviceModel?: string | null | undefined;
	language?: string | null | undefined;
	timezone?: string | null | undefined;
};

/** What an app says of its device. */
export const signalsOfApp = ({platform, osVersion, deviceModel, language, timezone}: DeviceFields): MatchSignals =>
	normalize({
		platform: platform === 'iOS' ? 'ios' : platform === 'Android' ? 'android' : null,
		osVersion: osVersion == null ? null : osVersionOf(osVersion),
		deviceModel: deviceModel ?? null,
		language: language ?? null,
		timezone: timezone ?? null,
	});
