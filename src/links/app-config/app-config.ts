import Joi from 'joi';
import {sizeFirst} from '../../platform/http/size-first.ts';
import {httpUrl} from '../http-url.ts';
import {deniedSchemes} from '../links/denied-schemes.ts';
import {platformColumns, platformFieldsOf} from '../links/link-columns.ts';
import type {AppName, InputFields, ShownFields} from '../links/link-fields.ts';
import {linkFieldSchemas, platformFieldSchemas} from '../links/link-schemas.ts';
import {isAppStoreId, isCustomScheme, isPackageName} from '../links/link-targets.ts';

export type IosConfig = {
	bundleId: string | null;
	teamId: string | null;
	appStoreId: string | null;
	scheme: string | null;
	/** Of the App Clip that custom domains open. Absent unless set, as all fields below that are optional. */
	appClipBundleId?: string;
};
export type AndroidConfig = {
	packageName: string;
	sha256Fingerprints: string[];
	scheme: string | null;
	/** Whether `assetlinks.json` limits the paths that open the app. */
	dynamicAppLinks?: true;
};
/** The text that pages copy: the token, or the short URL with the token as its fragment. */
export type ClipboardFormat = 'token' | 'url';
export type Confidence = 'exact' | 'high' | 'medium' | 'low';

/** An organization's app configuration, as stored and as the API shows it (contract/portal 5). */
export type AppConfig = ShownFields<AppName> & {
	ios: IosConfig | null;
	android: AndroidConfig[];
	/** Paths of custom domains that stay in the browser, with Apple's wildcards. */
	browserPaths?: string[];
	/** Whether browsers get a page instead of JSON if a link does not exist or is gone. */
	errorPages?: true;
	/** Absent: the token. */
	clipboardFormat?: ClipboardFormat;
	/** A square picture that pages show instead of the organization's initial. */
	logoUrl?: string;
	/** Whether a first open may be matched by a guess. */
	probabilisticMatching: boolean;
	/** The lowest confidence that a match needs. */
	minimumConfidence: Confidence;
};

const MAX_FINGERPRINTS = 10;
/** With repetitions. */
const MAX_ITEMS = 100;
const MAX_ANDROID_APPS = 20;
const MAX_BROWSER_PATHS = 50;

/** A string that must pass `test`; its only rule, in words and as JSON Schema. */
const textThat = (test: (text: string) => boolean, rule: string, schema: object, normalize = (text: string) => text) =>
	sizeFirst
		.string()
		.max(255)
		.custom((value: string, helpers) => {
			const text = normalize(value);
			return test(text) ? text : helpers.message({custom: `{{#label}} ${rule}`});
		})
		.meta({schema: {description: `It ${rule}.`, ...schema}});

const upperCase = (text: string): string => text.toUpperCase();

const scheme = textThat(
	(text) => text.length <= 255 && isCustomScheme(text),
	"must be the scheme of an app's own URLs, such as acmeshop, without ://",
	{maxLength: 255, pattern: '^[A-Za-z][A-Za-z0-9+.-]*$', not: {pattern: deniedSchemes}},
);

// The rules of these fields: contract/resolution 10.
const bundleId = textThat(
	(text) => text.length <= 155 && /^[A-Za-z0-9-]+(\.[A-Za-z0-9-]+)+$/.test(text),
	'must be an iOS bundle id of letters, digits, hyphens and dots, such as com.example.app',
	{maxLength: 155, pattern: '^[A-Za-z0-9-]+(\\.[A-Za-z0-9-]+)+$'},
);
const ios = Joi.object<IosInput>({
	bundleId: bundleId.allow(null),
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
	appClipBundleId: bundleId.allow(null),
});

const withColons = (hex: string): string => hex.match(/../g)?.join(':') ?? '';

const fingerprint = sizeFirst
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

const fingerprints = sizeFirst
	.array()
	.items(fingerprint)
	.min(1)
	.max(MAX_ITEMS)
	.meta({schema: {maxItems: MAX_FINGERPRINTS}})
	.custom((values: string[], helpers) => {
		const distinct = [...new Set(values)];
		return distinct.length <= MAX_FINGERPRINTS
			? distinct
			: helpers.message({custom: `{{#label}} must contain at most ${MAX_FINGERPRINTS} items`});
	});

