import {canonicalTimezone} from '../../platform/timezone.ts';
import type {OsVersion} from '../visit/user-agent.ts';
import {type Language, languageOf, modelCode, osVersionOf} from './normalize-signals.ts';

export type Platform = 'ios' | 'android' | 'desktop';

/** The signals of a device as a click or an app reported them. Null: not reported. */
export type RawSignals = {
	platform: Platform | null;
	osVersion: OsVersion | null;
	deviceModel: string | null;
	language: string | null;
	timezone: string | null;
};

/** Signals in comparable form; a meaningless value has become null. */
export type MatchSignals = {
	platform: Platform | null;
	osVersion: OsVersion | null;
	/** A device's code, never its marketing name. */
	model: string | null;
	language: Language | null;
	/** The zone's name in this engine. */
	timezone: string | null;
};

export const normalize = ({platform, osVersion, deviceModel, language, timezone}: RawSignals): MatchSignals => ({
	platform,
	osVersion,
	model: deviceModel === null ? null : modelCode(deviceModel),
	language: language === null ? null : languageOf(language),
	timezone: timezone === null ? null : canonicalTimezone(timezone),
});

/** The fields of a match request that describe the device (contract/match 1). */
export type DeviceFields = {
	platform?: 'iOS' | 'Android' | null | undefined;
	osVersion?: string | null | undefined;
	deviceModel?: string | null | undefined;
	language?: string | null | undefined;
	timezone?: string | null | undefined;
};

/** The comparable signals of the device that an app reports. */
export const signalsOfApp = ({platform, osVersion, deviceModel, language, timezone}: DeviceFields): MatchSignals =>
	normalize({
		platform: platform === 'iOS' ? 'ios' : platform === 'Android' ? 'android' : null,
		osVersion: osVersion == null ? null : osVersionOf(osVersion),
		deviceModel: deviceModel ?? null,
		language: language ?? null,
		timezone: timezone ?? null,
	});
