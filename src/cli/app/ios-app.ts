import {at, FileFault, type Located, listOf, type Place, textOf, textsOf, type Value} from './source-position.ts';

/** The form of an app's lines, for `app kit`. */
type Kit = 'ios' | 'expo';

/** What the entitlements of an iOS app declare about links. */
export type Entitlements = {
	place: Place;
	kit: Kit;
	domains: Located[];
	/** `TEAM.bundle`; only signed entitlements have it. */
	appId: Located | null;
	teamId: Located | null;
};

/** What the Info.plist of an iOS app declares about links. */
export type InfoPlist = {
	place: Place;
	kit: Kit;
	/** The build fills it in, but a configuration of Expo must have one. */
	bundleId: Located | null;
	schemes: Located[];
	/** What it says about Flutter's own handling of links. */
	flutterLinks: Located | null;
};

const DOMAINS = 'com.apple.developer.associated-domains';

const keysOf = ({content}: Value): string[] => (content instanceof Map ? [...content.keys()] : []);

/** Entitlements of an app. @throws FileFault for an Info.plist. */
export const entitlementsOf = (file: Value): Entitlements => {
	const bundle = keysOf(file).find((name) => name.startsWith('CFBundle'));
	if (bundle !== undefined) {
		throw new FileFault(
			`it has ${bundle}, so it is an Info.plist and not entitlements`,
			file.place,
			'Give it as --info',
		);
	}

	return {
		place: at(file, DOMAINS)?.place ?? file.place,
		kit: 'ios',
		domains: textsOf(at(file, DOMAINS)),
		appId: textOf(at(file, 'application-identifier')) ?? null,
		teamId: textOf(at(file, 'com.apple.developer.team-identifier')) ?? null,
	};
};

/** The Info.plist of an app. @throws FileFault for entitlements. */
export const infoPlistOf = (file: Value): InfoPlist => {
	if (keysOf(file).includes(DOMAINS)) {
		throw new FileFault(`it has ${DOMAINS}, so it is entitlements and no Info.plist`, file.place, 'Give it as --ios');
	}

	const types = at(file, 'CFBundleURLTypes');
	const flutter = at(file, 'FlutterDeepLinkingEnabled');
	return {
		place: types?.place ?? file.place,
		kit: 'ios',
		bundleId: textOf(at(file, 'CFBundleIdentifier')) ?? null,
		schemes: listOf(types).flatMap((type) => textsOf(at(type, 'CFBundleURLSchemes'))),
		flutterLinks: flutter === undefined ? null : {text: String(flutter.content), place: flutter.place},
	};
};
