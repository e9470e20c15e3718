import Joi from 'joi';
import {sized} from '../http/sized.ts';
import {httpUrl, type Og, ogSchema} from '../links/link-fields.ts';
import {deniedSchemes} from '../resolution/denied-schemes.ts';
import {isCustomScheme} from '../resolution/link-targets.ts';
import {isAppStoreId, isPackageName} from './app-ids.ts';

export type IosConfig = {
	bundleId: string | null;
	teamId: string | null;
	appStoreId: string | null;
	scheme: string | null;
};
export type AndroidConfig = {packageName: string; sha256Fingerprints: string[]; scheme: string | null};
export type Confidence = 'exact' | 'high' | 'medium' | 'low';

/** An organization's app configuration, as stored and as the API shows it (contract/portal 5). */
export type AppConfig = {
	ios: IosConfig | null;
	android: AndroidConfig[];
	fallbackUrl: string | null;
	og: Og;
	/** Whether a first open may be matched by a guess. */
	probabilisticMatching: boolean;
	/** The lowest confidence that a match needs. */
	minimumConfidence: Confidence;
};

const MAX_FINGERPRINTS = 10;
/** Some of them may be given more than once. */
const MOST_GIVEN = 100;
const MAX_ANDROID_APPS = 20;

/** A string that must pass `test`; its only rule, in words and as JSON Schema. */
const textThat = (test: (text: string) => boolean, rule: string, schema: object, normalise = (text: string) => text) =>
	sized
		.string()
		.max(255)
		.custom((value: string, helpers) => {
			const text = normalise(value);
			return test(text) ? text : helpers.message({custom: `{{#label}} ${rule}`});
		})
		.meta({schema: {description: `It ${rule}.`, ...schema}});

const upperCase = (text: string): string => text.toUpperCase();

const scheme = textThat(
	(text) => text.length <= 255 && isCustomScheme(text),
	"must be the scheme of an app's own URLs, such as acmeshop, without ://",
	{maxLength: 255, pattern: '^[A-Za-z][A-Za-z0-9+.-]*$', not: {enum: deniedSchemes}},
);

// The rules of these fields: contract/resolution 10.
const ios = Joi.object<Partial<IosConfig>>({
	bundleId: textThat(
		(text) => text.length <= 155 && /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(text),
		'must be an iOS bundle id of letters, digits, hyphens and dots, such as com.example.app',
		{maxLength: 155, pattern: '^[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$'},
	).allow(null),
	teamId: textThat(
		(text) => /^[A-Z0-9]{10}$/.test(text),
		'must be an Apple team id of 10 letters and digits',
		{pattern: '^[A-Za-z0-9]{10}$'},
		upperCase,
	).allow(null),
	appStoreId: textThat(isAppStoreId, 'must be an App Store id of 6 to 12 digits', {
		pattern: '^[0-9]{6,12}$',
	}).allow(null),
	scheme: scheme.allow(null),
});

const withColons = (hex: string): string => hex.match(/../g)?.join(':') ?? '';

const fingerprint = sized
	.string()
	.max(255)
	.meta({
		schema: {
			description: 'A SHA-256 fingerprint of 32 bytes in hexadecimal, with colons or without.',
			pattern: '^(?:[0-9A-Fa-f]{64}|[0-9A-Fa-f]{2}(?::[0-9A-Fa-f]{2}){31})$',
		},
	})
	.custom((value: string, helpers) => {
		const isColoned = /^[0-9a-f]{2}(:[0-9a-f]{2})*$/i.test(value);
		const hex = isColoned || /^[0-9a-f]+$/i.test(value) ? value.replaceAll(':', '').toUpperCase() : '';
		if (hex.length === 40) {
			return helpers.message({custom: '{{#label}} is a SHA-1 fingerprint; the SHA-256 fingerprint is required'});
		}

		return hex.length === 64
			? withColons(hex)
			: helpers.message({custom: '{{#label}} must be a SHA-256 fingerprint of 32 bytes in hexadecimal'});
	});

const fingerprints = sized
	.array()
	.items(fingerprint)
	.min(1)
	.max(MOST_GIVEN)
	.meta({schema: {maxItems: MAX_FINGERPRINTS}})
	.custom((values: string[], helpers) => {
		const distinct = [...new Set(values)];
		return distinct.length <= MAX_FINGERPRINTS
			? distinct
			: helpers.message({custom: `{{#label}} must contain at most ${MAX_FINGERPRINTS} items`});
	});

const androidApp = Joi.object<AndroidConfig>({
	packageName: textThat(
		isPackageName,
		'must be an Android package name of two or more segments, such as com.example.app',
		{maxLength: 255, pattern: '^[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*)+$'},
	).required(),
	sha256Fingerprints: fingerprints.required(),
	scheme: scheme.allow(null),
});

export type AppConfigInput = {
	ios?: Partial<IosConfig> | null;
	android?: Array<Omit<AndroidConfig, 'scheme'> & {scheme?: string | null}> | null;
	fallbackUrl?: string | null;
	og?: Partial<Og> | null;
	probabilisticMatching?: boolean;
	minimumConfidence?: Confidence;
};

export const appConfigBody = Joi.object<AppConfigInput>({
	ios: ios.allow(null),
	android: sized
		.array()
		.items(androidApp)
		.max(MAX_ANDROID_APPS)
		.unique('packageName')
		.messages({'array.unique': '{{#label}} repeats a package name'})
		.allow(null),
	fallbackUrl: httpUrl().allow(null),
	og: ogSchema,
	probabilisticMatching: Joi.boolean().strict(),
	minimumConfidence: Joi.string().valid('exact', 'high', 'medium', 'low'),
});

/** The complete configuration of a body: missing fields are unset or get their defaults. */
export const appConfigOf = ({ios, og, ...input}: AppConfigInput): AppConfig => ({
	ios:
		ios == null
			? null
			: {
					bundleId: ios.bundleId ?? null,
					teamId: ios.teamId ?? null,
					appStoreId: ios.appStoreId ?? null,
					scheme: ios.scheme ?? null,
				},
	android: (input.android ?? []).map(({packageName, sha256Fingerprints, scheme}) => ({
		packageName,
		sha256Fingerprints,
		scheme: scheme ?? null,
	})),
	fallbackUrl: input.fallbackUrl ?? null,
	og: {title: og?.title ?? null, description: og?.description ?? null, imageUrl: og?.imageUrl ?? null},
	probabilisticMatching: input.probabilisticMatching ?? true,
	minimumConfidence: input.minimumConfidence ?? 'low',
});