const androidApp = Joi.object<AndroidInput>({
	packageName: textThat(
		isPackageName,
		'must be an Android package name of two or more segments, such as com.example.app',
		{maxLength: 255, pattern: '^[A-Za-z][A-Za-z0-9_]*(\\.[A-Za-z][A-Za-z0-9_]*)+$'},
	).required(),
	sha256Fingerprints: fingerprints.required(),
	scheme: scheme.allow(null),
	dynamicAppLinks: Joi.boolean().strict().allow(null),
});

// A path in the form that association files compare. `$` is refused, because Apple replaces `$(name)`.
const BROWSER_PATH = /^\/(?:[A-Za-z0-9._~!&'()+,;=:@/*?-]|%[0-9A-Fa-f]{2})*$/;
const browserPath = textThat(
	(text) => BROWSER_PATH.test(text),
	'must be a path from / in percent-encoded form, in which * stands for any text and ? for one character, such as /help/*',
	{maxLength: 255, pattern: BROWSER_PATH.source},
);

type Nullable<T> = {[Field in keyof T]?: T[Field] | null};
type IosInput = Nullable<IosConfig>;
type AndroidInput = Pick<AndroidConfig, 'packageName' | 'sha256Fingerprints'> & {
	scheme?: string | null;
	dynamicAppLinks?: boolean | null;
};

export type AppConfigInput = InputFields<AppName> & {
	ios?: IosInput | null;
	android?: AndroidInput[] | null;
	browserPaths?: string[] | null;
	errorPages?: boolean;
	clipboardFormat?: ClipboardFormat | null;
	logoUrl?: string | null;
	probabilisticMatching?: boolean;
	minimumConfidence?: Confidence;
};

export const appConfigBody = Joi.object<AppConfigInput>({
	ios: ios.allow(null),
	android: sizeFirst
		.array()
		.items(androidApp)
		.max(MAX_ANDROID_APPS)
		.unique('packageName')
		.messages({'array.unique': '{{#label}} repeats a package name'})
		.allow(null),
	fallbackUrl: linkFieldSchemas.fallbackUrl,
	...platformFieldSchemas,
	browserPaths: sizeFirst
		.array()
		.items(browserPath)
		.max(MAX_BROWSER_PATHS)
		.unique()
		.messages({'array.unique': '{{#label}} repeats a path'})
		.allow(null),
	errorPages: Joi.boolean().strict(),
	clipboardFormat: Joi.string().valid('token', 'url').allow(null),
	logoUrl: httpUrl().allow(null),
	og: linkFieldSchemas.og,
	probabilisticMatching: Joi.boolean().strict(),
	minimumConfidence: Joi.string().valid('exact', 'high', 'medium', 'low'),
});

/** An iOS app in the order of answers, which jsonb does not keep. */
const iosOf = ({appClipBundleId, ...ios}: IosInput): IosConfig => ({
	bundleId: ios.bundleId ?? null,
	teamId: ios.teamId ?? null,
	appStoreId: ios.appStoreId ?? null,
	scheme: ios.scheme ?? null,
	...(appClipBundleId == null ? {} : {appClipBundleId}),
});

/** An Android app in the order of answers. */
const androidOf = ({packageName, sha256Fingerprints, scheme, dynamicAppLinks}: AndroidInput): AndroidConfig => ({
	packageName,
	sha256Fingerprints,
	scheme: scheme ?? null,
	...(dynamicAppLinks ? {dynamicAppLinks} : {}),
});

/** The complete configuration of a body or a row: missing fields are unset or get their defaults. */
export const appConfigOf = ({ios, og, browserPaths, ...input}: AppConfigInput): AppConfig => ({
	ios: ios == null ? null : iosOf(ios),
	android: (input.android ?? []).map(androidOf),
	fallbackUrl: input.fallbackUrl ?? null,
	...platformFieldsOf(platformColumns(input)),
	...(browserPaths?.length ? {browserPaths} : {}),
	...(input.errorPages ? {errorPages: true} : {}),
	...(input.clipboardFormat == null ? {} : {clipboardFormat: input.clipboardFormat}),
	...(input.logoUrl == null ? {} : {logoUrl: input.logoUrl}),
	og: {title: og?.title ?? null, description: og?.description ?? null, imageUrl: og?.imageUrl ?? null},
	probabilisticMatching: input.probabilisticMatching ?? true,
	minimumConfidence: input.minimumConfidence ?? 'low',
});
