import type {AndroidApp, Filter} from './android-app.ts';
import {type Entitlements, entitlementsOf, type InfoPlist} from './ios-app.ts';
import {at, type Located, listOf, textOf, textsOf, type Value} from './located.ts';

/** The native app that an Expo configuration produces for each platform. */
type ExpoApp = {android: AndroidApp; entitlements: Entitlements; info: InfoPlist};

const ACTION = 'android.intent.action.';
const CATEGORY = 'android.intent.category.';
const PATHS = ['path', 'pathPrefix', 'pathPattern'];

const filterOf = (filter: Value): Filter => {
	const data = listOf(at(filter, 'data'));
	const valuesOf = (name: string): Located[] => data.flatMap((one) => textOf(at(one, name)) ?? []);
	return {
		place: filter.place,
		autoVerify: at(filter, 'autoVerify')?.content === true,
		isExported: true,
		actions: textsOf(at(filter, 'action')).map(({text}) => `${ACTION}${text}`),
		categories: textsOf(at(filter, 'category')).map(({text}) => `${CATEGORY}${text}`),
		schemes: valuesOf('scheme'),
		hosts: valuesOf('host'),
		paths: PATHS.flatMap((kind) => valuesOf(kind).map((rule) => ({kind, ...rule}))),
	};
};

/** Expo makes a filter of this form for each scheme of the app. */
const schemeFilter = (scheme: Located): Filter => ({
	place: scheme.place,
	autoVerify: false,
	isExported: true,
	actions: [`${ACTION}VIEW`],
	categories: [`${CATEGORY}DEFAULT`, `${CATEGORY}BROWSABLE`],
	schemes: [scheme],
	hosts: [],
	paths: [],
});

/** The apps of an Expo configuration: the content of app.json, or the output of `npx expo config --json`. */
export const expoAppOf = (file: Value): ExpoApp => {
	const config = at(file, 'expo') ?? file;
	const [ios, android] = [at(config, 'ios') ?? config, at(config, 'android') ?? config];
	const schemesOf = (platform: string): Located[] =>
		[at(config, 'scheme'), at(config, platform, 'scheme')].flatMap((scheme) => textsOf(scheme));
	const signed = entitlementsOf(at(ios, 'entitlements') ?? ios);
	const declared = at(ios, 'associatedDomains');
	return {
		android: {
			place: android.place,
			kit: 'expo',
			packageName: textOf(at(config, 'android', 'package')) ?? null,
			filters: [
				...listOf(at(config, 'android', 'intentFilters')).map(filterOf),
				...schemesOf('android').map(schemeFilter),
			],
			isFlutter: false,
			flutterLinks: null,
			fingerprints: null,
		},
		entitlements: {
			...signed,
			kit: 'expo',
			place: declared?.place ?? signed.place,
			domains: [...textsOf(declared), ...signed.domains],
			teamId: textOf(at(config, 'ios', 'appleTeamId')) ?? signed.teamId,
		},
		info: {
			place: at(config, 'scheme')?.place ?? config.place,
			kit: 'expo',
			bundleId: textOf(at(config, 'ios', 'bundleIdentifier')) ?? null,
			schemes: schemesOf('ios'),
			flutterLinks: null,
		},
	};
};
